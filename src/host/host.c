// host.c - opens the controller that a def names: process, plug-in or pilot.
#include "host/host.h"
#include "base/fail.h"
#include <stdlib.h>

struct vy_host {
    vy_plugin_host *plugin; // one of the three
    vy_process_host *process;
    vy_pilot_host *pilot;
};

// The start as autopilots call it.
static void set_home(const vy_drone_def *drone, const vy_planet_def *planet, vy_plugin_start *start)
{
    if (planet == NULL || !(planet->radius > 0.0)) return;
    const vy_geodetic at = vy_geodetic_of(planet, 0.0, drone->position, drone->velocity, drone->attitude);
    start->has_home = 1;
    start->home_latitude = at.latitude;
    start->home_longitude = at.longitude;
    start->home_altitude = at.altitude;
}

vy_status vy_host_open(vy_drone_def *drone, const char *name, double dt, const vy_planet_def *planet,
                       vy_host **out, vy_error *err)
{
    vy_controller_def *const def = &drone->controller;
    const vy_vehicle_def *const vehicle = &drone->vehicle;
    *out = NULL;
    if (def->kind != VY_CONTROLLER_PLUGIN && def->kind != VY_CONTROLLER_PROCESS &&
        def->kind != VY_CONTROLLER_PILOT)
        return vy_fail(err, VY_BAD_VALUE, "controller.kind must be plugin, process or pilot");
    if (def->from_log) {
        char program[VY_PROGRAM_ROOM];
        (void)vy_host_describe(def, program);
        return vy_fail(err, VY_BAD_STATE, "the log names %.140s, which is not started without allow_programs",
                       program);
    }
    if (def->program[0] == '\0' && def->kind != VY_CONTROLLER_PILOT)
        return vy_fail(err, VY_BAD_VALUE, "controller.program is empty");
    if (!(def->deadline > 0.0 && def->deadline <= 1e6))
        return vy_fail(err, VY_BAD_VALUE, "controller.deadline must be above 0 and at most 1e6 s, got %g",
                       def->deadline);
    vy_host *host = calloc(1, sizeof *host);
    if (host == NULL) return vy_fail(err, VY_NO_MEMORY, "controller: out of memory");
    double thrust_max = vehicle->thrust_coef * vehicle->speed_max * vehicle->speed_max;
    for (int i = 0; i < vehicle->thruster_count && vehicle->rotor_count == 0; ++i) {
        if (thrust_max < vehicle->thrusters[i].thrust_max) thrust_max = vehicle->thrusters[i].thrust_max;
    }
    vy_host_request job = {
        .def = def,
        .start =
            {
                .drone = name,
                .dt = dt,
                .period = def->period,
                .mass = vehicle->mass,
                .inertia = vehicle->inertia,
                .thrust_max = thrust_max,
                .rotor_count = vehicle->rotor_count + vehicle->thruster_count,
                .parameter_count = def->parameter_count,
                .parameters = def->parameters,
                .position = drone->position,
                .attitude = drone->attitude,
            },
    };
    set_home(drone, planet, &job.start);
    vy_status status;
    vy_controller_fn *call;
    if (def->kind == VY_CONTROLLER_PLUGIN) {
        status = vy_plugin_host_open(&job, &host->plugin, err);
        call = vy_plugin_host_call;
    } else if (def->kind == VY_CONTROLLER_PROCESS) {
        status = vy_process_host_open(&job, &host->process, err);
        call = vy_process_host_call;
    } else {
        status = vy_pilot_host_open(&job, &host->pilot, err);
        call = vy_pilot_host_call;
    }
    if (status != VY_OK) {
        free(host);
        return status;
    }
    def->call = call;
    def->self = host->plugin != NULL    ? (void *)host->plugin
                : host->process != NULL ? (void *)host->process
                                        : (void *)host->pilot;
    *out = host;
    return VY_OK;
}

vy_verdict vy_host_finish(vy_host *host, int32_t *detail)
{
    int32_t ignored;
    if (detail == NULL) detail = &ignored;
    *detail = 0;
    if (host->plugin != NULL) return vy_plugin_host_finish(host->plugin, detail);
    if (host->process != NULL) return vy_process_host_finish(host->process, detail);
    return VY_VERDICT_REPLIED;
}

void vy_host_close(vy_host *host)
{
    if (host == NULL) return;
    vy_plugin_host_close(host->plugin);
    vy_process_host_close(host->process);
    vy_pilot_host_close(host->pilot);
    free(host);
}
