// payload.c - payloads: attached on schedule, dropped on schedule or by a controller, with mass,
// inertia and momentum kept to the bit.
//
// A drone and what it carries are one rigid body. Its constants are those of the drone alone, with
//   m = sum of m_i,   c = sum of m_i r_i / m,   d_i = r_i - c,
//   I = sum of R_i I_i R_i^T + m_i (|d_i|^2 - d_i d_i^T)
// and everything that is placed from the centre of mass is placed from the new one. Release changes no
// velocity of any point, so linear and angular momentum are conserved; attaching is a plastic impact, which
// conserves both as well.
#include "base/fail.h"
#include "base/assert.h"
#include "base/real.h"
#include "base/schema_rows.h"
#include "dynamics/bodies.h"
#include "volery/payload.h"
#include "world/build.h"
#include "world/world_def.h"
#include "world/contact_stage.h"
#include "world/world_impl.h"
#include <math.h>

#define PAYLOAD_COOKIE 0x76796c50u

const vy_choice vy_payload_releases[2] = {
    CHOICE("off", 0, "the clock alone"),
    CHOICE("on", 1, "the carrier's controller, too: docs/controllers.md"),
};
static const vy_schema_row payload_rows[] = {ROWS_payload(vy_payload_def, )};
static const vy_schema_table payload_table = {.size = sizeof(vy_payload_def), ROWS(payload_rows)};

vy_payload_def vy_default_payload_def(void)
{
    return (vy_payload_def){
        .cookie = PAYLOAD_COOKIE, .attitude = {1.0, 0.0, 0.0, 0.0}, .drop = (double)INFINITY, .reach = 0.1};
}

// Its own mass and inertia, whatever it carries: vehicles are kept, and a body carries nothing.
static double own_mass(const vy_world *world, uint32_t number)
{
    const vy_model *m = &world->model;
    return number < m->drone_count ? world->vehicles[number].mass : body_plant(m, number)->effects.mass;
}

static mat3 own_inertia(const vy_world *world, uint32_t number)
{
    const vy_model *m = &world->model;
    return number < m->drone_count ? world->vehicles[number].inertia : body_plant(m, number)->body.inertia;
}

/// Mass, centre and inertia of a drone with what it carries, from its own centre of mass, in its axes.
typedef struct composite {
    double mass;  // [kg]
    vec3 centre;  // [m] of mass
    mat3 inertia; // [kg m^2] about it
} composite;

// I += m (|d|^2 - d d^T)
static mat3 shift_inertia(mat3 inertia, double mass, vec3 d)
{
    const double v[3] = {d.x, d.y, d.z}, square = vec3_dot(d, d);
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) inertia.m[r][c] += mass * ((r == c ? square : 0.0) - v[r] * v[c]);
    }
    return inertia;
}

static mat3 rotate_inertia(mat3 rotation, mat3 inertia)
{
    mat3 out = mat3_mul(mat3_mul(rotation, inertia), mat3_transpose(rotation));
    for (int r = 0; r < 3; ++r) { // symmetric to the bit
        for (int c = 0; c < r; ++c) out.m[r][c] = out.m[c][r];
    }
    return out;
}

static composite composite_of(const vy_world *world, uint32_t drone)
{
    const vy_model *m = &world->model;
    VY_ASSERT(drone < m->drone_count);
    const vy_vehicle_def *drone_vehicle = &world->vehicles[drone];
    composite total = {drone_vehicle->mass, vec3_zero(), drone_vehicle->inertia};
    vec3 moment = vec3_zero();
    for (uint32_t k = 0; k < m->payload_count; ++k) {
        if (m->payloads[k].carrier != drone || !world->payloads[k].carried) continue;
        const double mass = own_mass(world, m->payloads[k].load);
        moment = vec3_add_scaled(moment, mass, world->payloads[k].position);
        total.mass += mass;
    }
    total.centre = vec3_scale(1.0 / total.mass, moment);
    VY_ASSERT(total.mass >= drone_vehicle->mass && drone_vehicle->mass > 0.0);
    total.inertia = shift_inertia(total.inertia, drone_vehicle->mass, total.centre);
    for (uint32_t k = 0; k < m->payload_count; ++k) {
        if (m->payloads[k].carrier != drone || !world->payloads[k].carried) continue;
        const payload_block *p = &world->payloads[k];
        const uint32_t load = m->payloads[k].load;
        const mat3 inertia = rotate_inertia(quat_matrix(p->rotation), own_inertia(world, load));
        const mat3 shifted =
            shift_inertia(inertia, own_mass(world, load), vec3_sub(p->position, total.centre));
        for (int n = 0; n < 9; ++n) total.inertia.m[n / 3][n % 3] += shifted.m[n / 3][n % 3];
    }
    return total;
}

