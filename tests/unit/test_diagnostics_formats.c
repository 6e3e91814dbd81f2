/* test_diagnostics_formats.c: diagnostics and failed assertions for machines: JSON, SARIF, GitHub
 * annotations, and JUnit. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <libxml/parser.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "run.h"
#include "source/diag.h"
#include "source/diag_render.h"
#include "source/source.h"

/* Line 2 is `  bandwith = "é"  x`: `bandwith` is at bytes 10 to 18, columns 3 to 11; `x` at byte 27, column
 * 19, as é takes two bytes and one column. */
static const char text[] = "gpu g {\n  bandwith = \"\xC3\xA9\"  x\n}\n";

struct fixture {
    struct arena *arena;
    struct sources *sources;
    struct diags *diags;
    struct buffer out;
};

static struct fixture make(const char *path)
{
    struct fixture fixture = {.arena = arena_new()};
    fixture.sources = sources_new(fixture.arena);
    fixture.diags = diags_new(fixture.arena);
    fixture.out = buffer_in(fixture.arena);
    sources_add(fixture.sources, path, text, strlen(text), false);
    return fixture;
}

static struct diag_render_options failing(struct fixture *fixture, const char *message)
{
    struct diag_failure *failure = ARENA_NEW(fixture->arena, struct diag_failure);
    *failure = (struct diag_failure){"assertion", {0, 27, 28}, message};
    return (struct diag_render_options){.failures = failure, .failure_count = 1, .version = "1.2"};
}

static void add_both(struct fixture *fixture)
{
    struct diag *diag = diag_add(fixture->diags, DIAG_E0202, (struct span){0, 10, 18}, "no `bandwith`");
    diag_fix(fixture->diags, diag, (struct span){0, 10, 18}, "bandwidth", "did you mean `bandwidth`?");
    diag = diag_add(fixture->diags, DIAG_W0601, (struct span){0, 27, 28}, "50 %% of it,\nor so");
    diag_note_at(fixture->diags, diag, (struct span){0, 4, 5}, "see here");
}

/* ---- GitHub ---------------------------------------------------------------------------------------- */

Test(diagnostics_formats, github_commands_are_escaped)
{
    struct fixture fixture = make("dir/a,b:c%.perf");
    add_both(&fixture);
    diags_render_github(&fixture.out, fixture.diags, fixture.sources, failing(&fixture, "x\r\ny"));
    cr_assert_str_eq(
        buffer_string(&fixture.out),
        "::error file=dir/a%2Cb%3Ac%25.perf,line=2,col=3,endColumn=11,title=E0202 unknown-attribute::"
        "no `bandwith`%0Adid you mean `bandwidth`?\n"
        "::warning file=dir/a%2Cb%3Ac%25.perf,line=2,col=19,endColumn=20,title=W0601 no-native-peak::"
        "50 %25 of it,%0Aor so%0Adir/a,b:c%25.perf:1:5: see here\n"
        "::error file=dir/a%2Cb%3Ac%25.perf,line=2,col=19,endColumn=20,title=assertion::x%0D%0Ay\n");
    arena_free(fixture.arena);
}

