// help.c - help made from the table.
#include "command.h"
#include "message.h"
#include "scenario/report.h"
#include "shipped.h"
#include <stdio.h>
#include <string.h>

enum { COMMAND_CAP = 32, LEFT_MAX = 32 };

static void print_indented(const char *text, const char *indent)
{
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");
        printf("%s%.*s\n", length > 0 ? indent : "", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

int vy_help_all(void)
{
    const palette p = vy_palette(stdout);
    printf("%svolery%s flies drones in a deterministic world: the same scenario gives the same bits on every "
           "machine.\n"
           "\nusage: volery COMMAND [options]\n\n",
           p.bold, p.plain);
    int left_width =
        0; // width of the longest command with its operands; what is longer has a line of its own
    for (int i = 0; i < vy_command_count; ++i) {
        const int size = (int)(strlen(vy_commands[i].name) + strlen(vy_commands[i].operands));
        left_width = size > left_width && size <= LEFT_MAX ? size : left_width;
    }
    for (int i = 0; i < vy_command_count; ++i) {
        const command *c = &vy_commands[i];
        const int width = left_width + 2 - (int)strlen(c->name);
        if (width < (int)strlen(c->operands))
            printf("  %s%s%s %s\n%*s%s\n", p.bold, c->name, p.plain, c->operands, left_width + 5, "",
                   c->summary);
        else
            printf("  %s%s%s %-*s%s\n", p.bold, c->name, p.plain, width, c->operands, c->summary);
    }
    printf("\nvolery help COMMAND explains one of them; volery --version says which Volery this is.\nTo "
           "start:\n\n"
           "  volery run first-flight\n  volery replay first-flight.mcap\n\nexit status:\n");
    print_indented(vy_exit_text, "  ");
    return vy_flush_stdout("help", EXIT_DONE);
}

static void print_option(const option *o)
{
    char left_column[80];
    snprintf(left_column, sizeof left_column, "%c%c%s --%s %s", o->letter != 0 ? '-' : ' ',
             o->letter != 0 ? o->letter : ' ', o->letter != 0 ? "," : " ", o->name,
             o->argument != NULL ? o->argument : "");
    printf("  %-27s%s\n", left_column, o->help);
}

int vy_help_command(const command *cmd)
{
    const palette p = vy_palette(stdout);
    printf("%svolery %s%s - %s\n\nusage: volery %s%s%s%s\n\n", p.bold, cmd->name, p.plain, cmd->summary,
           cmd->name, cmd->operands[0] != '\0' ? " " : "", cmd->operands,
           cmd->options->name != NULL ? " [options]" : "");
    print_indented(cmd->text, "");
    printf("\noptions:\n");
    for (const option *o = cmd->options; o->name != NULL; ++o) {
        if (!(o->flags & OPTION_HIDDEN)) print_option(o);
    }
    print_option(&vy_help_option);
    printf("\nexamples:\n");
    for (const example *e = cmd->examples; e->line != NULL; ++e) printf("  %s\n      %s\n", e->line, e->text);
    if (cmd->kind == WORD_SCENARIO) vy_shipped_list(stdout);
    return vy_flush_stdout("help", EXIT_DONE);
}

int vy_unknown_command(const char *word)
{
    const char *names[COMMAND_CAP];
    int count = 0;
    for (int i = 0; i < vy_command_count && count < COMMAND_CAP; ++i) names[count++] = vy_commands[i].name;
    const char *closest_name = vy_closest_name(word, strlen(word), names, count);
    if (closest_name != NULL)
        return vy_print_error(NULL, EXIT_USAGE, "unknown command %s; did you mean %s?", word, closest_name);
    return vy_print_error(NULL, EXIT_USAGE, "unknown command %s; volery help lists them", word);
}

COMMAND(help)
{
    if (args->operand_count == 0) return vy_help_all();
    const command *cmd = vy_command_find(args->operands[0]);
    return cmd != NULL ? vy_help_command(cmd) : vy_unknown_command(args->operands[0]);
}
