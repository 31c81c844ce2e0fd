// bodies.c - sets of rigid bodies as flat functions for Python's ctypes.
//
// A state is 13 numbers, as in vy_body_state: position, velocity, attitude, rate. A vector that is given has
// been looked through in Python: its numbers are finite.
#include "binding.h"
#include "shapes.h"
#include "volery/bodies.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(vy_body_state) == 13 * 8 && sizeof(vy_material) == 4 * 8 && sizeof(vy_mat3) == 9 * 8,
               "arrays of numbers");

_Static_assert(VY_BODIES_NOT_FINITE == 1 && VY_BODIES_REDUNDANT == 2 && VY_BODIES_CONFLICT == 4 &&
                   VY_BODIES_NO_MEMORY == 8 && VY_BODIES_TIME_DROPPED == 32 && VY_BODIES_CRUSHED == 64 &&
                   VY_BODIES_JOINT_BROKEN == 128 && VY_BODY_STATIC == 0 && VY_BODY_KINEMATIC == 1 &&
                   VY_BODY_DYNAMIC == 2 && VY_CONTACT_BEGIN == 0 && VY_CONTACT_PERSIST == 1 &&
                   VY_CONTACT_END == 2 && VY_POTENTIAL_UNIFORM == 1 && VY_POTENTIAL_MAGNETIC == 4,
               "as volery/bodies.py has them");

// Threads may share it: each function here has it for itself, one call at a time.
struct locked_bodies {
    pthread_mutex_t lock;
    vy_bodies *set;
};

vy_bodies *bodies_enter(locked_bodies *b)
{
    (void)pthread_mutex_lock(&b->lock);
    return b->set;
}

void bodies_leave(locked_bodies *b) { (void)pthread_mutex_unlock(&b->lock); }

// What a function without a vy_error has returned.
static int status_result(vy_status status, const char *bad_value)
{
    vy_error err = {.status = status};
    if (status == VY_NOT_FOUND)
        snprintf(err.text, sizeof err.text, "this body is not, or no longer, in the set");
    if (status == VY_BAD_VALUE) snprintf(err.text, sizeof err.text, "%s", bad_value);
    return binding_result(status, &err);
}

// ---- a set

// Numbers of a def, in the order of bodies_default_numbers().
enum { DEF_NUMBERS = 15 };

static void def_to_numbers(const vy_bodies_def *def, double out[DEF_NUMBERS])
{
    const vy_contacts_def *contacts = &def->contacts;
    const double values[DEF_NUMBERS] = {def->dt,
                                        def->gravity.x,
                                        def->gravity.y,
                                        def->gravity.z,
                                        def->joint_step,
                                        def->closing_speed,
                                        def->open_limit,
                                        contacts->substep,
                                        contacts->slop,
                                        contacts->push_speed,
                                        contacts->correction,
                                        contacts->restitution_speed,
                                        contacts->time_to_sleep,
                                        contacts->sleep_speed,
                                        def->baumgarte};
    memcpy(out, values, sizeof values);
}

static void numbers_to_def(const double numbers[DEF_NUMBERS], vy_bodies_def *def)
{
    vy_contacts_def *contacts = &def->contacts;
    double *const fields[DEF_NUMBERS - 1] = {&def->dt,
                                             &def->gravity.x,
                                             &def->gravity.y,
                                             &def->gravity.z,
                                             &def->joint_step,
                                             &def->closing_speed,
                                             &def->open_limit,
                                             &contacts->substep,
                                             &contacts->slop,
                                             &contacts->push_speed,
                                             &contacts->correction,
                                             &contacts->restitution_speed,
                                             &contacts->time_to_sleep,
                                             &contacts->sleep_speed};
    for (int i = 0; i < DEF_NUMBERS - 1; ++i) *fields[i] = numbers[i];
    def->baumgarte = numbers[DEF_NUMBERS - 1] != 0.0;
}

// dt, gravity, joint_step, closing_speed, open_limit, then of contacts substep, slop, push_speed, correction,
// restitution_speed, time_to_sleep, sleep_speed, and baumgarte.
void bodies_default_numbers(double out[DEF_NUMBERS])
{
    const vy_bodies_def def = vy_default_bodies_def();
    def_to_numbers(&def, out);
}