// Write the constants of a drone with its payloads to the model and to the set that contacts are solved in.
static void update_mass(vy_world *world, uint32_t drone)
{
    vy_model *m = &world->model;
    const composite total = composite_of(world, drone);
    vy_vehicle_def v = world->vehicles[drone];
    v.mass = total.mass;
    v.inertia = total.inertia;
    v.centre_of_mass = vec3_add(v.centre_of_mass, total.centre);
    vy_drone_update_mass(m, &v, &m->drones[drone], &m->params[drone]);
    if (world->bodies == NULL) return;
    body_slot *slot = &world->bodies->slots[drone];
    VY_ASSERT(drone < vy_bodies_slot_count(world->bodies));
    slot->mass = total.mass;
    slot->centroid = vec3_add(world->vehicles[drone].rotor_count + world->vehicles[drone].thruster_count > 0
                                  ? world->vehicles[drone].centre_of_mass
                                  : vec3_zero(),
                              total.centre);
    world->bodies->params[drone] = m->params[drone].plant.body;
}

// The motion of a drone's own centre of mass, when `centre` is that of drone and payloads together.
static body_state at_own_centre(const body_state *s, vec3 centre)
{
    body_state out = *s;
    out.position = vec3_sub(s->position, quat_rotate(s->attitude, centre));
    out.velocity = vec3_sub(s->velocity, quat_rotate(s->attitude, vec3_cross(s->rate, centre)));
    return out;
}

static body_state at_common_centre(const body_state *s, vec3 centre)
{
    return at_own_centre(s, vec3_scale(-1.0, centre));
}

// A load moves as its carrier does.
static body_state carried_state(const body_state *own, const payload_block *p)
{
    body_state s;
    s.position = vec3_add(own->position, quat_rotate(own->attitude, p->position));
    s.velocity = vec3_add(own->velocity, quat_rotate(own->attitude, vec3_cross(own->rate, p->position)));
    s.attitude = quat_normalize(quat_mul(own->attitude, p->rotation));
    s.rate = quat_unrotate(p->rotation, own->rate);
    return s;
}

// Mark load `k` as carried or not; the state is the caller's.
static void set_carried(vy_world *world, uint32_t k, int is_carried)
{
    const payload_model *p = &world->model.payloads[k];
    VY_ASSERT(k < world->model.payload_count && p->load != p->carrier);
    VY_ASSERT(world->model.drones[p->carrier].holder ==
              HELD_BY_NOTHING); // a carried body cannot carry another
    VY_ASSERT(*body_holder(&world->model, p->load) != HELD_BY_JOINT);
    world->payloads[k].carried = is_carried ? PAYLOAD_CARRIED : PAYLOAD_FREE;
    *body_holder(&world->model, p->load) = is_carried ? HELD_BY_CARRIER : HELD_BY_NOTHING;
    if (world->bodies != NULL) {
        body_slot *load = &world->bodies->slots[p->load];
        load->no_contacts = load->no_sleep = is_carried;
    }
    update_mass(world, p->carrier);
}

// A drone's centre of mass has shifted: shift everything that is stored relative to it.
static void shift_centre_of_mass(drone_block *d, const body_state *recentred)
{
    const vec3 displacement = vec3_sub(recentred->position, d->body.position),
               velocity_change = vec3_sub(recentred->velocity, d->body.velocity);
    d->imu.velocity = vec3_add(d->imu.velocity, velocity_change);
    d->estimate.position = vec3_add(d->estimate.position, displacement);
    d->estimate.velocity = vec3_add(d->estimate.velocity, velocity_change);
    d->body = *recentred;
}

