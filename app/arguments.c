// arguments.c - parsing by the table, and usage errors that name the remedy.
#include "arguments.h"
#include "command.h"
#include "message.h"
#include "scenario/report.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_CAP = 32 };

const option vy_help_option = {"help", 'h', NULL, WORD_OTHER, 0, "print this help"};

static int unknown_option(const command *cmd, const char *word)
{
    const char *names[OPTION_CAP];
    int count = 0;
    for (const option *o = cmd->options; o->name != NULL && count + 1 < OPTION_CAP; ++o) {
        if (!(o->flags & OPTION_HIDDEN)) names[count++] = o->name;
    }
    names[count++] = vy_help_option.name;
    const char *closest_name =
        word[1] == '-' ? vy_closest_name(word + 2, strlen(word + 2), names, count) : NULL;
    if (closest_name != NULL)
        return vy_print_usage_error(cmd, "unknown option %s; did you mean --%s?", word, closest_name);
    return vy_print_usage_error(cmd, "unknown option %s; volery help %s lists them", word, cmd->name);
}

// One option of the form --name, --name=value, -x, -xvalue. `*next` moves on when the next word is its value.
static int parse_option(const command *cmd, char **words, int count, int *next, arguments *out)
{
    char *word = words[*next - 1];
    const int is_long = word[1] == '-';
    char *value = is_long ? strchr(word, '=') : NULL;
    if (value != NULL) *value = '\0'; // only for the look-up
    const option *o = vy_command_option(cmd, is_long ? word + 2 : "", is_long ? '\0' : word[1]);
    if (o == NULL) return unknown_option(cmd, word);
    if (value != NULL) *value++ = '=';
    if (!is_long && word[2] != '\0') value = word + 2;
    if (o == &vy_help_option) {
        out->help = 1;
        return 0;
    }
    if (o->argument == NULL && value != NULL)
        return vy_print_usage_error(cmd, "--%s takes no value", o->name);
    if (o->argument != NULL && value == NULL && *next < count) value = words[(*next)++];
    if (o->argument != NULL && (value == NULL || value[0] == '\0'))
        return vy_print_usage_error(cmd, "--%s needs a value: --%s %s", o->name, o->name, o->argument);
    if (!(o->flags & OPTION_REPEATS) && vy_has_option(out, o->name)) {
        return vy_print_usage_error(cmd, "--%s is given twice", o->name);
    }
    out->options[out->option_count++] = (argument){o, value};
    return 0;
}

static int check_operands(const command *cmd, const arguments *args)
{
    if (args->operand_count > cmd->operands_max) {
        return vy_print_usage_error(cmd, "unexpected argument %s; usage: volery %s %s",
                                    args->operands[cmd->operands_max], cmd->name, cmd->operands);
    }
    for (int i = 0; i < args->operand_count; ++i) {
        if (args->operands[i][0] == '\0')
            return vy_print_usage_error(cmd, "an argument is empty; usage: volery %s %s", cmd->name,
                                        cmd->operands);
    }
    return 0;
}

int vy_arguments_parse(const command *cmd, int count, char **words, arguments *out)
{
    *out = (arguments){.command = cmd};
    out->options = calloc((size_t)count + 1, sizeof *out->options);
    out->operands = calloc((size_t)count + 1, sizeof *out->operands);
    if (out->options == NULL || out->operands == NULL) return vy_print_no_memory(cmd->name);
    int only_operands = 0;
    for (int next = 0; next < count;) {
        char *word = words[next++];
        if (!only_operands && strcmp(word, "--") == 0) {
            only_operands = 1;
        } else if (!only_operands && word[0] == '-' && word[1] != '\0') {
            const int status = parse_option(cmd, words, count, &next, out);
            if (status != 0) return status;
        } else {
            out->operands[out->operand_count++] = word;
        }
    }
    return out->help ? 0 : check_operands(cmd, out);
}

void vy_arguments_destroy(arguments *args)
{
    free(args->options);
    free(args->operands);
    *args = (arguments){.command = NULL};
}

static const argument *find_argument(const arguments *args, const char *name)
{
    assert(vy_command_option(args->command, name, '\0') != NULL); // a name that is not in the table
    for (int i = 0; i < args->option_count; ++i) {
        if (strcmp(args->options[i].option->name, name) == 0) return &args->options[i];
    }
    return NULL;
}

int vy_has_option(const arguments *args, const char *name) { return find_argument(args, name) != NULL; }

const char *vy_option_value(const arguments *args, const char *name)
{
    const argument *match = find_argument(args, name);
    return match != NULL ? match->value : NULL;
}