// The number of an integrator, or -1 with a sentence.
static int find_integrator(const char *name)
{
    vy_error err = {.status = VY_BAD_VALUE};
    int integrator = 0;
    while (vy_integrator_order((vy_integrator)integrator) != 0 &&
           strcmp(vy_integrator_name((vy_integrator)integrator), name) != 0)
        ++integrator;
    if (vy_integrator_order((vy_integrator)integrator) != 0) return integrator;
    snprintf(err.text, sizeof err.text,
             "no integrator %.40s: there are euler, semi-implicit, rk4 and lie-midpoint", name);
    return binding_result(err.status, &err);
}

void bodies_destroy(locked_bodies *b)
{
    if (b == NULL) return;
    vy_bodies_destroy(b->set);
    (void)pthread_mutex_destroy(&b->lock);
    free(b);
}

// `has_impulse_solver`: contacts by one impulse each, in place of soft ones.
locked_bodies *bodies_create(const double numbers[DEF_NUMBERS], const char *integrator, int has_contacts,
                             int has_impulse_solver, uint32_t threads)
{
    vy_error err = {.status = VY_NO_MEMORY};
    vy_bodies_def def = vy_default_bodies_def();
    const int integrator_number = find_integrator(integrator);
    if (integrator_number < 0) return NULL;
    numbers_to_def(numbers, &def);
    def.integrator = (vy_integrator)integrator_number;
    def.contacts.on = has_contacts;
    def.contacts.solver = has_impulse_solver ? VY_CONTACT_SOLVER_IMPULSE : VY_CONTACT_SOLVER_SOFT;
    def.contacts.threads = threads;
    locked_bodies *b = calloc(1, sizeof *b);
    if (b == NULL || pthread_mutex_init(&b->lock, NULL) != 0) {
        free(b);
        return binding_fail(&err);
    }
    if (vy_bodies_create(&def, &b->set, &err) == VY_OK) return b;
    bodies_destroy(b);
    return binding_fail(&err);
}

const char *bodies_integrator(locked_bodies *b)
{
    const char *name = vy_integrator_name(vy_bodies_integrator(bodies_enter(b)));
    bodies_leave(b);
    return name;
}

int bodies_set_integrator(locked_bodies *b, const char *name)
{
    const int integrator_number = find_integrator(name);
    if (integrator_number < 0) return -1;
    (void)vy_bodies_set_integrator(bodies_enter(b), (vy_integrator)integrator_number);
    bodies_leave(b);
    return 0;
}

/// Step until `steps` are done, the set ends, or a part of a second has passed, so that others have their
/// turn and Ctrl-C is heard. Returns how many were done; *flags gets the bits seen.
uint64_t bodies_step(locked_bodies *b, uint64_t steps, uint32_t *flags)
{
    const double deadline = binding_seconds() + 0.05;
    vy_bodies *set = bodies_enter(b);
    uint64_t steps_done = 0;
    while (steps_done < steps) {
        const uint32_t step_flags = vy_bodies_step(set);
        ++steps_done;
        *flags |= step_flags;
        if ((step_flags & (VY_BODIES_NOT_FINITE | VY_BODIES_NO_MEMORY)) != 0 || binding_seconds() > deadline)
            break;
    }
    bodies_leave(b);
    return steps_done;
}

uint64_t bodies_tick(locked_bodies *b)
{
    const uint64_t tick = vy_bodies_tick(bodies_enter(b));
    bodies_leave(b);
    return tick;
}

double bodies_time(locked_bodies *b)
{
    const double time = vy_bodies_time(bodies_enter(b));
    bodies_leave(b);
    return time;
}

uint64_t bodies_hash(locked_bodies *b)
{
    const uint64_t hash = vy_bodies_hash(bodies_enter(b));
    bodies_leave(b);
    return hash;
}

/// Save into `size` bytes, if that is enough. Returns how many it takes.
size_t bodies_save(locked_bodies *b, void *block, size_t size)
{
    const vy_bodies *set = bodies_enter(b);
    const size_t needed = vy_bodies_state_size(set);
    if (needed <= size) vy_bodies_save(set, block);
    bodies_leave(b);
    return needed;
}