// Both change abruptly: wake them and the bodies that rest on them.
static void wake_pair(vy_world *world, const payload_model *p)
{
    vy_contact_wake_up(world, p->load);
    vy_contact_wake_up(world, p->carrier);
}

static void drop_load(vy_world *world, uint32_t k)
{
    const payload_model *p = &world->model.payloads[k];
    VY_ASSERT(world->payloads[k].carried != PAYLOAD_FREE);
    drone_block *carrier = &world->drones[p->carrier];
    const body_state own = at_own_centre(&carrier->body, composite_of(world, p->carrier).centre);
    const body_state load_state = carried_state(&own, &world->payloads[k]);
    wake_pair(world, p);
    set_carried(world, k, 0);
    const body_state recentred = at_common_centre(&own, composite_of(world, p->carrier).centre);
    shift_centre_of_mass(carrier, &recentred);
    *body_at(world, p->load) = load_state;
}

// Angular momentum about `origin`, world.
static vec3 momentum_about(const body_state *s, double mass, mat3 inertia, vec3 origin)
{
    const vec3 spin = quat_rotate(s->attitude, mat3_mul_vec(inertia, s->rate));
    return vec3_add(spin, vec3_cross(vec3_sub(s->position, origin), vec3_scale(mass, s->velocity)));
}

// @return 0 when the load is not within reach
static int pick_up(vy_world *world, uint32_t k)
{
    const payload_model *p = &world->model.payloads[k];
    VY_ASSERT(world->payloads[k].carried == PAYLOAD_FREE);
    payload_block *state = &world->payloads[k];
    drone_block *carrier = &world->drones[p->carrier];
    const body_state *load = body_at(world, p->load);
    const composite composite_before = composite_of(world, p->carrier);
    const double mass = own_mass(world, p->load);
    const body_state own = at_own_centre(&carrier->body, composite_before.centre);
    const vec3 position = quat_unrotate(own.attitude, vec3_sub(load->position, own.position));
    if (!(vec3_length(vec3_sub(position, p->position)) <= p->reach)) return 0;

    state->position = position;
    state->rotation = quat_normalize(quat_mul(quat_conj(own.attitude), load->attitude));
    wake_pair(world, p);
    set_carried(world, k, 1);
    const composite composite_after = composite_of(world, p->carrier);
    body_state merged = carrier->body;
    VY_ASSERT(composite_after.mass > composite_before.mass);
    merged.position = vec3_add(own.position, quat_rotate(own.attitude, composite_after.centre));
    const vec3 velocity_change =
        vec3_add_scaled(vec3_scale(composite_before.mass, carrier->body.velocity), mass, load->velocity);
    merged.velocity = vec3_scale(1.0 / composite_after.mass, velocity_change);
    const vec3 spin = vec3_add(
        momentum_about(&carrier->body, composite_before.mass, composite_before.inertia, merged.position),
        momentum_about(load, mass, own_inertia(world, p->load), merged.position));
    merged.rate = mat3_mul_vec(mat3_inverse(composite_after.inertia), quat_unrotate(merged.attitude, spin));
    shift_centre_of_mass(carrier, &merged);
    return 1;
}

void vy_payload_stage(vy_world *world)
{
    VY_ASSERT(world->state->tick > 0);
    const uint64_t tick = world->state->tick - 1u;
    for (uint32_t k = 0; k < world->model.payload_count; ++k) {
        payload_model *p = &world->model.payloads[k];
        const double energy_before = world->tracks_energy ? vy_body_kinetic_energy(world, p->carrier) : 0.0;
        const uint64_t carried = world->payloads[k].carried;
        if (tick == p->attach && tick > 0 && !carried && !pick_up(world, k)) world->payloads[k].missed += 1;
        if (carried == PAYLOAD_RELEASED || (tick == p->drop && carried)) drop_load(world, k);
        p->has_changed = !world->payloads[k].carried != !carried;
        if (world->tracks_energy && p->has_changed) // no work was done
            world->energy_balances[p->carrier].start +=
                vy_body_kinetic_energy(world, p->carrier) - energy_before;
    }
}

