// expect.c - expectations of a run: quantities and their evaluation.
#include "base/math.h"
#include "base/real.h"
#include "base/vec.h"
#include "scenario/number.h"
#include "scenario/schema.h"
#include "scenario/separation.h"

// A unit for people, and how much of it one of the SI unit is.
typedef struct display_unit {
    const char *name;
    double scale;
} display_unit;

static double position_error(const vy_drone_state *d)
{
    return vec3_length(vec3_sub(d->position, d->target.position));
}
static double estimate_error(const vy_drone_state *d)
{
    return vec3_length(vec3_sub(d->samples.estimate.position, d->position));
}
static double x(const vy_drone_state *d) { return d->position.x; }
static double y(const vy_drone_state *d) { return d->position.y; }
static double z(const vy_drone_state *d) { return d->position.z; }
static double distance(const vy_drone_state *d)
{
    return vec3_length(vec3_make(d->position.x, d->position.y, 0.0));
}
static double speed(const vy_drone_state *d) { return vec3_length(d->velocity); }
static double rate(const vy_drone_state *d) { return vec3_length(d->rate); }
static double clamps(const vy_drone_state *d) { return (double)d->clamps; }
static double battery_charge(const vy_drone_state *d) { return d->battery_charge; }
static double battery_voltage(const vy_drone_state *d) { return d->battery_voltage; }
static double rotor_power(const vy_drone_state *d) { return d->rotor_power; }
static double failsafes(const vy_drone_state *d) { return (double)d->failsafes; }
static double touching(const vy_drone_state *d) { return (double)d->touching; }
static double contacts(const vy_drone_state *d) { return (double)d->contacts; }
static double contact_speed(const vy_drone_state *d) { return d->contact_speed; }
static double contact_impulse(const vy_drone_state *d) { return d->contact_impulse_max; }
static double crashes(const vy_drone_state *d) { return (double)d->crashes; }
static double asleep(const vy_drone_state *d) { return (double)d->asleep; }
static double entered(const vy_drone_state *d) { return (double)d->entered; }

static double motor_max(const vy_drone_state *d)
{
    double maximum = 0.0;
    for (int i = 0; i < VY_ROTOR_CAP; ++i) maximum = real_max(maximum, d->motor_command[i]);
    return maximum;
}

static double altitude(const vy_ground_state *g) { return g->altitude; }
static double height(const vy_ground_state *g) { return g->height; }
static double ground_speed(const vy_ground_state *g) { return g->ground_speed; }
static double air_speed(const vy_ground_state *g) { return g->air_speed; }
static double climb(const vy_ground_state *g) { return g->climb; }
static double track(const vy_ground_state *g) { return g->track; }
static double latitude(const vy_ground_state *g) { return g->latitude; }
static double longitude(const vy_ground_state *g) { return g->longitude; }
static double tilt(const vy_ground_state *g) { return g->tilt; }
static double yaw(const vy_ground_state *g) { return g->yaw; }
static double heading(const vy_ground_state *g) { return g->heading; }
static double pitch(const vy_ground_state *g) { return g->pitch; }
static double roll(const vy_ground_state *g) { return g->roll; }

static double tension(const vy_joint_state *j) { return j->tension; }
static double length(const vy_joint_state *j) { return j->length; }
static double angle(const vy_joint_state *j) { return j->angle; }
static double force(const vy_joint_state *j) { return vec3_length(j->force); }
static double torque(const vy_joint_state *j) { return vec3_length(j->torque); }
static double active(const vy_joint_state *j) { return j->active; }

// The unit times a second: of no unit, the second alone.
#define INTEGRAL(unit) &(unit " s")[sizeof(unit) == 1]

