/* command_completion.c: `perfc completion SHELL`, a script that completes command lines; it asks
 * `perfc completion words -- WORD...` about each. */
#include <string.h>

#include "base/buffer.h"
#include "cli/command_line.h"
#include "cli/complete.h"
#include "cli/completion_scripts.h"

const char *const shell_names[] = {"bash", "zsh", "fish", NULL};

/* In the order of the names. */
static const char *const scripts[] = {completion_bash, completion_zsh, completion_fish};

enum exit_status command_completion(struct cli *cli)
{
    struct buffer text = buffer_in(cli->arena);
    size_t count = cli->operands.count;
    const char *what = count > 0 ? cli->operands.items[0] : "";
    if (strcmp(what, "words") == 0) {
        if (count > 1)
            complete_words(cli, cli->operands.items + 1, count - 1, &text);
        return output_standard(&text);
    }
    for (size_t i = 0; count == 1 && shell_names[i]; i++)
        if (strcmp(what, shell_names[i]) == 0) {
            buffer_text(&text, scripts[i]);
            return output_standard(&text);
        }
    cli_complain("`completion` takes a shell: %s", command_line_choice(cli->arena, PLACE_SHELL));
    return EXIT_USAGE;
}
