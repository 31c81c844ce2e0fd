// cmd_new.c - volery new controller NAME: a starting point that builds and flies.
#define _XOPEN_SOURCE 700 // realpath
#include "command.h"
#include "files.h"
#include "message.h"
#include "shipped.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// In the texts @ stands for the name, % for the folder of Volery's headers, & for this program.
static const char source_text[] =
    "// @.c - a controller for Volery. `make` builds it, `make fly` flies it.\n"
    "#include \"volery/plugin.h\"\n"
    "#include <math.h>\n"
    "#include <stdlib.h>\n"
    "\n"
    "// What the controller remembers between two calls.\n"
    "typedef struct controller {\n"
    "    double mass;         // [kg]\n"
    "    double height;       // [m] where to hover\n"
    "    double kp, kd;       // [1/s^2] [1/s]\n"
    "} controller;\n"
    "\n"
    "static void *init(const vy_plugin_start *start, char *why, size_t room)\n"
    "{\n"
    "    (void)why;  // to refuse: write a sentence here and return NULL\n"
    "    (void)room;\n"
    "    controller *c = calloc(1, sizeof *c);\n"
    "    if (c == NULL) return NULL;\n"
    "    c->mass = start->mass;\n"
    "    c->height = vy_plugin_parameter(start, \"height\", 1.0); // from `parameters:` in @.yaml\n"
    "    c->kp = vy_plugin_parameter(start, \"kp\", 4.0);\n"
    "    c->kd = vy_plugin_parameter(start, \"kd\", 3.0);\n"
    "    return c;\n"
    "}\n"
    "\n"
    "// Once per period: from what was measured to what is wanted. Here: an attitude and a thrust that bring "
    "the\n"
    "// drone above the origin. Other rungs are in volery/controller.h.\n"
    "static void step(void *self, const vy_samples *samples, vy_intent *intent)\n"
    "{\n"
    "    const controller *c = self;\n"
    "    const vy_vec3 p = samples->estimate.position, v = samples->estimate.velocity;\n"
    "    const double x = -c->kp * p.x - c->kd * v.x;\n"
    "    const double y = -c->kp * p.y - c->kd * v.y;\n"
    "    const double z = 9.80665 + c->kp * (c->height - p.z) - c->kd * v.z;\n"
    "    const double length = sqrt(x * x + y * y + z * z);\n"
    "    intent->rung = VY_RUNG_ATTITUDE;\n"
    "    intent->thrust = fmax(c->mass * z, 0.0);\n"
    "    intent->attitude = (vy_quat){1.0 + z / length, -y / length, x / length, 0.0}; // up along (x, y, "
    "z)\n"
    "}\n"
    "\n"
    "static void done(void *self) { free(self); }\n"
    "\n"
    "VY_PLUGIN(init, step, done)\n";

static const char scenario_text[] =
    "# @: a controller of our own, and what it must achieve.\n"
    "volery: 1\n"
    "name: @\n"
    "duration: 10 s\n"
    "drones:\n"
    "  - name: alpha\n"
    "    vehicle: crazyflie2x\n"
    "    start: {position: [0.5, -0.5, 0.5]}\n"
    "    controller:\n"
    "      kind: plugin\n"
    "      library: ./@.so\n"
    "      period: 10 ms\n"
    "      parameters: {height: 1.0, kp: 4.0, kd: 3.0}\n"
    "    safety: {tilt_max: 60 deg, height_min: 0}\n"
    "expect:\n"
    "  - {quantity: distance, at: throughout, after: 5 s, max: 5 cm}\n"
    "  - {quantity: height, at: throughout, after: 5 s, min: 0.95, max: 1.05}\n";

static const char makefile_text[] = "VOLERY ?= &\n"
                                    "CFLAGS ?= -O2 -Wall -Wextra\n"
                                    "\n"
                                    "@.so: @.c\n"
                                    "\t$(CC) $(CFLAGS) -shared -fPIC -ffp-contract=off -I\"%\" $< -o $@ -lm\n"
                                    "\n"
                                    "fly: @.so\n"
                                    "\t\"$(VOLERY)\" run @.yaml\n"
                                    "\n"
                                    ".PHONY: fly\n";

// In a Makefile $@ is the target, so there a name is written as @ alone and never behind a $.
static void put_text(FILE *file, const char *text, const char *name, const char *headers, const char *program)
{
    for (const char *c = text; *c != '\0'; ++c) {
        if (*c == '@' && (c == text || c[-1] != '$'))
            fputs(name, file);
        else if (*c == '%')
            fputs(headers, file);
        else if (*c == '&')
            fputs(program, file);
        else
            fputc(*c, file);
    }
}

enum { PATH_CAP = 256 };

// The path of the file with this ending, or of this name.
static void name_file(const char *name, const char *end, char path[PATH_CAP])
{
    snprintf(path, PATH_CAP, "%s/%s%s", name, end[0] == '.' ? name : "", end);
}

static int write_one(const char *name, const char *end, const char *text, const char *headers,
                     const char *program)
{
    char path[PATH_CAP];
    name_file(name, end, path);
    output out;
    const int status = vy_output_open("new", path, &out);
    if (status != 0) return status;
    put_text(out.file, text, name, headers, program);
    return vy_output_commit("new", &out);
}

static int write_all(const char *name)
{
    char *headers = vy_shipped_headers(), *program = vy_shipped_program();
    const char *in = headers != NULL ? headers : "/usr/local/include",
               *by = program != NULL ? program : "volery";
    int status = write_one(name, ".c", source_text, in, by);
    if (status == 0) status = write_one(name, ".yaml", scenario_text, in, by);
    if (status == 0) status = write_one(name, "Makefile", makefile_text, in, by);
    free(headers);
    free(program);
    return status;
}

// A folder with half of the files would only block the next attempt.
static void remove_all(const char *name)
{
    static const char *const ends[] = {".c", ".yaml", "Makefile"};
    char path[PATH_CAP];
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; ++i) {
        name_file(name, ends[i], path);
        (void)unlink(path);
    }
    (void)rmdir(name);
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
    if (given->operand_count < 2 || strcmp(given->operands[0], "controller") != 0) {
        return vy_print_usage_error(given->command,
                                    "what shall be made? For example: volery new controller NAME");
    }
    const char *name = given->operands[1];
    if (!is_name(name)) {
        return vy_print_usage_error(
            given->command, "a name is a letter, then letters, digits, - and _, at most 40; got %s", name);
    }
    if (mkdir(name, 0777) != 0) {
        return vy_print_error("new", errno == EEXIST ? EXIT_USAGE : EXIT_SYSTEM, "the folder %s: %s", name,
                              strerror(errno));
    }
    const int status = write_all(name);
    if (status != 0) {
        remove_all(name);
        return status;
    }
    printf("%s/%s.c, %s.yaml and a Makefile are written. To build and fly it:\n\n  cd %s && make fly\n", name,
           name, name, name);
    return EXIT_DONE;
}