const vy_quantity *vy_quantities(int *count)
{
    static const vy_quantity list[] = {
#define NAMED(name_, unit_, help_) \
    .name = #name_, .unit = unit_, .help = help_, .integral_unit = INTEGRAL(unit_)
#define QUANTITY(name_, unit_, help_) {NAMED(name_, unit_, help_), .value = name_},
#define BATTERY_QUANTITY(name_, unit_, help_) \
    {NAMED(name_, unit_, help_), .value = name_, .needs_battery = 1},
#define MOTOR_QUANTITY(name_, unit_, help_) {NAMED(name_, unit_, help_), .value = name_, .needs_motors = 1},
#define BODY_QUANTITY(name_, unit_, help_)  {NAMED(name_, unit_, help_), .value = name_, .of_bodies = 1},
#define PAIR_QUANTITY(name_, unit_, help_)  {NAMED(name_, unit_, help_), .of_pairs = 1},
#define GROUND_QUANTITY(name_, unit_, needs_planet_, help_) \
    {NAMED(name_, unit_, help_), .of_ground = name_, .of_bodies = 1, .needs_planet = needs_planet_},
#define JOINT_QUANTITY(name_, unit_, kinds_, help_) \
    {NAMED(name_, unit_, help_), .of_joint = name_, .joints = kinds_},
#include "scenario/quantities.inl"
#undef QUANTITY
    };
    *count = (int)(sizeof list / sizeof list[0]);
    return list;
}

int vy_vehicle_has_quantity(const vy_vehicle_def *v, const vy_quantity *q)
{
    if (q->needs_battery && !(v->battery.capacity > 0.0)) return 0;
    return !q->needs_motors || v->rotor_count + v->thruster_count > 0;
}

void vy_expect_begin(const vy_scenario *scenario, vy_expect_result *results)
{
    memset(results, 0, (size_t)scenario->expect_count * sizeof *results);
}

// Take a value into a result: at the end the latest step counts, throughout the worst.
static void update_result(const vy_expect_def *e, double value, double time, uint32_t drone,
                          vy_expect_result *r)
{
    const double sum = r->sum + value * value;
    const uint64_t steps = r->steps + 1;
    if (e->at == VY_AT_RMS) value = real_sqrt(sum / (double)steps);
    const double margin = real_min(value - e->min, e->max - value);
    const int replaces_margin = !r->measured || e->at == VY_AT_RMS || (e->at == VY_AT_END && time > r->time);
    if (!replaces_margin && margin >= r->margin) return;
    *r = (vy_expect_result){.measured = 1,
                            .sum = sum,
                            .steps = steps,
                            .met = value >= e->min && value <= e->max,
                            .worst = value,
                            .margin = margin,
                            .time = time,
                            .drone = drone};
}

// How far it goes beyond the target, in the direction from where it was first.
static void update_overshoot(const vy_expect_def *e, double value, double time, uint32_t drone,
                             vy_expect_result *r)
{
    const double first_value = r->measured ? r->first : value;
    const double overshoot = real_max(first_value <= e->target ? value - e->target : e->target - value, 0.0);
    if (r->measured && overshoot <= r->worst) return;
    *r = (vy_expect_result){.measured = 1,
                            .first = first_value,
                            .met = overshoot >= e->min && overshoot <= e->max,
                            .worst = overshoot,
                            .margin = real_min(overshoot - e->min, e->max - overshoot),
                            .time = time,
                            .drone = drone};
}

// Each step counts with its length; time begins with the first one evaluated.
static void update_integral(const vy_expect_def *e, double value, double time, double step, uint32_t drone,
                            vy_expect_result *r)
{
    const double sum = r->sum + (time > real_max(e->after, 0.5 * step) ? value * step : 0.0);
    *r = (vy_expect_result){.measured = 1,
                            .sum = sum,
                            .met = sum >= e->min && sum <= e->max,
                            .worst = sum,
                            .margin = real_min(sum - e->min, e->max - sum),
                            .time = time,
                            .drone = drone};
}

// How long it takes: to be within the bounds for good, or for the first time.
static void update_time(const vy_expect_def *e, double value, double time, double step, uint32_t drone,
                        vy_expect_result *r)
{
    const int is_inside = value >= e->min && value <= e->max;
    const double elapsed = real_max(time - e->after, 0.0);
    if (e->at == VY_AT_REACHED) {
        if (r->measured || !is_inside) return;
        *r = (vy_expect_result){.measured = 1,
                                .met = elapsed <= e->within,
                                .worst = elapsed,
                                .margin = e->within - elapsed,
                                .time = time,
                                .drone = drone};
        return;
    }
    if (!is_inside) { // at the next step at the earliest
        *r = (vy_expect_result){.measured = 1,
                                .worst = elapsed + step,
                                .margin = real_min(e->within - (elapsed + step), -step),
                                .time = time,
                                .drone = drone};
    } else if (!r->measured) {
        *r = (vy_expect_result){.measured = 1, .met = 1, .margin = e->within, .time = -1.0, .drone = drone};
    } else if (r->time < time) { // no drone is outside now
        r->met = r->worst <= e->within;
        r->margin = e->within - r->worst;
    }
}

