// cmd_new.c - volery new controller NAME: a starting point that builds and flies.
#define _XOPEN_SOURCE 700 // realpath
#include "command.h"
#include "files.h"
#include "message.h"
#include "new.h"
#include "shipped.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct language {
    const char *name;      // as --language has it
    const char *extension; // of its source
    packed source, makefile;
    const char *controller; // lines of the scenario
    const char *verb;       // what `make fly` does
} language;

static const language languages[] = {
    {"c", ".c", PACKED(vy_new_controller_c), PACKED(vy_new_plugin_mk),
     "kind: plugin\n      library: ./@name@.so", "build and fly"},
    {"python", ".py", PACKED(vy_new_controller_py), PACKED(vy_new_process_mk),
     "kind: process\n      command: python3 @name@.py", "fly"},
};
enum { LANGUAGE_COUNT = sizeof languages / sizeof languages[0] };
static const packed scenario = PACKED(vy_new_scenario_yaml);

// What stands for something in the files.
enum { PLACEHOLDER_COUNT = 4 };
typedef struct placeholder {
    const char *name, *text;
} placeholder;

static void put_text(FILE *file, const char *text, const placeholder placeholders[PLACEHOLDER_COUNT])
{
    while (*text != '\0') {
        const placeholder *match = NULL;
        for (int i = 0; i < PLACEHOLDER_COUNT && match == NULL; ++i) {
            if (strncmp(text, placeholders[i].name, strlen(placeholders[i].name)) == 0)
                match = &placeholders[i];
        }
        if (match == NULL) {
            fputc(*text++, file);
            continue;
        }
        // The lines of a controller have marks of their own; a path is taken as it is.
        if (match == &placeholders[0])
            put_text(file, match->text, placeholders);
        else
            fputs(match->text, file);
        text += strlen(match->name);
    }
}

enum { PATH_CAP = 256 };

// The path of the file with this ending, or of this name.
static void name_file(const char *name, const char *suffix, char path[PATH_CAP])
{
    snprintf(path, PATH_CAP, "%s/%s%s", name, suffix[0] == '.' ? name : "", suffix);
}

static int write_one(const char *name, const char *suffix, const packed *file,
                     const placeholder placeholders[PLACEHOLDER_COUNT])
{
    char path[PATH_CAP], *text;
    name_file(name, suffix, path);
    int status = vy_packed_load("new", path, file, &text);
    if (status != 0) return status;
    output out;
    status = vy_output_open("new", path, &out);
    if (status == 0) {
        put_text(out.file, text, placeholders);
        status = vy_output_commit("new", &out);
    }
    free(text);
    return status;
}

static int write_all(const char *name, const language *lang)
{
    char *headers = vy_shipped_headers(), *program = vy_shipped_program();
    const placeholder placeholders[PLACEHOLDER_COUNT] = {
        {"@controller@", lang->controller},
        {"@name@", name},
        {"@headers@", headers != NULL ? headers : "/usr/local/include"},
        {"@volery@", program != NULL ? program : "volery"},
    };
    int status = write_one(name, lang->extension, &lang->source, placeholders);
    if (status == 0) status = write_one(name, ".yaml", &scenario, placeholders);
    if (status == 0) status = write_one(name, "Makefile", &lang->makefile, placeholders);
    free(headers);
    free(program);
    return status;
}

// A folder with half of the files would only block the next attempt.
static void remove_all(const char *name, const language *lang)
{
    const char *const suffixes[] = {lang->extension, ".yaml", "Makefile"};
    char path[PATH_CAP];
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; ++i) {
        name_file(name, suffixes[i], path);
        (void)unlink(path);
    }
    (void)rmdir(name);
}

static const language *find_language(const char *name)
{
    for (int i = 0; i < LANGUAGE_COUNT; ++i) {
        if (strcmp(languages[i].name, name) == 0) return &languages[i];
    }
    return NULL;
}

static int is_name(const char *text)
{
    const size_t size = strlen(text);
    if (size == 0 || size > 40 || !isalpha((unsigned char)text[0])) return 0;
    for (size_t i = 0; i < size; ++i) {
        if (!isalnum((unsigned char)text[i]) && text[i] != '_' && text[i] != '-') return 0;
    }
    return 1;
}

COMMAND(new)
{
    if (args->operand_count < 2 || strcmp(args->operands[0], "controller") != 0) {
        return vy_print_usage_error(args->command,
                                    "what shall be made? For example: volery new controller NAME");
    }
    const char *name = args->operands[1];
    if (!is_name(name)) {
        return vy_print_usage_error(
            args->command, "a name is a letter, then letters, digits, - and _, at most 40; got %s", name);
    }
    const char *language_name = vy_option_value(args, "language");
    const language *lang = find_language(language_name != NULL ? language_name : "c");
    if (lang == NULL) {
        return vy_print_usage_error(args->command, "--language knows c and python, got %s", language_name);
    }
    if (mkdir(name, 0777) != 0) {
        return vy_print_error("new", errno == EEXIST ? EXIT_USAGE : EXIT_SYSTEM, "the folder %s: %s", name,
                              strerror(errno));
    }
    const int status = write_all(name, lang);
    if (status != 0) {
        remove_all(name, lang);
        return status;
    }
    printf("%s/%s%s, %s.yaml and a Makefile are written. To %s it:\n\n  cd %s && make fly\n", name, name,
           lang->extension, name, lang->verb, name);
    return EXIT_DONE;
}