Test(diagnostics_formats, github_ranges_of_several_lines_have_no_columns)
{
    struct fixture fixture = make("p.perf");
    diag_add(fixture.diags, DIAG_E0202, (struct span){0, 0, 30}, "m");
    diag_add(fixture.diags, DIAG_E0404, (struct span){SPAN_NOWHERE, 0, 0}, "nowhere");
    diags_render_github(&fixture.out, fixture.diags, fixture.sources, (struct diag_render_options){0});
    cr_assert_str_eq(buffer_string(&fixture.out),
                     "::error file=p.perf,line=1,endLine=3,title=E0202 unknown-attribute::m\n"
                     "::error title=E0404 bad-override::nowhere\n");
    arena_free(fixture.arena);
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

static json_t *parse(const struct buffer *out)
{
    json_error_t error;
    json_t *root = json_loadb(out->data, out->length, JSON_REJECT_DUPLICATES, &error);
    cr_assert_not_null(root, "line %d: %s\n%s", error.line, error.text, buffer_string(out));
    return root;
}

/* The value at a path such as "runs/0/results/1/level". */
static json_t *at(json_t *node, const char *path)
{
    char key[64];
    while (node && *path) {
        size_t length = strcspn(path, "/");
        cr_assert_lt(length, sizeof key);
        memcpy(key, path, length);
        key[length] = '\0';
        node =
            json_is_array(node) ? json_array_get(node, strtoul(key, NULL, 10)) : json_object_get(node, key);
        path += length + (path[length] == '/');
    }
    return node;
}

static void expect_text(json_t *root, const char *path, const char *expected)
{
    const char *actual = json_string_value(at(root, path));
    cr_assert(actual && strcmp(actual, expected) == 0, "%s is %s, not %s", path, actual ? actual : "no text",
              expected);
}

static void expect_number(json_t *root, const char *path, json_int_t expected)
{
    json_t *node = at(root, path);
    cr_assert(json_is_integer(node) && json_integer_value(node) == expected, "%s is not %d", path,
              (int)expected);
}

Test(diagnostics_formats, json_tells_places_notes_and_failures)
{
    struct fixture fixture = make("p.perf");
    add_both(&fixture);
    diags_render_json(&fixture.out, fixture.diags, fixture.sources, failing(&fixture, "x < 1"));
    json_t *root = parse(&fixture.out);
    expect_text(root, "schema", "perfc-diagnostics/1");
    cr_assert_eq(json_array_size(at(root, "diagnostics")), 3);
    expect_text(root, "diagnostics/0/code", "E0202");
    expect_text(root, "diagnostics/0/severity", "error");
    expect_text(root, "diagnostics/0/file", "p.perf");
    expect_number(root, "diagnostics/0/line", 2);
    expect_number(root, "diagnostics/0/column", 3);
    expect_number(root, "diagnostics/0/end_column", 11);
    expect_text(root, "diagnostics/0/notes/0/replacement", "bandwidth");
    expect_text(root, "diagnostics/1/severity", "warning");
    expect_number(root, "diagnostics/1/notes/0/line", 1);
    expect_number(root, "diagnostics/1/notes/0/column", 5);
    expect_text(root, "diagnostics/2/code", "assertion");
    expect_text(root, "diagnostics/2/message", "x < 1");
    expect_number(root, "diagnostics/2/column", 19);
    json_decref(root);
    arena_free(fixture.arena);
}

Test(diagnostics_formats, json_is_utf8_whatever_the_names)
{
    struct fixture fixture = make("\xFFp\xC3.perf");
    diag_add(fixture.diags, DIAG_E0202, (struct span){SPAN_NOWHERE, 0, 0}, "a\x80z \"q\"");
    diag_add(fixture.diags, DIAG_E0202, (struct span){0, 0, 3}, "m");
    diags_render_json(&fixture.out, fixture.diags, fixture.sources,
                      (struct diag_render_options){.warnings_are_errors = true});
    json_t *root = parse(&fixture.out);
    expect_text(root, "diagnostics/0/message", "a\xEF\xBF\xBDz \"q\"");
    cr_assert(json_is_null(at(root, "diagnostics/0/file")));
    expect_text(root, "diagnostics/1/file", "\xEF\xBF\xBDp\xEF\xBF\xBD.perf");
    json_decref(root);
    arena_free(fixture.arena);
}

/* ---- SARIF ------------------------------------------------------------------------------------------------
 */

Test(diagnostics_formats, sarif_has_rules_results_and_fixes)
{
    struct fixture fixture = make("dir/a b%.perf");
    add_both(&fixture);
    diag_add(fixture.diags, DIAG_E0202, (struct span){0, 27, 28}, "again");
    diags_render_sarif(&fixture.out, fixture.diags, fixture.sources, failing(&fixture, "x < 1"));
    json_t *root = parse(&fixture.out);
    expect_text(root, "version", "2.1.0");
    expect_text(root, "runs/0/tool/driver/name", "perfc");
    expect_text(root, "runs/0/tool/driver/version", "1.2");
    expect_text(root, "runs/0/columnKind", "unicodeCodePoints");
    expect_text(root, "runs/0/automationDetails/id", "perfc/dir/a b%.perf/");
    cr_assert_eq(json_array_size(at(root, "runs/0/tool/driver/rules")), 3); /* E0202 once */
    cr_assert_eq(json_array_size(at(root, "runs/0/results")), 4);
    for (size_t i = 0; i < 4; i++) { /* every index points at the rule of its result */
        const char *path = arena_printf(fixture.arena, "runs/0/results/%zu/ruleIndex", i);
        const char *rule = arena_printf(fixture.arena, "runs/0/tool/driver/rules/%d/id",
                                        (int)json_integer_value(at(root, path)));
        expect_text(root, arena_printf(fixture.arena, "runs/0/results/%zu/ruleId", i),
                    json_string_value(at(root, rule)));
    }
    expect_text(root, "runs/0/results/0/level", "error");
    expect_text(root, "runs/0/results/1/level", "warning");
    expect_text(root, "runs/0/results/0/locations/0/physicalLocation/artifactLocation/uri",
                "dir/a%20b%25.perf");
    expect_number(root, "runs/0/results/0/locations/0/physicalLocation/region/startLine", 2);
    expect_number(root, "runs/0/results/0/locations/0/physicalLocation/region/startColumn", 3);
    expect_number(root, "runs/0/results/0/locations/0/physicalLocation/region/endColumn", 11);
    expect_text(root, "runs/0/results/0/fixes/0/artifactChanges/0/replacements/0/insertedContent/text",
                "bandwidth");
    expect_text(root, "runs/0/results/1/relatedLocations/0/message/text", "see here");
    expect_text(root, "runs/0/results/3/ruleId", "assertion");
    json_decref(root);
    arena_free(fixture.arena);
}

/* ---- GitLab ------------------------------------------------------------------------------------------ */

Test(diagnostics_formats, gitlab_findings_have_a_place_and_a_lasting_fingerprint)
{
    struct fixture fixture = make("p.perf");
    add_both(&fixture);
    diag_add(fixture.diags, DIAG_E0404, (struct span){SPAN_NOWHERE, 0, 0}, "nowhere");
    diag_add(fixture.diags, DIAG_E0404, (struct span){0, 8, 9}, "nowhere");
    diags_render_gitlab(&fixture.out, fixture.diags, fixture.sources, failing(&fixture, "x < 1"));
    json_t *root = parse(&fixture.out);
    cr_assert_eq(json_array_size(root), 5);
    expect_text(root, "0/check_name", "E0202");
    expect_text(root, "0/description", "no `bandwith`");
    expect_text(root, "0/severity", "blocker");
    expect_text(root, "0/location/path", "p.perf");
    expect_number(root, "0/location/lines/begin", 2);
    expect_text(root, "1/severity", "minor");
    expect_text(root, "2/location/path", "p.perf");
    expect_number(root, "2/location/lines/begin", 1);
    expect_text(root, "4/check_name", "assertion");
    expect_text(root, "4/severity", "major");
    /* Of the two that say the same in one file, wherever it is, the second is told apart by its number. */
    const char *first = json_string_value(at(root, "2/fingerprint"));
    const char *second = json_string_value(at(root, "3/fingerprint"));
    cr_assert_eq(strncmp(first, second, 16), 0);
    cr_assert_str_eq(first + 16, "-0");
    cr_assert_str_eq(second + 16, "-1");
    json_decref(root);
    arena_free(fixture.arena);
}

Test(diagnostics_formats, gitlab_fingerprints_tell_files_codes_and_messages_apart)
{
    const char *paths[] = {"p.perf", "q.perf"}, *seen[8];
    size_t count = 0;
    struct fixture fixtures[2];
    for (size_t i = 0; i < 2; i++) {
        fixtures[i] = make(paths[i]);
        diag_add(fixtures[i].diags, DIAG_E0202, (struct span){0, 0, 3}, "m");
        diag_add(fixtures[i].diags, DIAG_E0202, (struct span){0, 0, 3}, "n");
        diag_add(fixtures[i].diags, DIAG_E0404, (struct span){0, 0, 3}, "m");
        diags_render_gitlab(&fixtures[i].out, fixtures[i].diags, fixtures[i].sources,
                            (struct diag_render_options){0});
        json_t *root = parse(&fixtures[i].out);
        for (size_t j = 0; j < 3; j++)
            seen[count++] = arena_strdup(
                fixtures[i].arena,
                json_string_value(at(root, arena_printf(fixtures[i].arena, "%zu/fingerprint", j))));
        json_decref(root);
    }
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            cr_assert_str_neq(seen[i], seen[j]);
    arena_free(fixtures[0].arena);
    arena_free(fixtures[1].arena);
}

/* SARIF 2.1.0 takes no member that it does not name: those of it that are used here, by where they stand. A
 * check against the whole schema of OASIS is made by hand when this changes; docs/reports.md says how. */
static const struct sarif_object {
    const char *at, *members;
} sarif_objects[] = {
    {"", " $schema version runs "},
    {"runs", " tool columnKind automationDetails results "},
    {"tool", " driver "},
    {"driver", " name version rules "},
    {"rules", " id name shortDescription fullDescription "},
    {"shortDescription", " text "},
    {"fullDescription", " text "},
    {"automationDetails", " id "},
    {"results", " ruleId ruleIndex level message locations relatedLocations fixes "},
    {"message", " text "},
    {"locations", " physicalLocation "},
    {"relatedLocations", " physicalLocation message "},
    {"physicalLocation", " artifactLocation region "},
    {"artifactLocation", " uri "},
    {"region", " startLine startColumn endLine endColumn "},
    {"fixes", " description artifactChanges "},
    {"description", " text "},
    {"artifactChanges", " artifactLocation replacements "},
    {"replacements", " deletedRegion insertedContent "},
    {"deletedRegion", " startLine startColumn endLine endColumn "},
    {"insertedContent", " text "},
};

static void check_sarif(struct arena *arena, json_t *node, const char *at_name)
{
    size_t index, found = 0;
    const char *key;
    json_t *member;
    if (json_is_array(node)) {
        json_array_foreach(node, index, member) check_sarif(arena, member, at_name);
        return;
    }
    if (!json_is_object(node))
        return;
    while (found < sizeof sarif_objects / sizeof sarif_objects[0] &&
           strcmp(sarif_objects[found].at, at_name) != 0)
        found++;
    cr_assert_lt(found, sizeof sarif_objects / sizeof sarif_objects[0], "SARIF has no `%s`", at_name);
    json_object_foreach(node, key, member)
    {
        cr_assert_not_null(strstr(sarif_objects[found].members, arena_printf(arena, " %s ", key)), "%s.%s",
                           at_name, key);
        check_sarif(arena, member, key);
    }
}

Test(diagnostics_formats, sarif_has_no_member_of_its_own)
{
    struct fixture fixture = make("p.perf");
    add_both(&fixture);
    diags_render_sarif(&fixture.out, fixture.diags, fixture.sources, failing(&fixture, "x < 1"));
    json_t *root = parse(&fixture.out);
    check_sarif(fixture.arena, root, "");
    json_decref(root);
    arena_free(fixture.arena);
}

Test(diagnostics_formats, nothing_to_say_is_a_whole_document)
{
    struct fixture fixture = make("p.perf");
    diags_render_sarif(&fixture.out, fixture.diags, fixture.sources, (struct diag_render_options){0});
    json_t *root = parse(&fixture.out);
    cr_assert(json_is_array(at(root, "runs/0/results")));
    cr_assert_eq(json_array_size(at(root, "runs/0/results")), 0);
    json_decref(root);
    struct buffer out = buffer_in(fixture.arena);
    diags_render_json(&out, fixture.diags, fixture.sources, (struct diag_render_options){0});
    root = parse(&out);
    cr_assert_eq(json_array_size(at(root, "diagnostics")), 0);
    json_decref(root);
    struct buffer none = buffer_in(fixture.arena);
    diags_render_github(&none, fixture.diags, fixture.sources, (struct diag_render_options){0});
    cr_assert_eq(none.length, 0);
    arena_free(fixture.arena);
}

/* ---- the program
 * ---------------------------------------------------------------------------------------------- */

static const char plan[] =
    "gpu card { memory = 80 GB  bandwidth = 2 TB/s  peak.fp16 = 312 TFLOPS }\n"
    "model tiny { params = 7e9  layers = 32  hidden = 4096  heads = 32 }\n"
    "scenario chat { gpu = card  model = tiny  engine = ideal  context = 4096  batch = 1 }\n"
    "assert chat.fits\n"
    "assert chat.tpot <= 8 ms \"fast & <good>\"\n";

Test(diagnostics_formats, failed_assertions_stand_with_the_diagnostics)
{
    struct arena *arena = arena_new();
    const char *path = scratch_file(arena, "plan.perf", plan);
    struct run run = RUN(arena, "check", "--diagnostics=github", path);
    cr_assert_eq(run.status, 5);
    const char *place = arena_printf(
        arena, "::error file=%s,line=5,col=1,endColumn=41,title=assertion::chat.tpot <= 8 ms (", path);
    cr_assert_eq(strncmp(run.err, place, strlen(place)), 0, "%s", run.err);
    run = RUN(arena, "--diagnostics=sarif", path, "-f", "json");
    cr_assert_eq(run.status, 5);
    struct buffer err = {.arena = arena, .data = (char *)(size_t)run.err, .length = run.err_length};
    json_t *root = parse(&err);
    expect_number(root, "runs/0/results/0/locations/0/physicalLocation/region/startLine", 5);
    json_decref(root);
    run = RUN(arena, "check", "--diagnostics=text", path);
    cr_assert_eq(run.err_length, 0, "%s", run.err);
    arena_free(arena);
}

Test(diagnostics_formats, junit_has_a_test_for_each_assertion)
{
    struct arena *arena = arena_new();
    const char *path = scratch_file(arena, "plan.perf", plan);
    struct run run = RUN(arena, "-f", "junit", path);
    cr_assert_eq(run.status, 5);
    const char *expected = arena_printf(
        arena,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuites name=\"perfc\" tests=\"2\" failures=\"1\" errors=\"0\">\n"
        "  <testsuite name=\"assertions\" tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\">\n"
        "    <testcase classname=\"%s\" name=\"chat.fits\"/>\n"
        "    <testcase classname=\"%s\" name=\"chat.tpot &lt;= 8 ms\">\n"
        "      <failure message=\"fast &amp; &lt;good&gt;: ",
        path, path);
    cr_assert_eq(strncmp(run.out, expected, strlen(expected)), 0, "%s", run.out);
    const char *end = arena_printf(
        arena, "type=\"assertion\">%s:5</failure>\n    </testcase>\n  </testsuite>\n</testsuites>\n", path);
    cr_assert(ends_with(run.out, end), "%s", run.out);
    arena_free(arena);
}

/* What Jenkins' junit-10.xsd and Surefire's schema both have: parent, attributes, and those of them that have
 * to be there. */
static const struct junit_element {
    const char *name, *parent, *allowed, *required;
} junit_elements[] = {
    {"testsuites", "", " name tests failures errors time ", ""},
    {"testsuite", "testsuites", " name tests failures errors skipped time ", " name tests failures errors "},
    {"testcase", "testsuite", " name classname time ", " name "},
    {"failure", "testcase", " message type ", ""},
    {"skipped", "testcase", " message ", ""},
};

static const struct junit_element *junit_element(const char *name)
{
    for (size_t i = 0; i < sizeof junit_elements / sizeof junit_elements[0]; i++)
        if (strcmp(junit_elements[i].name, name) == 0)
            return &junit_elements[i];
    cr_assert_fail("<%s> is no element of JUnit's", name);
    return NULL;
}

static void check_junit(struct arena *arena, xmlNodePtr node, const char *parent)
{
    const struct junit_element *element = junit_element((const char *)node->name);
    cr_assert_str_eq(element->parent, parent);
    for (xmlAttrPtr attribute = node->properties; attribute; attribute = attribute->next)
        cr_assert_not_null(
            strstr(element->allowed, arena_printf(arena, " %s ", (const char *)attribute->name)), "<%s %s>",
            element->name, (const char *)attribute->name);
    for (const char *at = element->required; *at; at += strcspn(at, " ")) {
        at += strspn(at, " ");
        const char *name = arena_strndup(arena, at, strcspn(at, " "));
        cr_assert(*name == '\0' || xmlHasProp(node, (const xmlChar *)name), "<%s> without %s", element->name,
                  name);
    }
    for (xmlNodePtr child = node->children; child; child = child->next)
        if (child->type == XML_ELEMENT_NODE)
            check_junit(arena, child, element->name);
}

Test(diagnostics_formats, junit_keeps_to_what_its_readers_share)
{
    struct arena *arena = arena_new();
    const char *path = scratch_file(arena, "plan.perf", plan);
    const struct run runs[] = {
        RUN(arena, "-f", "junit", path),
        RUN(arena, "diff", "-f", "junit", "--fail-if", "tpot>+5%", "--fail-if", "chat.tpot>1us", path, path)};
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        xmlDocPtr doc = xmlReadMemory(runs[i].out, (int)runs[i].out_length, "j.xml", NULL, XML_PARSE_NONET);
        cr_assert_not_null(doc, "%s", runs[i].out);
        check_junit(arena, xmlDocGetRootElement(doc), "");
        xmlFreeDoc(doc);
    }
    xmlCleanupParser();
    arena_free(arena);
}