// Whether expectation `e` is evaluated at this step.
static int is_evaluated(const vy_scenario *scenario, const vy_expect_def *e, double time, int quantity_count)
{
    // Half a step of slack: 3000 steps of 1 ms need not sum up to exactly 3 s.
    return time >= e->after - 0.5 * scenario->step && e->quantity >= 0 && e->quantity < quantity_count;
}

static void update_expectation(const vy_expect_def *e, double value, double time, double step, uint32_t body,
                               vy_expect_result *r)
{
    switch (e->at) {
    case VY_AT_SETTLED:
    case VY_AT_REACHED: update_time(e, value, time, step, body, r); break;
    case VY_AT_OVERSHOOT: update_overshoot(e, value, time, body, r); break;
    case VY_AT_INTEGRAL: update_integral(e, value, time, step, body, r); break;
    default: update_result(e, value, time, body, r); break;
    }
}

static void update_joints(const vy_scenario *scenario, const vy_world *world, vy_expect_result *results)
{
    int quantity_count;
    const vy_quantity *quantities = vy_quantities(&quantity_count);
    const double time = vy_world_time(world);
    for (int k = 0; k < scenario->joint_count; ++k) {
        int is_read = 0; // reading a joint is expensive: done only where it is evaluated
        vy_joint_state state;
        for (int i = 0; i < scenario->expect_count; ++i) {
            const vy_expect_def *e = &scenario->expect[i];
            if (!is_evaluated(scenario, e, time, quantity_count) || quantities[e->quantity].of_joint == NULL)
                continue;
            if (e->joint != VY_EVERY_JOINT && e->joint != k) continue;
            if ((quantities[e->quantity].joints >> scenario->joints[k].def.kind & 1u) == 0) continue;
            if (!is_read && vy_world_read_joint(world, vy_world_joint(world, (uint32_t)k), &state) != VY_OK)
                break;
            is_read = 1;
            update_expectation(e, quantities[e->quantity].of_joint(&state), time, scenario->step, (uint32_t)k,
                               &results[i]);
        }
    }
}

// A drone as it is, or a body as a drone without actuators. Returns 0 when it is neither.
static int read_drone_or_body(const vy_world *world, uint32_t number, vy_drone_state *out)
{
    vy_world_body_state body;
    if (number < vy_world_drone_count(world))
        return vy_world_read_drone(world, vy_world_drone(world, number), out) == VY_OK;
    if (vy_world_read_body(world, vy_world_body(world, number), &body) != VY_OK) return 0;
    *out = (vy_drone_state){.position = body.position,
                            .velocity = body.velocity,
                            .attitude = body.attitude,
                            .rate = body.rate,
                            .touching = body.touching,
                            .contacts = body.contacts,
                            .crashes = body.crashes,
                            .contact_impulse = body.contact_impulse,
                            .contact_speed = body.contact_speed,
                            .contact_impulse_max = body.contact_impulse_max,
                            .asleep = body.asleep,
                            .entered = body.entered};
    return 1;
}

// [m] The distance from a recorded trajectory, between its rows in proportion. Returns 0 where it does not
// say where it was.
static int recorded_error(const vy_numbers *n, vec3 position, double time, double *out)
{
    int low = 0, high = n->rows; // the row of `low` is not after the time, if one is; that of `high` is
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (n->values[4 * middle] <= time)
            low = middle;
        else
            high = middle;
    }
    const double *a = n->values + 4 * (size_t)low, *b = high < n->rows ? a + 4 : a;
    if (time < a[0] || (b == a && time > a[0])) return 0;
    const double fraction = b != a ? (time - a[0]) / (b[0] - a[0]) : 0.0;
    const vec3 recorded_position = vec3_make(a[1] + fraction * (b[1] - a[1]), a[2] + fraction * (b[2] - a[2]),
                                             a[3] + fraction * (b[3] - a[3]));
    *out = vec3_length(vec3_sub(position, recorded_position));
    return 1;
}

