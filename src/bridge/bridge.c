// bridge.c - what the bridges of all firmwares share.
#define _GNU_SOURCE // clock_gettime
#include "bridge/bridge.h"
#include "vehicle/airframe.h"
#include <time.h>

enum {
    PX4_PORT = 4560,
    ARDUPILOT_PORT = 9002,
    ARDUPILOT_STRIDE = 10,  // from one instance to the next
    CRAZYFLIE_PORT = 19850, // cflib looks for Crazyflies on this one and the nine that follow
    SCRIPT_PORT = 14540,    // where PX4 sends to, and ArduPilot by its command line
};

#define SQRT_HALF 0.70710678118654752

vy_status vy_bridge_motors(const bridge_request *request, bridge_motors *out, vy_error *err)
{
    out->count = request->start->vehicle->rotor_count;
    return vy_airframe_match(request->def->firmware.airframe, request->start->vehicle, out->order, err);
}

void vy_bridge_set_motor(const bridge_motors *motors, int motor, double command, vy_intent *intent)
{
    intent->motors[motors->order[motor]] = command < 0.0 ? 0.0 : command > 1.0 ? 1.0 : command;
}

int vy_bridge_port(const vy_controller_def *def)
{
    const int usual = def->kind == VY_CONTROLLER_PX4         ? PX4_PORT
                      : def->kind == VY_CONTROLLER_ARDUPILOT ? ARDUPILOT_PORT
                      : def->kind == VY_CONTROLLER_CRAZYFLIE ? CRAZYFLIE_PORT
                                                             : 0;
    const int stride = def->kind == VY_CONTROLLER_ARDUPILOT ? ARDUPILOT_STRIDE : 1;
    if (usual == 0) return 0;
    return (def->firmware.port > 0 ? def->firmware.port : usual) + stride * def->instance;
}

int vy_bridge_script_port(const vy_controller_def *def)
{
    const vy_firmware_def *f = &def->firmware;
    const int is_told = f->script_count > 0 || def->parameter_count > 0 || f->airframe == VY_AIRFRAME_OWN;
    if ((def->kind != VY_CONTROLLER_PX4 && def->kind != VY_CONTROLLER_ARDUPILOT) || !is_told) return 0;
    return (f->script_port > 0 ? f->script_port : SCRIPT_PORT) + def->instance;
}

static vy_quat multiply(vy_quat a, vy_quat b)
{
    return (vy_quat){
        a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
        a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

vy_quat vy_bridge_attitude_ned(vy_quat attitude)
{
    const vy_quat ground = {0.0, SQRT_HALF, SQRT_HALF, 0.0}; // half a turn about north-east
    const vy_quat body = {0.0, 1.0, 0.0, 0.0};               // half a turn about forward
    return multiply(multiply(ground, attitude), body);
}

double vy_bridge_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