int vy_payload_reevaluate_nap(vy_world *world)
{
    int has_evaluated = 0;
    for (uint32_t k = 0; k < world->model.payload_count; ++k) {
        const payload_model *p = &world->model.payloads[k];
        if (p->has_changed)
            has_evaluated |=
                vy_body_reevaluate_nap(world, p->carrier) | vy_body_reevaluate_nap(world, p->load);
    }
    return has_evaluated;
}

void vy_payload_update_poses(vy_world *world)
{
    for (uint32_t k = 0; k < world->model.payload_count; ++k) {
        const payload_model *p = &world->model.payloads[k];
        if (!world->payloads[k].carried) continue;
        const vec3 centre = composite_of(world, p->carrier).centre;
        const body_state own = at_own_centre(&world->drones[p->carrier].body, centre);
        *body_at(world, p->load) = carried_state(&own, &world->payloads[k]);
    }
}

int vy_payload_may_drop(const vy_model *m, uint32_t index, uint64_t drop)
{
    for (uint32_t k = 0; k < m->payload_count && drop != 0; ++k) {
        const payload_model *p = &m->payloads[k];
        if (p->carrier == index && p->release && p->bit < VY_DROP_CAP) drop &= ~((uint64_t)1 << p->bit);
    }
    return drop == 0;
}

void vy_payload_release(const vy_model *m, uint64_t *release_requests, payload_block *payloads)
{
    VY_ASSERT(release_requests != NULL);
    for (uint32_t k = 0; k < m->payload_count; ++k) {
        const payload_model *p = &m->payloads[k];
        const int is_requested =
            p->release && p->bit < VY_DROP_CAP && (release_requests[p->carrier] >> p->bit & 1) != 0;
        if (is_requested && payloads[k].carried) payloads[k].carried = PAYLOAD_RELEASED;
    }
    memset(release_requests, 0, m->drone_count * sizeof release_requests[0]);
}

void vy_payload_sync(vy_world *world)
{
    for (uint32_t k = 0; k < world->model.payload_count; ++k) {
        const uint64_t carried = world->payloads[k].carried;
        set_carried(world, k, carried != PAYLOAD_FREE);
        world->payloads[k].carried = carried;
    }
}

// [m] How far apart carrier and load may be: farther out the inertia of both, as a matrix of doubles, hardly
// knows the carrier's own any more.
static double distance_max(const vy_world *world, uint32_t carrier, uint32_t load)
{
    const mat3 inertia = own_inertia(world, carrier);
    const double trace = (inertia.m[0][0] + inertia.m[1][1]) + inertia.m[2][2];
    const double smallest_moment = 4.0 * mat3_det(inertia) / (trace * trace); // at least
    const double carrier_mass = own_mass(world, carrier), load_mass = own_mass(world, load);
    return real_sqrt(1e9 * smallest_moment * (1.0 / carrier_mass + 1.0 / load_mass));
}

static vy_status check_pair(const vy_world *world, const vy_payload_def *def, uint32_t carrier, uint32_t load,
                            vy_error *err)
{
    const vy_model *m = &world->model;
    if (carrier == load) return vy_fail(err, VY_BAD_VALUE, "payload: a drone does not carry itself");
    for (uint32_t k = 0; k < m->payload_count; ++k) {
        const payload_model *p = &m->payloads[k];
        if (p->load == load) return vy_fail(err, VY_BAD_VALUE, "payload.load is a load already");
        if (p->load == carrier || p->carrier == load)
            return vy_fail(err, VY_BAD_VALUE, "payload: a carried body cannot carry another");
    }
    if (*body_holder(m, carrier) != HELD_BY_NOTHING || *body_holder(m, load) != HELD_BY_NOTHING)
        return vy_fail(err, VY_BAD_VALUE, "payload: neither carrier nor load may be held by a joint");
    if (load < m->drone_count &&
        (m->drones[load].layout.count > 0 || m->drones[load].layout.thrusters.count > 0))
        return vy_fail(err, VY_BAD_VALUE, "payload.load must be a body without rotors and thrusters");
    const vy_status status = vy_check_rows(&payload_table, "payload", def, err);
    if (status != VY_OK) return status;
    const double max = distance_max(world, carrier, load),
                 lever = vec3_length(def->position) + (def->attach > 0.0 ? def->reach : 0.0);
    if (!(lever <= max))
        return vy_fail(
            err, VY_BAD_VALUE,
            "payload: carrier and load are %g m apart, and the inertia of both as one body is exact "
            "up to %.3g m",
            lever, max);
    const double length = quat_dot(def->attitude, def->attitude);
    if (!(length > 0.0 && real_is_finite(length)))
        return vy_fail(err, VY_BAD_VALUE, "payload.attitude must be finite and longer than 0");
    if (!(def->drop > def->attach))
        return vy_fail(err, VY_BAD_VALUE, "payload: attach must be at least 0 s and drop later");
    return VY_OK;
}

