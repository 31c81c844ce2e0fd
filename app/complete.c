// complete.c - completion scripts for bash and zsh, made from the table.
#include "bench/bench.h"
#include "command.h"
#include "message.h"
#include "shipped.h"
#include <stdio.h>
#include <string.h>

static int is_visible(const option *o) { return !(o->flags & OPTION_HIDDEN); }

static void put_command_names(const char *separator)
{
    for (int i = 0; i < vy_command_count; ++i) printf("%s%s", i > 0 ? separator : "", vy_commands[i].name);
}

static void put_bench_names(void)
{
    for (int i = 0; i < vy_bench_count; ++i) printf("%s%s", i > 0 ? " " : "", vy_benches[i].name);
}

static void put_scenario_name(void *self, const char *name, const char *summary)
{
    (void)self, (void)summary;
    printf(" %s", name);
}

// The first word of operands as they are shown, "controller NAME", or all that it can be: "run|merge PLAN".
static void put_first(const char *shown_as)
{
    for (; *shown_as != '\0' && *shown_as != ' '; ++shown_as) putchar(*shown_as == '|' ? ' ' : *shown_as);
}

// The words of a choice as it is shown: "[bash|zsh]".
static void put_choices(const char *shown_as)
{
    for (; *shown_as != '\0'; ++shown_as) {
        if (strchr("[]", *shown_as) == NULL) putchar(*shown_as == '|' ? ' ' : *shown_as);
    }
}

// --- bash

// The words for one kind, as an assignment to `words`, or a call for files.
static void bash_words(word_kind kind, const char *shown_as)
{
    switch (kind) {
    case WORD_SCENARIO:
        printf("_volery_files yaml");
        vy_shipped_for_each(put_scenario_name, NULL);
        break;
    case WORD_LOG: printf("_volery_files 'mcap?(.part*)'"); break;
    case WORD_FILE: printf("_volery_files '*'"); break;
    case WORD_BENCH:
        printf("words=\"");
        put_bench_names();
        printf("\"");
        break;
    case WORD_COMMAND:
        printf("words=\"");
        put_command_names(" ");
        printf("\"");
        break;
    case WORD_CHOICE:
        printf("words=\"");
        put_choices(shown_as);
        printf("\"");
        break;
    case WORD_FIRST:
        printf("[ \"$COMP_CWORD\" -gt 2 ] || words=\"");
        put_first(shown_as);
        printf("\"");
        break;
    case WORD_OTHER: printf(":"); break;
    }
}

static void bash_command(const command *c)
{
    printf("    %s)\n        case $previous in\n", c->name);
    for (const option *o = c->options; o->name != NULL; ++o) {
        if (!is_visible(o) || o->argument == NULL) continue;
        printf("        --%s", o->name);
        if (o->letter != 0) printf(" | -%c", o->letter);
        printf(") ");
        bash_words(o->kind, o->argument);
        printf(" ;;\n");
    }
    printf("        *)\n            case $current in\n            -*) words=\"");
    for (const option *o = c->options; o->name != NULL; ++o) {
        if (is_visible(o)) printf("--%s ", o->name);
    }
    printf("--%s\" ;;\n            *) ", vy_help_option.name);
    bash_words(c->kind, c->operands);
    printf(" ;;\n            esac\n            ;;\n        esac\n        ;;\n");
}

static void print_bash(void)
{
    printf("# bash completion of volery; made by: volery completion bash\n"
           "_volery_files() { # _volery_files ENDING [NAME...]: files whose name ends so, folders, and these "
           "names\n"
           "    local extglob ending=$1\n"
           "    shift\n"
           "    extglob=$(shopt -p extglob)\n"
           "    shopt -s extglob\n"
           "    compopt -o filenames 2>/dev/null\n"
           "    if [ \"$ending\" = '*' ]; then\n"
           "        mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
           "    else\n"
           "        mapfile -t COMPREPLY < <(compgen -f -X \"!*.$ending\" -- \"$current\"; compgen -d -- "
           "\"$current\"; compgen -W \"$*\" -- \"$current\")\n"
           "    fi\n"
           "    eval \"$extglob\"\n"
           "}\n\n"
           "_volery() {\n"
           "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words=\n"
           "    COMPREPLY=()\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
           "        words=\"");
    put_command_names(" ");
    printf(" --help --version\"\n"
           "    else\n"
           "    case ${COMP_WORDS[1]} in\n");
    for (int i = 0; i < vy_command_count; ++i) bash_command(&vy_commands[i]);
    printf("    esac\n"
           "    fi\n"
           "    [ -z \"$words\" ] || mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
           "}\n"
           "complete -F _volery volery\n");
}

