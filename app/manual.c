// manual.c - the man page volery(1), made from the table.
#include "command.h"
#include "volery/version.h"
#include <stdio.h>
#include <string.h>

// Text for roff: backslashes, and dots and quotes that begin a line, mean something there; - is written \-.
static void put_escaped(const char *text)
{
    for (const char *c = text; *c != '\0'; ++c) {
        if ((c == text || c[-1] == '\n') && (*c == '.' || *c == '\'')) fputs("\\&", stdout);
        if (*c == '\\') {
            fputs("\\e", stdout);
        } else if (*c == '-') {
            fputs("\\-", stdout);
        } else {
            putchar(*c);
        }
    }
}

// Paragraphs are separated by empty lines.
static void put_paragraphs(const char *text)
{
    while (*text != '\0') {
        char line[256];
        const size_t length = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, text);
        if (length == 0) printf(".P\n");
        if (length > 0) {
            put_escaped(line);
            putchar('\n');
        }
        text += length + (text[length] == '\n');
    }
}

static void put_option(const option *o)
{
    printf(".TP\n");
    if (o->letter != 0) printf("\\fB\\-%c\\fR, ", o->letter);
    printf("\\fB\\-\\-");
    put_escaped(o->name);
    printf("\\fR");
    if (o->argument != NULL) {
        printf(" \\fI");
        put_escaped(o->argument);
        printf("\\fR");
    }
    putchar('\n');
    put_escaped(o->help);
    putchar('\n');
}

static void put_command(const command *c)
{
    printf(".SS \"volery %s %s\"\n", c->name, c->operands);
    put_paragraphs(c->text);
    for (const option *o = c->options; o->name != NULL; ++o) {
        if (!(o->flags & OPTION_HIDDEN)) put_option(o);
    }
    printf(".P\nExamples:\n");
    for (const example *e = c->examples; e->line != NULL; ++e) {
        printf(".RS 2\n.P\n\\fB");
        put_escaped(e->line);
        printf("\\fR\n.br\n");
        put_escaped(e->text);
        printf("\n.RE\n");
    }
}

static void put_exit_status(void)
{
    printf(".SH EXIT STATUS\n");
    for (const char *line = vy_exit_text; *line != '\0';) {
        const char *separator = strstr(line, "  ");
        const size_t length = strcspn(line, "\n");
        char text[256];
        snprintf(text, sizeof text, "%.*s", (int)(line + length - separator - 2), separator + 2);
        printf(".TP\n.B %.*s\n", (int)(separator - line), line);
        put_escaped(text);
        putchar('\n');
        line += length + 1;
    }
}

COMMAND(manual)
{
    (void)args;
    printf(".TH VOLERY 1 \"\" \"Volery %s\" \"User Commands\"\n.SH NAME\nvolery \\- fly drones in a "
           "deterministic world\n",
           VY_VERSION);
    printf(".SH SYNOPSIS\n");
    for (int i = 0; i < vy_command_count; ++i) {
        const command *c = &vy_commands[i];
        printf("%s\\fBvolery %s\\fR ", i > 0 ? ".br\n" : "", c->name);
        put_escaped(c->operands);
        printf("%s\n", c->options->name != NULL ? " [options]" : "");
    }
    printf(".SH DESCRIPTION\n");
    put_paragraphs(
        "Volery flies multirotors in a world defined by strict equations: the same scenario gives the same\n"
        "bits on every machine. A flight is described by a scenario file and recorded in a log, from which\n"
        "it can be flown again, compared, and continued from any moment.\n"
        "\n"
        "Options may stand before or after operands; -- ends them. With --json one object is printed on\n"
        "standard output and nothing else; text for people goes to standard error.");
    printf(".SH COMMANDS\n");
    for (int i = 0; i < vy_command_count; ++i) put_command(&vy_commands[i]);
    put_exit_status();
    printf(".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nSet to anything: no colours.\n");
    printf(".SH FILES\n.TP\n.I RUN.mcap\nA log: MCAP, readable by Foxglove, PlotJuggler and the mcap "
           "libraries.\n"
           ".TP\n.I RUN.mcap.part\nA log being written, or what a killed run left of it; replay, diff and "
           "export read it,\nrecover makes a whole log of it.\n"
           ".TP\n.I RUN.mcap.part.1\nWhat a killed run left, after the next run to RUN.mcap.\n");
    return EXIT_DONE;
}