Test(diagnostics_formats, junit_is_well_formed_whatever_the_names)
{
    struct arena *arena = arena_new();
    const char *hostile =
        "gpu card { memory = 80 GB  bandwidth = 2 TB/s  peak.fp16 = 312 TFLOPS }\n"
        "model tiny { params = 7e9  layers = 32  hidden = 4096  heads = 32 }\n"
        "scenario \"<a b='\\u{1}'>&amp;]]>\\n\\u{202e}\" { gpu = card  model = tiny  context = 4096 }\n"
        "assert \"<a b='\\u{1}'>&amp;]]>\\n\\u{202e}\".tpot < 1 us \"<!-- -- ]]> &lt; \\u{fffe}\"\n";
    struct run run = RUN(arena, "-f", "junit", scratch_file(arena, "plan.perf", hostile));
    cr_assert_eq(run.status, 5, "%s", run.err);
    xmlDocPtr doc = xmlReadMemory(run.out, (int)run.out_length, "junit.xml", NULL, XML_PARSE_NONET);
    cr_assert_not_null(doc, "%s", run.out);
    cr_assert_str_eq((const char *)xmlDocGetRootElement(doc)->name, "testsuites");
    xmlFreeDoc(doc);
    xmlCleanupParser();
    arena_free(arena);
}

