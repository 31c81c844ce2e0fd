// describe.c - describes in plain text what a controller would start.
#include "volery/host.h"
#include "bridge/bridge.h"
#include "bridge/betaflight_packet.h"
#include <stdio.h>

// The firmware or client that nobody starts: where it finds us.
static void describe_waiting(const vy_controller_def *def, char *out, size_t size)
{
    const int port = vy_bridge_port(def), script_port = vy_bridge_script_port(def);
    if (port == 0 && def->firmware.clock != VY_CLOCK_WALL) {
        snprintf(out, size, "without a command");
        return;
    }
    if (port == 0) {
        snprintf(out, size, "that listens on TCP port %d of %s", BETAFLIGHT_UART_PORT, def->firmware.address);
        return;
    }
    const int n = snprintf(out, size, "that connects to %s port %d of %s",
                           def->kind == VY_CONTROLLER_PX4 ? "TCP" : "UDP", port, def->firmware.address);
    if (script_port > 0 && n >= 0 && (size_t)n < size)
        snprintf(out + n, size - (size_t)n, ", its MAVLink to UDP port %d", script_port);
}

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
    char waiting[VY_ADDRESS_CAP + 80];
    if (vy_controller_is_firmware(def->kind)) describe_waiting(def, waiting, sizeof waiting);
    const char *program = def->program[0] != '\0'                ? def->program
                          : vy_controller_is_firmware(def->kind) ? waiting
                                                                 : "keyboard";
    const int is_in_folder = def->folder[0] != '\0' && program[0] != '/' && program == def->program;
    snprintf(out, VY_PROGRAM_CAP, "%s %s%s%s", kind_name, program, is_in_folder ? " in " : "",
             is_in_folder ? def->folder : "");
    for (char *c = out; *c != '\0'; ++c) {
        if ((unsigned char)*c < ' ' || *c == 0x7f) *c = '?';
    }
    return 1;
}