int bodies_restore(locked_bodies *b, const void *block, size_t size)
{
    vy_error err = {0};
    const vy_status status = vy_bodies_restore(bodies_enter(b), block, size, &err);
    bodies_leave(b);
    return binding_result(status, &err);
}

// Where the states of all slots lie. Returns how many slots there are.
uint32_t bodies_states(locked_bodies *b, uint64_t *address)
{
    vy_bodies *set = bodies_enter(b);
    *address = (uint64_t)(uintptr_t)vy_bodies_states(set);
    const uint32_t slots = vy_bodies_slot_count(set);
    bodies_leave(b);
    return slots;
}

// The ids of the first `count` slots, 0 of an empty one.
void bodies_ids(locked_bodies *b, uint64_t *out, uint32_t count)
{
    const vy_bodies *set = bodies_enter(b);
    for (uint32_t i = 0; i < count; ++i) out[i] = vy_bodies_at(set, i).bits;
    bodies_leave(b);
}

// Which of the first `count` slots sleep.
void bodies_sleeping(locked_bodies *b, uint8_t *out, uint32_t count)
{
    const vy_bodies *set = bodies_enter(b);
    for (uint32_t i = 0; i < count; ++i) out[i] = (uint8_t)vy_body_is_asleep(set, vy_bodies_at(set, i));
    bodies_leave(b);
}

// The parts of `from` whose bits are set: position, velocity, attitude, rate.
static void copy_parts(const vy_body_state *from, int parts, vy_body_state *to)
{
    if ((parts & 1) != 0) to->position = from->position;
    if ((parts & 2) != 0) to->velocity = from->velocity;
    if ((parts & 4) != 0) to->attitude = from->attitude;
    if ((parts & 8) != 0) to->rate = from->rate;
}

// Give the bodies of all `count` slots parts of states; one that has them already is left alone, and what is
// said of an empty slot is not looked at. All of them or, after a mistake, none.
int bodies_set_states(locked_bodies *b, const vy_body_state *states, int parts, uint32_t count)
{
    vy_bodies *set = bodies_enter(b);
    int result = status_result(count == vy_bodies_slot_count(set) ? VY_OK : VY_BAD_VALUE,
                               "a body was added meanwhile: there are more rows now");
    for (uint32_t i = 0; i < count && result == 0 && (parts & 4) != 0; ++i) {
        const vy_quat attitude = states[i].attitude;
        const double length_squared = attitude.w * attitude.w + attitude.x * attitude.x +
                                      attitude.y * attitude.y + attitude.z * attitude.z;
        if (vy_bodies_at(set, i).bits != 0 && !(length_squared > 0.0 && length_squared < 1e300))
            result =
                status_result(VY_BAD_VALUE, "an attitude must be longer than zero, and shorter than 1e150");
    }
    for (uint32_t i = 0; i < count && result == 0; ++i) {
        const vy_body_id id = vy_bodies_at(set, i);
        vy_body_state old_state, new_state;
        if (vy_body_read(set, id, &old_state) != VY_OK) continue;
        new_state = old_state;
        copy_parts(&states[i], parts, &new_state);
        if (memcmp(&old_state, &new_state, sizeof old_state) != 0)
            result = status_result(vy_body_set_state(set, id, &new_state), "a state must be finite");
    }
    bodies_leave(b);
    return result;
}

typedef struct contact_row {
    uint32_t a, b; // slots
    int32_t phase, points;
    vy_vec3 normal, point, impulse;
    double speed;
} contact_row;

_Static_assert(sizeof(contact_row) == 96, "as volery/bodies.py has it");

/// Contacts of the last step, if `capacity` is enough for them. Returns how many there are.
uint32_t bodies_contacts(locked_bodies *b, contact_row *out, uint32_t capacity)
{
    const vy_bodies *set = bodies_enter(b);
    const uint32_t count = vy_bodies_contact_count(set);
    for (uint32_t i = 0; i < count && count <= capacity; ++i) {
        vy_contact_report report;
        if (vy_bodies_contact(set, i, &report) != VY_OK) continue;
        out[i] = (contact_row){(uint32_t)report.a - 1u, (uint32_t)report.b - 1u,
                               (int32_t)report.phase,   report.points,
                               report.normal,           report.point,
                               report.impulse,          report.speed};
    }
    bodies_leave(b);
    return count;
}