Test(diagnostics_formats, dependencies_are_a_rule_for_make)
{
    struct arena *arena = arena_new();
    const char *directory = scratch_directory(arena);
    write_file(arena_printf(arena, "%s/lib $x.perf", directory), "let rate = 2 TB/s\n", 18);
    const char *importing = "import \"lib $x.perf\"\n"
                            "gpu card { memory = 80 GB  bandwidth = rate  peak.fp16 = 312 TFLOPS }\n"
                            "scenario chat { gpu = card  model = llama-2-7b  context = 4096  batch = 1 }\n";
    write_file(arena_printf(arena, "%s/plan.perf", directory), importing, strlen(importing));
    struct run run = run_perfc(arena, (struct run_options){.directory = directory}, "plan.perf", "-o", "r.md",
                               "-o", "r.json", "--deps", "r.d", "--set", "chat.batch=2", (const char *)NULL);
    cr_assert_eq(run.status, 0, "%s", run.err);
    cr_assert_str_eq(read_file(arena, arena_printf(arena, "%s/r.d", directory), NULL),
                     "r.md r.json: \\\n  plan.perf \\\n  lib\\ $$x.perf\n\nplan.perf:\n\nlib\\ $$x.perf:\n");
    arena_free(arena);
}

/* What an import read beside the file that the plan names counts, too. */
Test(diagnostics_formats, dependencies_name_the_files_beside_an_import)
{
    struct arena *arena = arena_new();
    const char *directory = scratch_directory(arena);
    const char *config = "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_hidden_layers\": 2,\n"
                         "\"num_attention_heads\": 4, \"intermediate_size\": 128, \"vocab_size\": 100}";
    const char *quant = "{\"quantization\": {\"quant_algo\": \"FP8\", \"kv_cache_quant_algo\": \"FP8\"}}";
    directory = arena_printf(arena, "%s/tiny", directory);
    cr_assert(mkdir(directory, 0777) == 0);
    write_file(arena_printf(arena, "%s/config.json", directory), config, strlen(config));
    write_file(arena_printf(arena, "%s/hf_quant_config.json", directory), quant, strlen(quant));
    const char *using =
        arena_printf(arena,
                     "import \"%s/config.json\" as m\n"
                     "scenario chat { gpu = l4  model = m.tiny  context = 4096  batch = 1 }\n",
                     directory);
    write_file(arena_printf(arena, "%s/plan.perf", directory), using, strlen(using));
    struct run run = run_perfc(arena, (struct run_options){.directory = directory}, "plan.perf", "-o", "r.md",
                               "--deps", "r.d", (const char *)NULL);
    cr_assert_eq(run.status, 0, "%s", run.err);
    cr_assert_str_eq(read_file(arena, arena_printf(arena, "%s/r.d", directory), NULL),
                     arena_printf(arena,
                                  "r.md: \\\n  plan.perf \\\n  %s/hf_quant_config.json \\\n  "
                                  "%s/config.json\n\nplan.perf:\n\n%s/hf_quant_config.json:\n\n"
                                  "%s/config.json:\n",
                                  directory, directory, directory, directory));
    arena_free(arena);
}