static void update_body(const vy_scenario *scenario, const vy_world *world, uint32_t number,
                        vy_expect_result *results)
{
    int quantity_count,
        is_ground_read = 0; // where it is over the ground is read only where that is asked for
    const vy_quantity *quantities = vy_quantities(&quantity_count);
    const double time = vy_world_time(world);
    vy_drone_state state;
    vy_ground_state ground;
    if (!read_drone_or_body(world, number, &state)) return;
    for (int i = 0; i < scenario->expect_count; ++i) {
        const vy_expect_def *e = &scenario->expect[i];
        if (e->body != VY_EVERY_DRONE && e->body != (int)number) continue;
        if (!is_evaluated(scenario, e, time, quantity_count)) continue;
        const vy_quantity *q = &quantities[e->quantity];
        if (q->of_joint != NULL || q->of_pairs || (number >= vy_world_drone_count(world) && !q->of_bodies))
            continue;
        if (!q->of_bodies && !vy_vehicle_has_quantity(&scenario->drones[number].def.vehicle, q)) continue;
        if (q->of_ground != NULL && !is_ground_read)
            is_ground_read = vy_world_read_ground(world, number, &ground) == VY_OK;
        if (q->of_ground == track && ground.ground_speed == 0.0) continue; // at rest it has no direction
        double value = q->of_ground != NULL ? q->of_ground(&ground) : q->value(&state);
        if (e->trajectory.rows > 0 && !recorded_error(&e->trajectory, state.position, time, &value)) continue;
        update_expectation(e, value, time, scenario->step, number, &results[i]);
    }
}

static void update_pairs(const vy_scenario *scenario, const vy_world *world, vy_expect_result *results)
{
    int quantity_count;
    const vy_quantity *quantities = vy_quantities(&quantity_count);
    const double time = vy_world_time(world);
    for (int i = 0; i < scenario->expect_count; ++i) {
        const vy_expect_def *e = &scenario->expect[i];
        uint32_t nearest = 0;
        if (!is_evaluated(scenario, e, time, quantity_count) || !quantities[e->quantity].of_pairs) continue;
        const double value = vy_drone_separation(world, e->body, &nearest);
        update_expectation(e, value, time, scenario->step, nearest, &results[i]);
    }
}

void vy_expect_feed(const vy_scenario *scenario, const vy_world *world, vy_expect_result *results)
{
    FPU_SCOPE;
    if (scenario->expect_count == 0) return;
    for (uint32_t i = 0; i < vy_world_body_count(world); ++i) update_body(scenario, world, i, results);
    update_pairs(scenario, world, results);
    if (vy_world_time(world) > 0.0)
        update_joints(scenario, world, results); // forces are known from the first step on
}

void vy_expect_end(const vy_scenario *scenario, vy_expect_result *results)
{
    FPU_SCOPE;
    if (!scenario->duration_changed) return;
    const double end_time = scenario->duration + 0.5 * scenario->step;
    for (int i = 0; i < scenario->expect_count; ++i) {
        const vy_expect_def *e = &scenario->expect[i];
        const int is_timed = e->at == VY_AT_SETTLED || e->at == VY_AT_REACHED;
        results[i].skipped = !results[i].met && (is_timed ? e->after + e->within : e->after) > end_time;
    }
}

// The name of the drone, body or joint number `body`; "all" where that is none of them.
static const char *subject_name(const vy_scenario *s, const vy_quantity *q, int body)
{
    if (body < 0 || body >= (q->of_joint == NULL ? s->drone_count + s->body_count : s->joint_count))
        return "all";
    return q->of_joint == NULL ? vy_scenario_name_of(s, body) : s->joints[body].name;
}

const char *vy_expect_unit(const vy_scenario *scenario, int index)
{
    const vy_expect_def *e = &scenario->expect[index];
    int count;
    const vy_quantity *q = &vy_quantities(&count)[e->quantity];
    if (e->at == VY_AT_SETTLED || e->at == VY_AT_REACHED) return "s";
    return e->at == VY_AT_INTEGRAL ? q->integral_unit : q->unit;
}