// impacts, dropped, dropped_time, scaled, limited.
void bodies_impacts(locked_bodies *b, double out[5])
{
    const vy_impact_totals totals = vy_bodies_impacts(bodies_enter(b));
    bodies_leave(b);
    const double values[5] = {(double)totals.impacts, (double)totals.dropped, totals.dropped_time,
                              (double)totals.scaled, (double)totals.limited};
    memcpy(out, values, sizeof values);
}

// kinetic, potential, closing; momentum; angular momentum.
void bodies_totals(locked_bodies *b, double out[9])
{
    const vy_bodies *set = bodies_enter(b);
    const vy_bodies_energy energy = vy_bodies_read_energy(set);
    vy_vec3 linear, angular;
    vy_bodies_read_momentum(set, &linear, &angular);
    bodies_leave(b);
    memcpy(out, (const double[3]){energy.kinetic, energy.potential, energy.closing}, 24);
    memcpy(out + 3, &linear, 24);
    memcpy(out + 6, &angular, 24);
}

// `kind`: vy_potential_kind. Numbers: gravity; mu, centre; stiffness, length, anchor, point; dipole, field.
int bodies_add_potential(locked_bodies *b, int kind, const double numbers[8], uint64_t body)
{
    vy_error err = {.status = VY_BAD_VALUE};
    vy_potential potential = {.kind = VY_POTENTIAL_NONE};
    const vy_vec3 first = {numbers[0], numbers[1], numbers[2]}, second = {numbers[3], numbers[4], numbers[5]};
    vy_status status = VY_BAD_VALUE;
    switch (kind) {
    case VY_POTENTIAL_UNIFORM: status = vy_potential_uniform(first, &potential, &err); break;
    case VY_POTENTIAL_CENTRAL:
        status =
            vy_potential_central(numbers[0], (vy_vec3){numbers[1], numbers[2], numbers[3]}, &potential, &err);
        break;
    case VY_POTENTIAL_SPRING:
        status = vy_potential_spring(numbers[0], numbers[1], (vy_vec3){numbers[2], numbers[3], numbers[4]},
                                     (vy_vec3){numbers[5], numbers[6], numbers[7]}, &potential, &err);
        break;
    case VY_POTENTIAL_MAGNETIC: status = vy_potential_magnetic(first, second, &potential, &err); break;
    default: break;
    }
    if (status != VY_OK) return binding_result(status, &err);
    status = vy_bodies_add_potential(bodies_enter(b), &potential, (vy_body_id){body}, &err);
    bodies_leave(b);
    return binding_result(status, &err);
}

// ---- one body

// Mass, inertia (row by row, zero: of the shape), state, friction, restitution, rolling, spinning.
enum { BODY_NUMBERS = 1 + 9 + 13 + 4 };

int bodies_add(locked_bodies *b, int kind, const owned_shape *shape, const double numbers[BODY_NUMBERS],
               int no_sleep, uint64_t *out)
{
    vy_error err = {0};
    vy_body_id id = VY_NULL_BODY;
    vy_body_def def = vy_default_body_def();
    def.kind = (vy_body_kind)kind;
    def.shape = shape != NULL ? &shape->shape : NULL;
    def.mass = numbers[0];
    memcpy(&def.inertia, numbers + 1, sizeof def.inertia);
    memcpy(&def.state, numbers + 10, sizeof def.state);
    memcpy(&def.material, numbers + 23, sizeof def.material);
    def.no_sleep = no_sleep;
    const vy_status status = vy_bodies_add(bodies_enter(b), &def, &id, &err);
    bodies_leave(b);
    *out = id.bits;
    return binding_result(status, &err);
}

int bodies_remove(locked_bodies *b, uint64_t id)
{
    const vy_status status = vy_bodies_remove(bodies_enter(b), (vy_body_id){id});
    bodies_leave(b);
    return status_result(status, "");
}

int bodies_has(locked_bodies *b, uint64_t id)
{
    const int has = vy_bodies_has(bodies_enter(b), (vy_body_id){id});
    bodies_leave(b);
    return has;
}

