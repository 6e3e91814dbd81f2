/* command_import.c: `perfc import FILE`: a model file as a declaration on standard output, or in the file of
 * `-o`. */
#include "base/arena.h"
#include "base/buffer.h"
#include "cli/cli.h"
#include "import/import.h"
#include "source/diag.h"
#include "source/source.h"

enum exit_status command_import(struct cli *cli)
{
    if (cli->operands.count != 1) {
        cli_complain(
            "`import` takes one file: a config.json, a .safetensors file or its index, or a .gguf file");
        return EXIT_USAGE;
    }
    if (cli->outputs.count > 1) {
        cli_complain("`import` writes one file");
        return EXIT_USAGE;
    }
    const char *path = cli->operands.items[0];
    struct session session = {.cli = cli, .sources = sources_new(cli->arena), .diags = diags_new(cli->arena)};
    struct import_options options = {.assume_dense = cli->assume_dense};
    struct imported imported = {0};
    bool known = import_model(cli->arena, session.sources, session.diags, path, &options, &imported);
    enum exit_status status = session_diagnose(&session);
    if (!known && diags_get(session.diags, 0)->code == DIAG_E0401)
        return EXIT_FILE;
    if (!known || status != EXIT_FINE)
        return EXIT_PLAN;
    struct buffer text = buffer_in(cli->arena);
    buffer_add(&text, imported.text, imported.length);
    const char *output = cli->outputs.count > 0 ? cli->outputs.items[0] : "-";
    sources_add(session.sources, path, "", 0, false);
    if (output_is_input(session.sources, output)) {
        cli_complain("%s is the file to be imported", output);
        return EXIT_USAGE;
    }
    return output_write(cli->arena, output, &text);
}
