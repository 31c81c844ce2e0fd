// junit.c - a flight's outcome as JUnit XML.
#include "junit.h"
#include "files.h"
#include "message.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void put_text(FILE *out, const char *text)
{
    for (; *text != '\0'; ++text) {
        const unsigned char c = (unsigned char)*text;
        if (c == '<')
            fputs("&lt;", out);
        else if (c == '>')
            fputs("&gt;", out);
        else if (c == '&')
            fputs("&amp;", out);
        else if (c == '"')
            fputs("&quot;", out);
        else if (c >= 0x20 || c == '\n')
            fputc(c, out);
    }
}

// One test; `message` is empty when it is good. A `kind` of NULL: it was skipped.
static void put_case(FILE *out, const char *suite, const char *name, const char *kind, const char *message,
                     double time)
{
    fputs("    <testcase classname=\"", out);
    put_text(out, suite);
    fputs("\" name=\"", out);
    put_text(out, name);
    fprintf(out, "\" time=\"%.6f\"", time);
    if (message[0] == '\0') {
        fputs("/>\n", out);
        return;
    }
    if (kind != NULL)
        fprintf(out, ">\n      <failure type=\"%s\" message=\"", kind);
    else
        fputs(">\n      <skipped message=\"", out);
    put_text(out, message);
    fputs("\"/>\n    </testcase>\n", out);
}

int vy_junit_write(const flight *f, const char *path)
{
    const vy_scenario *s = f->def.scenario;
    output out;
    const int status = vy_output_open(f->def.command, path, &out);
    if (status != 0) return status;
    const int has_ended = f->failure.reason != VY_FAILURE_NONE || f->signal != 0;
    int failures = has_ended, skipped = 0;
    for (int i = 0; i < s->expect_count; ++i) {
        skipped += f->results[i].skipped;
        failures += !f->results[i].met && !f->results[i].skipped;
    }
    char suite[128], message[400] = "";
    snprintf(suite, sizeof suite, "%s seed %" PRIu64, s->name, s->seed);
    if (f->signal != 0)
        snprintf(message, sizeof message, "interrupted");
    else if (has_ended)
        vy_flight_describe_failure(f, message, sizeof message);
    fprintf(out.file, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"");
    put_text(out.file, suite);
    fprintf(out.file, "\" tests=\"%d\" failures=\"%d\" errors=\"0\" skipped=\"%d\" time=\"%.6f\">\n",
            s->expect_count + 1, failures, skipped, f->wall);
    put_case(out.file, suite, "flight", "safety", message, f->wall);
    for (int i = 0; i < s->expect_count; ++i) {
        char *text = vy_expect_print(s, i, &f->results[i]);
        if (text == NULL) vy_note_no_memory();
        char name[160];
        // Unique within the suite, and the same from run to run: without what was measured.
        snprintf(name, sizeof name, "expect %d: %s", i + 1, text != NULL ? text : "");
        const vy_expect_result *r = &f->results[i];
        char *end = strstr(name, r->met ? ": met" : r->skipped ? ": skipped" : ": not met");
        if (end != NULL) *end = '\0';
        const char *message_text = text != NULL ? text : "not met";
        put_case(out.file, suite, name, r->skipped ? NULL : "expectation", r->met ? "" : message_text, 0.0);
        free(text);
    }
    fputs("  </testsuite>\n</testsuites>\n", out.file);
    return vy_output_commit(f->def.command, &out);
}

int vy_junit_write_error(const char *command, const char *scenario, const char *path)
{
    char sentence[1024];
    snprintf(sentence, sizeof sentence, "%s", vy_last_error());
    output out;
    const int status = vy_output_open(command, path, &out);
    if (status != 0) return status;
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"", out.file);
    put_text(out.file, scenario);
    fputs("\" tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\" time=\"0\">\n    <testcase classname=\"",
          out.file);
    put_text(out.file, scenario);
    fputs("\" name=\"flight\" time=\"0\">\n      <error type=\"run\" message=\"", out.file);
    put_text(out.file, sentence);
    fputs("\">", out.file);
    put_text(out.file, vy_last_error_context());
    fputs("</error>\n    </testcase>\n  </testsuite>\n</testsuites>\n", out.file);
    return vy_output_commit(command, &out);
}
