// bridge.c - what the bridges of all firmwares share.
#define _GNU_SOURCE // clock_gettime
#include "bridge/bridge.h"
#include "vehicle/airframe.h"
#include <time.h>

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