vy_status vy_world_add_payload(vy_world *world, const vy_payload_def *def, vy_error *err)
{
    FPU_SCOPE;
    vy_model *m = &world->model;
    uint32_t carrier, load;
    if (def->cookie != PAYLOAD_COOKIE)
        return vy_fail(err, VY_BAD_VALUE, "payload: start from vy_default_payload_def()");
    if (world->state->tick > 0) return vy_fail(err, VY_BAD_STATE, "payloads are added before the first step");
    if (m->physics.engine == VY_ENGINE_SIMPLE)
        return vy_fail(err, VY_BAD_VALUE, "payloads need the strict or the rigid engine");
    if (!vy_world_slot(world, def->carrier, &carrier) || !vy_world_number(world, def->load, &load))
        return vy_fail(err, VY_NOT_FOUND,
                       "payload: the carrier must be a drone of this world, the load one of its bodies");
    vy_status status = check_pair(world, def, carrier, load, err);
    if (status == VY_OK)
        status = vy_world_reserve(world, CAPACITY_PAYLOADS, (uint64_t)m->payload_count + 1, err);
    if (status != VY_OK) return status;

    const uint32_t k = m->payload_count++;
    const vec3 position = vec3_sub(def->position, world->vehicles[carrier].centre_of_mass);
    m->payloads[k] = (payload_model){
        .carrier = carrier,
        .load = load,
        .attach = vy_tick_at(def->attach, m->dt),
        .drop = vy_tick_at(def->drop, m->dt),
        .position = position,
        .reach = def->reach,
        .release = def->release,
    };
    for (uint32_t i = 0; i < k; ++i) m->payloads[k].bit += m->payloads[i].carrier == carrier;
    VY_ASSERT(m->payloads[k].drop > m->payloads[k].attach || def->drop - def->attach < m->dt);
    body_nap(m, carrier)->open_loop = body_nap(m, load)->open_loop = 0; // the bound is that of one body
    vy_world_layout_state(world);
    world->payloads[k] = (payload_block){.position = position, .rotation = quat_normalize(def->attitude)};
    if (m->payloads[k].attach == 0) {
        drone_block *carrier_drone = &world->drones[carrier];
        const body_state own = at_own_centre(&carrier_drone->body, composite_of(world, carrier).centre);
        set_carried(world, k, 1);
        const body_state recentred = at_common_centre(&own, composite_of(world, carrier).centre);
        shift_centre_of_mass(carrier_drone, &recentred);
        carrier_drone->mocap.position = carrier_drone->estimate.position;
        vy_payload_update_poses(world);
    }
    return VY_OK;
}

uint32_t vy_world_payload_count(const vy_world *world) { return world->model.payload_count; }

vy_status vy_world_read_payload(const vy_world *world, uint32_t index, vy_payload_state *out)
{
    FPU_SCOPE;
    if (index >= world->model.payload_count) return VY_NOT_FOUND;
    const payload_model *p = &world->model.payloads[index];
    const composite total = composite_of(world, p->carrier);
    *out = (vy_payload_state){
        .carrier = vy_world_drone(world, p->carrier),
        .load = vy_world_body(world, p->load),
        .carried = world->payloads[index].carried != 0,
        .missed = world->payloads[index].missed != 0,
        .mass = total.mass,
        .centre = vec3_add(world->vehicles[p->carrier].centre_of_mass, total.centre),
        .inertia = total.inertia,
    };
    return VY_OK;
}
