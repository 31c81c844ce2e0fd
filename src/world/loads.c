// loads.c - what acts on a drone or body, by cause: what the plant itself has found at the start of the step.
#include "base/assert.h"
#include "base/fail.h"
#include "world/plant.h"
#include "world/stages.h"
#include "world/world_impl.h"
#include <stdlib.h>

_Static_assert(EFFECT_COUNT <= VY_EFFECT_CAP,
               "vy_loads, vy_energy and vy_certificate have a place per effect");

static vec3 to_world(mat3 rotation, const body_loads *l)
{
    return vec3_add(l->force_world, mat3_mul_vec(rotation, l->force_body));
}

static vec3 to_body(mat3 rotation, const body_loads *l)
{
    return vec3_add(l->torque_body, mat3_tmul_vec(rotation, l->torque_world));
}

void vy_loads_of(const load_parts *parts, vy_loads *out)
{
    const mat3 rotation = quat_matrix(parts->attitude);
    *out = (vy_loads){.rotor_force = to_world(rotation, &parts->rotors),
                      .rotor_torque = to_body(rotation, &parts->rotors),
                      .thruster_force = to_world(rotation, &parts->thrusters),
                      .thruster_torque = to_body(rotation, &parts->thrusters),
                      .wind = parts->air};
    for (int k = 0; k < EFFECT_COUNT; ++k) {
        out->force[k] = to_world(rotation, &parts->effect[k]);
        out->torque[k] = to_body(rotation, &parts->effect[k]);
    }
}

void vy_body_loads(const vy_world *world, uint32_t index, vy_loads *out)
{
    VY_ASSERT(out != NULL && index < body_count(&world->model) && world->model.loads_at_start != NULL);
    vy_loads_of(&world->model.loads_at_start[index], out);
    if (world->contact_totals == NULL) return;
    const double *j = world->contact_totals[index].contact.impulse,
                 *l = world->contact_totals[index].contact.angular;
    const double inverse_dt = 1.0 / world->model.dt;
    out->contact_force = vec3_scale(inverse_dt, vec3_make(j[0], j[1], j[2]));
    out->contact_torque = vec3_scale(inverse_dt, vec3_make(l[0], l[1], l[2]));
}

// Choose the plant and the stage before it: both follow from whether loads are kept.
static void set_load_parts(vy_world *world, load_parts *parts)
{
    vy_model *m = &world->model;
    m->loads_at_start = parts;
    m->strict_rk4 = plant_is_strict_rk4(&m->physics) && parts == NULL;
    m->has_prestep = m->collides || world->tracks_energy || parts != NULL;
    world->options = step_options(m);
}

void vy_loads_clear(vy_world *world)
{
    const vy_model *m = &world->model;
    if (m->loads_at_start != NULL) memset(m->loads_at_start, 0, body_count(m) * sizeof *m->loads_at_start);
    world->loads_tick = 0;
}

vy_status vy_world_reserve_loads(vy_world *world, uint32_t capacity, vy_error *err)
{
    if (world->model.loads_at_start == NULL) return VY_OK;
    load_parts *grown = realloc(world->model.loads_at_start, (capacity + 1u) * sizeof *grown);
    if (grown == NULL)
        return vy_fail(err, VY_NO_MEMORY, "world: no memory for the loads of %u bodies", capacity);
    memset(grown, 0, (capacity + 1u) * sizeof *grown); // no step has been done
    set_load_parts(world, grown);
    return VY_OK;
}

vy_status vy_world_keep_loads(vy_world *world, int keep, vy_error *err)
{
    if ((world->model.loads_at_start != NULL) == (keep != 0)) return VY_OK;
    load_parts *parts = NULL;
    const size_t capacity = body_count(&world->model) + 1u; // one more: never of size 0
    if (keep && (parts = calloc(capacity, sizeof *parts)) == NULL)
        return vy_fail(err, VY_NO_MEMORY, "world: no memory for the loads of %zu bodies", capacity - 1u);
    free(world->model.loads_at_start);
    set_load_parts(world, parts);
    return VY_OK;
}

vy_status vy_world_read_loads(const vy_world *world, vy_body_id id, vy_loads *out)
{
    FPU_SCOPE;
    uint32_t number;
    if (!vy_world_number(world, id, &number)) return VY_NOT_FOUND;
    if (world->model.loads_at_start == NULL) return VY_BAD_STATE;
    vy_body_loads(world, number, out);
    return VY_OK;
}