// --- zsh

// Text inside '...[text]': quotes, brackets and colons end it.
static void zsh_text(const char *text)
{
    for (; *text != '\0'; ++text) {
        if (*text == '\'') {
            fputs("'\\''", stdout);
            continue;
        }
        if (strchr("[]:\\", *text) != NULL) putchar('\\');
        putchar(*text);
    }
}

static void zsh_action(word_kind kind, const char *shown_as)
{
    switch (kind) {
    case WORD_SCENARIO:
        printf("{_files -g \"*.yaml\"; compadd --");
        vy_shipped_for_each(put_scenario_name, NULL);
        printf("}");
        break;
    case WORD_LOG: printf("_files -g \"*.mcap(|.part*)\""); break;
    case WORD_FILE: printf("_files"); break;
    case WORD_BENCH:
        printf("(");
        put_bench_names();
        printf(")");
        break;
    case WORD_COMMAND:
        printf("(");
        put_command_names(" ");
        printf(")");
        break;
    case WORD_CHOICE:
        printf("(");
        put_choices(shown_as);
        printf(")");
        break;
    case WORD_FIRST:
        printf("(");
        put_first(shown_as);
        printf(")");
        break;
    case WORD_OTHER: printf(" "); break;
    }
}

static void zsh_option(const option *o)
{
    const char *repeats = o->flags & OPTION_REPEATS ? "*" : "";
    const int forms = o->letter != 0 ? 2 : 1;
    for (int is_short = 0; is_short < forms; ++is_short) {
        printf(" \\\n            '%s", repeats);
        if (is_short) printf("-%c", o->letter);
        if (!is_short) printf("--%s%s", o->name, o->argument != NULL ? "=" : "");
        printf("[");
        zsh_text(o->help);
        printf("]");
        if (o->argument != NULL) {
            printf(":");
            zsh_text(o->argument);
            printf(":");
            zsh_action(o->kind, o->argument);
        }
        printf("'");
    }
}

static void zsh_command(const command *c)
{
    printf("    %s)\n        _arguments", c->name);
    for (const option *o = c->options; o->name != NULL; ++o) {
        if (is_visible(o)) zsh_option(o);
    }
    zsh_option(&vy_help_option);
    for (int i = 0; i < c->operands_max; ++i) {
        printf(" \\\n            '%d:", i + 1);
        zsh_text(c->operands);
        printf(":");
        zsh_action(c->kind == WORD_FIRST && i > 0 ? WORD_OTHER : c->kind, c->operands);
        printf("'");
    }
    printf("\n        ;;\n");
}

static void print_zsh(void)
{
    printf("#compdef volery\n# zsh completion of volery; made by: volery completion zsh\n\n_volery() {\n"
           "    local -a commands\n    commands=(\n");
    for (int i = 0; i < vy_command_count; ++i) {
        printf("        '%s:", vy_commands[i].name);
        zsh_text(vy_commands[i].summary);
        printf("'\n");
    }
    printf(
        "    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n    fi\n"
        "    local name=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case $name in\n");
    for (int i = 0; i < vy_command_count; ++i) zsh_command(&vy_commands[i]);
    printf("    esac\n}\n\nif [ \"$funcstack[1]\" = _volery ]; then\n    _volery \"$@\"\nelse\n    compdef "
           "_volery volery\n"
           "fi\n");
}

COMMAND(completion)
{
    const char *shell = args->operand_count > 0 ? args->operands[0] : "";
    if (strcmp(shell, "bash") == 0) {
        print_bash();
    } else if (strcmp(shell, "zsh") == 0) {
        print_zsh();
    } else {
        return vy_print_usage_error(args->command,
                                    "which shell? bash or zsh, for example: volery completion bash");
    }
    return EXIT_DONE;
}