int body_read(locked_bodies *b, uint64_t id, double out[13])
{
    const vy_status status = vy_body_read(bodies_enter(b), (vy_body_id){id}, (vy_body_state *)out);
    bodies_leave(b);
    return status_result(status, "");
}

int body_set_state(locked_bodies *b, uint64_t id, const vy_body_state *state, int parts)
{
    vy_bodies *set = bodies_enter(b);
    vy_body_state new_state;
    vy_status status = vy_body_read(set, (vy_body_id){id}, &new_state);
    if (status == VY_OK) {
        copy_parts(state, parts, &new_state);
        status = vy_body_set_state(set, (vy_body_id){id}, &new_state);
    }
    bodies_leave(b);
    return status_result(status, "a state must be finite, with an attitude longer than zero");
}

// Mass, inertia row by row, linear and rotational energy, acceleration (world) and that of the rate (body),
// and whether it sleeps.
int body_read_properties(locked_bodies *b, uint64_t id, double out[19])
{
    const vy_body_id body = {id};
    const vy_bodies *set = bodies_enter(b);
    vy_mat3 inertia;
    vy_vec3 linear = {0.0, 0.0, 0.0}, angular = {0.0, 0.0, 0.0};
    const vy_status status = vy_body_read_mass(set, body, &out[0], &inertia);
    if (status == VY_OK) {
        (void)vy_body_read_acceleration(set, body, &linear, &angular);
        memcpy(out + 1, &inertia, sizeof inertia);
        out[10] = vy_body_linear_energy(set, body);
        out[11] = vy_body_rotational_energy(set, body);
        memcpy(out + 12, &linear, 24);
        memcpy(out + 15, &angular, 24);
        out[18] = vy_body_is_asleep(set, body);
    }
    bodies_leave(b);
    return status_result(status, "");
}

// What body_apply() applies.
enum { APPLY_FORCE, APPLY_TORQUE, APPLY_IMPULSE, APPLY_ANGULAR_IMPULSE };

// `frame` and `point_frame`: 0 world, 1 body. `point`: NULL for the centre of mass; a torque has none.
int body_apply(locked_bodies *b, uint64_t id, int kind, const vy_vec3 *vector, int frame,
               const vy_vec3 *point, int point_frame)
{
    const vy_body_id body = {id};
    const vy_frame vector_axes = frame ? VY_FRAME_BODY : VY_FRAME_WORLD,
                   point_axes = point_frame ? VY_FRAME_BODY : VY_FRAME_WORLD;
    vy_bodies *set = bodies_enter(b);
    vy_status status = VY_BAD_VALUE;
    switch (kind) {
    case APPLY_FORCE:
        status = point != NULL ? vy_body_apply_force_at(set, body, *vector, vector_axes, *point, point_axes)
                               : vy_body_apply_force(set, body, *vector, vector_axes);
        break;
    case APPLY_TORQUE: status = vy_body_apply_torque(set, body, *vector, vector_axes); break;
    case APPLY_IMPULSE:
        status = point != NULL ? vy_body_apply_impulse_at(set, body, *vector, vector_axes, *point, point_axes)
                               : vy_body_apply_impulse(set, body, *vector, vector_axes);
        break;
    case APPLY_ANGULAR_IMPULSE:
        status = vy_body_apply_angular_impulse(set, body, *vector, vector_axes);
        break;
    default: break;
    }
    bodies_leave(b);
    return status_result(status, "the velocities after the impulse would not be finite");
}

int body_clear_forces(locked_bodies *b, uint64_t id)
{
    const vy_status status = vy_body_clear_forces(bodies_enter(b), (vy_body_id){id});
    bodies_leave(b);
    return status_result(status, "");
}

int body_stop(locked_bodies *b, uint64_t id)
{
    const vy_status status = vy_body_stop(bodies_enter(b), (vy_body_id){id});
    bodies_leave(b);
    return status_result(status, "");
}

int body_wake(locked_bodies *b, uint64_t id)
{
    const vy_status status = vy_body_wake(bodies_enter(b), (vy_body_id){id});
    bodies_leave(b);
    return status_result(status, "");
}
