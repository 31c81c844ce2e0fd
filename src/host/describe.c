// describe.c - describes in plain text what a controller would start.
#include "volery/host.h"
#include <stdio.h>

int vy_host_describe(const vy_controller_def *def, char out[VY_PROGRAM_CAP])
{
    const char *kind_name = def->kind == VY_CONTROLLER_PLUGIN      ? "plug-in"
                            : def->kind == VY_CONTROLLER_PROCESS   ? "process"
                            : def->kind == VY_CONTROLLER_PILOT     ? "pilot device"
                            : def->kind == VY_CONTROLLER_PX4       ? "px4"
                            : def->kind == VY_CONTROLLER_ARDUPILOT ? "ardupilot"
                            : def->kind == VY_CONTROLLER_CRAZYFLIE ? "crazyflie client"
                            : def->kind == VY_CONTROLLER_BETAFLIGHT
                                ? "betaflight (its attitude and GPS are the truth)"
                                : NULL;
    out[0] = '\0';
    if (kind_name == NULL) return 0;
    const char *program = def->program[0] != '\0'                ? def->program
                          : vy_controller_is_firmware(def->kind) ? "that connects"
                                                                 : "keyboard";
    const int is_in_folder = def->folder[0] != '\0' && program[0] != '/' && program == def->program;
    snprintf(out, VY_PROGRAM_CAP, "%s %s%s%s", kind_name, program, is_in_folder ? " in " : "",
             is_in_folder ? def->folder : "");
    for (char *c = out; *c != '\0'; ++c) {
        if ((unsigned char)*c < ' ' || *c == 0x7f) *c = '?';
    }
    return 1;
}