// The unit in which the bounds were written.
static display_unit unit_of_bounds(const vy_expect_def *e, const vy_quantity *q)
{
    const char *si_unit = e->at == VY_AT_INTEGRAL ? q->integral_unit : q->unit;
    int count;
    const vy_unit *units = vy_units(&count);
    if (e->unit <= 0 || e->unit > count || strcmp(units[e->unit - 1].si, si_unit) != 0)
        return (display_unit){si_unit, 1.0};
    const vy_unit *u = &units[e->unit - 1];
    double scale = 1.0 / u->factor;
    for (int i = 0; i < u->power; ++i) scale /= 10.0;
    for (int i = 0; i > u->power; --i) scale *= 10.0;
    return (display_unit){u->name, scale};
}

const char *vy_expect_display_unit(const vy_scenario *scenario, int index, double *scale)
{
    FPU_SCOPE;
    const vy_expect_def *e = &scenario->expect[index];
    display_unit u = {"s", 1.0};
    if (e->at != VY_AT_SETTLED && e->at != VY_AT_REACHED)
        u = unit_of_bounds(e, &vy_quantities(&(int){0})[e->quantity]);
    *scale = u.scale;
    return u.name;
}

static void print_bound(vy_text *out, const char *word, double bound, display_unit unit)
{
    vy_text_printf(out, " %s %.6g%s%s", word, bound * unit.scale, *unit.name != '\0' ? " " : "", unit.name);
}

// When it is evaluated, as text.
static void print_evaluation_time(vy_text *out, const vy_expect_def *e, display_unit unit)
{
    switch (e->at) {
    case VY_AT_END: vy_text_puts(out, " at the end"); break;
    case VY_AT_RMS: vy_text_puts(out, " in the root mean square"); break;
    case VY_AT_SETTLED: vy_text_printf(out, " for good within %g s", e->within); break;
    case VY_AT_REACHED: vy_text_printf(out, " within %g s", e->within); break;
    case VY_AT_OVERSHOOT: print_bound(out, "beyond", e->target, unit); break;
    case VY_AT_INTEGRAL: vy_text_puts(out, " in all"); break;
    default: vy_text_puts(out, " throughout"); break;
    }
}

char *vy_expect_print(const vy_scenario *scenario, int index, const vy_expect_result *result)
{
    FPU_SCOPE;
    const vy_expect_def *e = &scenario->expect[index];
    int count;
    const vy_quantity *q = &vy_quantities(&count)[e->quantity];
    const vy_locale locale = vy_locale_enter();
    vy_text out = {0};
    const int body = q->of_joint == NULL ? e->body : e->joint;
    vy_text_printf(&out, "%s of %s", q->name, subject_name(scenario, q, body));
    const int is_timed = e->at == VY_AT_SETTLED || e->at == VY_AT_REACHED;
    const display_unit unit = unit_of_bounds(e, q);
    if (e->min > -DBL_MAX) print_bound(&out, "at least", e->min, unit);
    if (e->min > -DBL_MAX && e->max < DBL_MAX) vy_text_puts(&out, " and");
    if (e->max < DBL_MAX) print_bound(&out, "at most", e->max, unit);
    print_evaluation_time(&out, e, unit);
    if (e->after > 0.0) vy_text_printf(&out, " after %g s", e->after);
    if (result->skipped) {
        vy_text_printf(&out, ": skipped, the run ends at %g s", scenario->duration);
    } else if (!result->measured) {
        vy_text_puts(&out, ": not met, the run ended before");
    } else if (is_timed) {
        const char *not_met = e->at == VY_AT_SETTLED ? "not met, outside until" : "not met, took";
        vy_text_printf(&out, ": %s %.6g s", result->met ? "met, took" : not_met, result->worst);
    } else {
        vy_text_printf(&out, ": %s,", result->met ? "met" : "not met");
        print_bound(&out, e->at == VY_AT_THROUGHOUT ? "worst" : "was", result->worst, unit);
        vy_text_printf(&out, " at %.6g s", result->time);
        if (e->at != VY_AT_INTEGRAL && body < 0 &&
            (q->of_joint == NULL ? scenario->drone_count + (q->of_bodies ? scenario->body_count : 0)
                                 : scenario->joint_count) > 1)
            vy_text_printf(&out, " by %s", subject_name(scenario, q, (int)result->drone));
    }
    vy_locale_leave(locale);
    return vy_text_take(&out);
}
