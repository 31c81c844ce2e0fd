// test_nap_bounds.c - no effect exceeds the bound that the negligibility policy trusts in.
//
// A case of the search follows from an array of numbers between 0 and 1, so that it can be changed a little
// and tried again: each effect's ratio of actual load to bound is driven up from many random starts.
#include "environment/nap.h"
#include "check.h"
#include "volery/environment.h"

enum { GENES = 320, STARTS = 60, CLIMB = 60 };

typedef struct genes {
    double value[GENES];
    int next;
} genes;

static double unit(genes *g)
{
    assert_true(g->next < GENES);
    return g->value[g->next++];
}

static double within(genes *g, double low, double high) { return low + (high - low) * unit(g); }
static double scaled(genes *g, double low, double high) { return low * pow(high / low, unit(g)); }

// Zero in one case of four.
static double amount(genes *g, double low, double high)
{
    const double x = scaled(g, low, high);
    return unit(g) < 0.25 ? 0.0 : x;
}

static vec3 axes(genes *g)
{
    const double x = within(g, -1, 1), y = within(g, -1, 1), z = within(g, -1, 1);
    const double length = sqrt(x * x + y * y + z * z) + 1e-9;
    return (vec3){x / length, y / length, z / length};
}

// A vector of any direction, and of a size as in amount().
static vec3 arrow(genes *g, double low, double high)
{
    const double size = amount(g, low, high);
    return vec3_scale(size, axes(g));
}

static quat attitude(genes *g)
{
    const vec3 axis = axes(g);
    return turn(within(g, 0.0, PI), axis.x, axis.y, axis.z);
}

static vec3 amounts(genes *g, double low, double high)
{
    const double max = amount(g, low, high), x = unit(g), y = unit(g), z = unit(g);
    return (vec3){max * x, max * y, max * z};
}

typedef struct search_case {
    environment_model env;
    multirotor_params p;
    rotor_layout layout;
    nap_params n;
    nap_inputs m;
    body_state s;
    double speed[ROTOR_CAP], command[ROTOR_CAP];
    rotor_air_state memory;
    vec3 wake; // direction of others' air
    double dt;
    int steps;
    vec3 push, spin, gust; // directions of what is held
    random_source r;       // of what changes from step to step
} search_case;

static double grid_samples[2 * 2 * 2 * 2 * 3];

static void make_wind(genes *g, environment_model *env)
{
    wind_params *w = &env->wind;
    const vec3 constant = arrow(g, 0.01, 20.0);
    w->x = constant.x;
    w->y = constant.y;
    w->z = constant.z;
    w->shear = (int)(3.99 * unit(g));
    const double angle = within(g, -PI, PI);
    w->shear_x = cos(angle);
    w->shear_y = sin(angle);
    w->shear_speed = within(g, -10.0, 10.0);
    w->shear_height = scaled(g, 1.0, 100.0);
    w->shear_exponent = within(g, 0.0, 0.5);
    w->shear_roughness = 0.03;
    w->gust_count = (int)(2.99 * unit(g));
    for (int i = 0; i < w->gust_count; ++i) {
        const vec3 v = arrow(g, 0.01, 20.0);
        const double start = within(g, -0.05, 0.05), rise = scaled(g, 1e-3, 0.1), fall = scaled(g, 1e-3, 0.1);
        w->gusts[i] = (wind_gust){v.x, v.y, v.z, start, rise, fall, within(g, 0.0, 0.02)};
    }
    wind_prepare(w);
    const double fastest = scaled(g, 0.01, 20.0), seed = unit(g);
    if (unit(g) < 0.3 && !env->planet.on) {
        random_source r = {(uint64_t)(1e15 * seed)};
        for (int i = 0; i < 48; i += 3) {
            const vec3 v = vec3_scale(0.57 * fastest, random_vec(&r, 1.0));
            grid_samples[i] = v.x;
            grid_samples[i + 1] = v.y;
            grid_samples[i + 2] = v.z;
        }
        w->grid =
            (wind_grid){grid_samples, 2, 2, 2, 2, -5.0, -5.0, 0.0, 0.0, 10.0, 10.0, 50.0, 0.05, fastest};
    }
    env->has_wind = 1;
    env->constant_wind = wind_constant(w);
}

static void make_surroundings(genes *g, environment_model *env)
{
    env->gravity.uniform = arrow(g, 1e-3, 20.0);
    env->air.mode = (int)(2.99 * unit(g));
    env->air.density = scaled(g, 0.01, 10.0);
    const double radius = scaled(g, 1e4, 6.4e6), flat = within(g, 0.0, 0.1),
                 rate = within(g, -500.0, 500.0) / radius;
    if (unit(g) < 0.4) {
        env->planet = (planet_params){1, radius, radius * (1.0 - flat), flat * (2.0 - flat), rate};
        env->gravity.body_count = 1;
        env->gravity.bodies[0] =
            (gravity_body){9.8 * radius * radius, 0.0, 0.0, 0.0, within(g, 0.0, 1e-2), radius};
    } else if (unit(g) < 0.3) { // a small and close attractor
        env->gravity.body_count = 1;
        const double gm = scaled(g, 1e3, 1e6);
        env->gravity.bodies[0] = (gravity_body){gm, 0.0, 0.0, -100.0, within(g, -0.1, 0.1), 50.0};
    }
    env->gravity.gradient = unit(g) < 0.5;
    make_wind(g, env);
    const vec3 field = arrow(g, 1e-6, 1e-3), light = arrow(g, 1e-6, 1e-3);
    memcpy(env->magnetic, &field, sizeof field);
    memcpy(env->radiation_pressure, &light, sizeof light);
}

// Parameters that a step of 1 ms can follow.
static void make_rotors(genes *g, double mass, double coef, double size, search_case *c)
{
    rotor_air_params *p = &c->p.effects.rotors;
    const double w = c->n.rotor_speed_max;
    c->n.rotors = 1;
    c->n.open_loop = 0;
    c->n.flat = !c->env.planet.on;
    p->radius = scaled(g, 1e-3, 0.3);
    p->drag_across = amount(g, 1e-4 * mass / w, 5.0 * mass / w);
    p->drag_along = amount(g, 1e-4 * mass / w, 5.0 * mass / w);
    p->flap = amount(g, 1e-4 * mass * size / w, mass * size / w);
    p->lift = amount(g, 1e-6 * mass, 1e-3 * mass);
    p->inflow = amount(g, 1e-4 * mass / w, mass / w);
    p->vortex_ring_loss = unit(g) < 0.5 ? unit(g) : 0.0;
    p->momentum_factor = scaled(g, 0.01, 1.0) * mass;
    p->inflow_decay = unit(g);
    p->ground = unit(g) < 0.5 && c->n.flat ? 1.0 : 0.0;
    p->inertia = amount(g, 1e-6 * mass * size / w, 0.1 * mass * size / w);
    c->p.curve.rise = scaled(g, 10.0, 1000.0);
    c->p.curve.fall = scaled(g, 10.0, 1000.0);
    blade_params *b = &p->blade;
    b->on = unit(g) < 0.3 ? 1.0 : 0.0;
    b->radius = p->radius;
    const double tip = w * p->radius + 100.0;
    b->half_rho_chord = scaled(g, 0.1, 10.0) * (coef * w * w) / (p->radius * tip * tip);
    b->slope = within(g, 2.0, 6.0);
    b->lift_max = within(g, 0.5, 1.5);
    b->drag_0 = within(g, 0.0, 0.1);
    b->drag_2 = within(g, 0.0, 2.0);
    for (int k = 0; k < BLADE_RADII; ++k) {
        const double pitch = within(g, 0.0, 0.5);
        b->pitch_sin[k] = sin(pitch);
        b->pitch_cos[k] = cos(pitch);
    }
    for (int i = 0; i < ROTOR_CAP; ++i) // what it induces in hover
        c->memory.inflow[i] = unit(g) * c->speed[i] * sqrt(0.5 * coef / p->momentum_factor);
    c->m.downwash = amount(g, 0.01, 20.0);
    c->wake = axes(g);
}

static void make_vehicle(genes *g, search_case *c)
{
    const double mass = scaled(g, 0.01, 10.0), size = mass * scaled(g, 1e-4, 1e-1);
    const double x = within(g, 1.0, 1.9), y = within(g, 1.0, 1.9), z = within(g, 1.0, 1.9);
    const mat3 turned = quat_matrix(attitude(g));
    const mat3 inertia =
        mat3_mul(mat3_mul(turned, mat3_diag(size * x, size * y, size * z)), mat3_transpose(turned));
    c->n.inertia_min = size * fmin(x, fmin(y, z)) * (1.0 - 1e-12);
    c->n.inertia_max = size * fmax(x, fmax(y, z)) * (1.0 + 1e-12);
    c->n.rotor_speed_max = scaled(g, 100.0, 3000.0);
    c->layout.count = (int)(8.99 * unit(g));
    c->n.rotor_count = (uint64_t)c->layout.count;
    const double lag = scaled(g, 1e-3, 0.1), arm = scaled(g, 1e-4, 0.3) * size / mass;
    const double coef = mass * scaled(g, 1.0, 10.0) / (c->n.rotor_speed_max * c->n.rotor_speed_max);
    for (int i = 0; i < c->layout.count; ++i) {
        c->layout.roll[i] = within(g, -arm, arm);
        c->layout.pitch[i] = within(g, -arm, arm);
        c->layout.yaw[i] = i % 2 ? 1.0 : -1.0;
        for (int k = 0; k < 3; ++k) {
            c->layout.axis[i][k] = k == 2 ? 0.8 : 0.6 / sqrt(2.0);
            c->layout.lever[i][k] = within(g, -arm, arm);
            c->layout.reaction[i][k] = c->layout.yaw[i] * c->layout.axis[i][k];
        }
        c->layout.thrust_scale[i] = c->layout.torque_scale[i] = within(g, 0.5, 1.5);
        c->layout.spin[i] = c->layout.yaw[i];
        const vec3 side = {0.8, 0.0, -0.6 / sqrt(2.0)}, hub = vec3_scale(arm, axes(g));
        memcpy(c->layout.hub[i], &hub, sizeof hub);
        for (int k = 0; k < 3; ++k) c->layout.side[i][k] = (&side.x)[k] / vec3_length(side);
        c->speed[i] = within(g, 0.0, c->n.rotor_speed_max);
        c->command[i] = within(g, 0.0, c->n.rotor_speed_max);
    }
    c->p = (multirotor_params){
        .body = {1.0 / mass, inertia, mat3_inverse(inertia)},
        .rotor = {coef, 0.1 * arm * coef, exp(-0.5 * c->dt / lag), exp(-c->dt / lag)},
        .effects = {.mass = mass, .inertia = inertia, .inertia_spread = c->n.inertia_max - c->n.inertia_min},
        .curve = {.linear = within(g, -0.1, 0.1) * coef * c->n.rotor_speed_max,
                  .cubic = within(g, -0.1, 0.1) * coef / c->n.rotor_speed_max,
                  .torque_ratio = 0.1 * arm,
                  .fall_half = exp(-0.25 * c->dt / lag),
                  .fall_full = exp(-0.5 * c->dt / lag)},
    };
    c->layout.general = unit(g) < 0.3;
    if (!c->layout.general) {
        c->p.curve.linear = c->p.curve.cubic = 0.0;
        for (int i = 0; i < ROTOR_CAP; ++i) c->layout.thrust_scale[i] = c->layout.torque_scale[i] = 1.0;
    }
    if (unit(g) < 0.5) make_rotors(g, mass, coef, size / mass, c);
    effect_params *e = &c->p.effects;
    e->linear_drag = amounts(g, 1e-4 * mass, 50.0 * mass);
    e->drag_area = amount(g, 1e-4 * mass, 0.3 * mass);
    e->lift_area = amount(g, 1e-4 * mass, 0.1 * mass);
    if (unit(g) < 0.5) e->lift_area = -e->lift_area;
    e->volume = amount(g, 1e-4 * mass, mass);
    e->pressure_centre = arrow(g, 1e-4 * size / mass, 0.3 * size / mass);
    e->rate_damping_area = amounts(g, 1e-4 * size, 0.3 * size);
    e->spin_damping = amounts(g, 1e-4 * size, 50.0 * size);
    e->density_ratio = unit(g) < 0.7 ? 1.0 : 0.0;
    e->dipole = arrow(g, 1e-3 * size, 1e3 * size);
    e->light_area = amount(g, 1e-2, 10.0);
}

static search_case make_case(genes *g)
{
    search_case c;
    memset(&c, 0, sizeof c);
    g->next = 0;
    c.dt = scaled(g, 1e-5, 1e-3);
    c.steps = 1 + (int)(19.99 * unit(g));
    c.m.period = c.steps * c.dt;
    c.n.open_loop = unit(g) < 0.5;
    make_surroundings(g, &c.env);
    make_vehicle(g, &c);
    c.s.position = vec3_scale(20.0, axes(g));
    c.s.position.z = scaled(g, 0.1, 3e4);
    if (c.env.wind.shear == WIND_SHEAR_LINEAR) c.s.position.z = scaled(g, 0.1, 3.0 * c.env.wind.shear_height);
    if (c.env.planet.on) {
        const double high = c.env.wind.shear == WIND_SHEAR_LINEAR ? 3.0 * c.env.wind.shear_height : 2e4;
        const double latitude = within(g, -1.57, 1.57), longitude = within(g, -PI, PI);
        c.s.position = planet_position(&c.env.planet, latitude, longitude, scaled(g, 0.1, high), 0.0);
        c.s.velocity = planet_ground_velocity(&c.env.planet, c.s.position);
    }
    c.s.velocity = vec3_add(c.s.velocity, arrow(g, 0.01, 100.0));
    c.s.attitude = attitude(g);
    c.s.rate = arrow(g, 0.01, 50.0);
    const double mass = c.p.effects.mass, size = c.n.inertia_min;
    c.m.disturbance = amount(g, 1e-3 * mass, 100.0 * mass);
    c.m.disturbance_torque = amount(g, 1e-3 * size, 100.0 * size);
    c.m.turbulence = amount(g, 0.01, 10.0);
    c.push = axes(g);
    c.spin = axes(g);
    c.gust = axes(g);
    c.r.state = (uint64_t)(1e15 * unit(g));
    return c;
}

// What is held over a step: as strong as declared, or a random share of it, in either frame.
static held_inputs hold(search_case *c, int step)
{
    const double share = random_bits(&c->r) % 3 ? 1.0 : random_in(&c->r, 0.0, 1.0);
    held_inputs h = {loads_zero(), vec3_scale(share * c->m.turbulence, c->gust), step * c->dt, 0.0};
    const vec3 force = vec3_scale(share * c->m.disturbance, c->push),
               torque = vec3_scale(share * c->m.disturbance_torque, c->spin);
    if (random_bits(&c->r) % 2) {
        h.disturbance.force_world = force;
        h.disturbance.torque_world = torque;
    } else {
        h.disturbance.force_body = force;
        h.disturbance.torque_body = torque;
    }
    c->memory.downwash = vec3_scale(share * c->m.downwash, c->wake);
    return h;
}

static effect_bound loads_of(const search_case *c, const held_inputs *held, uint64_t flags, vec3 *force,
                             vec3 *torque)
{
    body_loads rotors = loads_zero();
    if (c->layout.general)
        rotor_add_general(&c->layout, &c->p.rotor, &c->p.curve, c->speed, c->layout.count, &rotors);
    else
        rotor_add(&c->layout, &c->p.rotor, c->speed, c->layout.count, &rotors);
    body_loads l = rotors;
    const mat3 rotation = quat_matrix(c->s.attitude);
    const rotor_inputs scene = {&c->layout, &c->p.rotor, &c->p.curve,     &c->memory,
                                c->speed,   c->command,  c->layout.count, NULL};
    if (!c->n.rotors) flags &= EFFECTS_OF_BODIES;
    const vec3 g = effects_add_parts(&c->env, &c->p.effects, held, &c->s, rotation, held->time, flags, &scene,
                                     VARIANT_GENERAL, NULL, &l);
    const vec3 body =
        vec3_add(mat3_mul_vec(rotation, vec3_sub(l.force_body, rotors.force_body)), l.force_world);
    *force = vec3_add_scaled(body, c->p.effects.mass, g);
    *torque = vec3_add(vec3_sub(l.torque_body, rotors.torque_body), mat3_tmul_vec(rotation, l.torque_world));
    return (effect_bound){vec3_length(*force), vec3_length(*torque)};
}

// The actual loads of effect `i`. Wind and wakes have none of their own: what they change in all others
// counts.
static effect_bound actual(const search_case *c, const held_inputs *held, int i)
{
    vec3 force, torque, force_calm, torque_calm;
    const uint64_t air = EFFECT_BIT(wind) | EFFECT_BIT(downwash), bit = (uint64_t)1 << i;
    if ((bit & air) == 0) return loads_of(c, held, bit | air, &force, &torque);
    (void)loads_of(c, held, EFFECTS_ALL, &force, &torque);
    (void)loads_of(c, held, EFFECTS_ALL & ~bit, &force_calm, &torque_calm);
    return (effect_bound){check_distance(force, force_calm), check_distance(torque, torque_calm)};
}

// What rounding can leave of a load that is a difference of larger ones.
static double rounding(const search_case *c) { return 1e-13 * c->p.effects.mass * 1e3; }

static double ratio_of(double value, double bound, double noise)
{
    if (value <= noise) return 0.0;
    return bound > 0.0 ? (value - noise) / bound : INFINITE;
}

// Fly the strict motion until the next evaluation. The largest ratio of each effect's load to its bound.
static void fly_case(genes *g, double ratio[EFFECT_COUNT], int only)
{
    search_case c = make_case(g);
    const double exact[DEVIATION_COUNT] = {0};
    c.m.command = c.command;
    const nap_reach reach = nap_reach_of(&c.env, &c.n, &c.p, &c.layout, &c.s, c.speed, &c.m, exact);
    const nap_bounds bounds = nap_bounds_of(&c.p.effects, &reach.effect);
    for (int i = 0; i < EFFECT_COUNT; ++i) ratio[i] = 0.0;
    for (int step = 0; step <= c.steps; ++step) {
        const held_inputs held = hold(&c, step);
        for (int i = 0; i < EFFECT_COUNT; ++i) {
            if (only >= 0 && only != i) continue;
            const effect_bound a = actual(&c, &held, i);
            ratio[i] = fmax(ratio[i], ratio_of(a.force, bounds.effect[i].force, rounding(&c)));
            ratio[i] = fmax(ratio[i], ratio_of(a.torque, bounds.effect[i].torque, rounding(&c)));
        }
        if (step == c.steps) break;
        for (int k = 0; k < c.layout.count && !c.n.open_loop; ++k) { // full, none, or something in between
            const uint64_t dice = random_bits(&c.r) % 4;
            c.command[k] = c.n.rotor_speed_max * (dice == 3 ? random_in(&c.r, 0, 1) : dice ? 1.0 : 0.0);
        }
        const uint64_t flags = c.n.rotors ? EFFECTS_ALL : EFFECTS_OF_BODIES;
        const multirotor_inputs in = {.layout = &c.layout,
                                      .params = &c.p,
                                      .env = &c.env,
                                      .held = held,
                                      .flags = flags,
                                      .memory = &c.memory};
        rotor_air_state next = c.memory;
        if (c.n.rotors) multirotor_inflow(&in, &c.s, c.speed, &next);
        multirotor_step_variant(&in, c.dt, c.command, c.layout.count, VARIANT_GENERAL, &c.s, c.speed);
        c.memory = next;
    }
}

static genes random_genes(random_source *r)
{
    genes g;
    for (int i = 0; i < GENES; ++i) g.value[i] = random_in(r, 0.0, 1.0);
    g.next = 0;
    return g;
}

static genes changed(random_source *r, const genes *from)
{
    genes g = *from;
    const int count = 1 + (int)(random_bits(r) % 8);
    for (int i = 0; i < count; ++i) {
        double *v = &g.value[random_bits(r) % GENES];
        const double step = random_bits(r) % 2 ? random_in(r, -0.05, 0.05) : random_in(r, -1.0, 1.0);
        *v = fmin(fmax(*v + step, 0.0), 1.0 - 1e-12);
    }
    return g;
}

// What the integrator's own error leaves of a bound that is reached exactly.
#define EXCESS (1.0 + 1e-8)

// Ruling 19: an effect cannot exceed its bound until the next evaluation. Many random flights, then for each
// effect flights that come ever closer to its bound.
static void ruling_19_no_effect_exceeds_its_bound(void **unused)
{
    (void)unused;
    random_source r = {501};
    double closest[EFFECT_COUNT] = {0}, ratio[EFFECT_COUNT];
    for (int n = 0; n < 20000; ++n) {
        genes g = random_genes(&r);
        fly_case(&g, ratio, -1);
        for (int i = 0; i < EFFECT_COUNT; ++i) {
            closest[i] = fmax(closest[i], ratio[i]);
            if (ratio[i] > EXCESS)
                fail_msg("case %d: %s is %.17g of its bound", n, vy_effect_name(i), ratio[i]);
        }
    }
    for (int i = 0; i < EFFECT_COUNT; ++i) {
        for (int start = 0; start < STARTS; ++start) {
            genes best = random_genes(&r);
            fly_case(&best, ratio, i);
            double max = ratio[i];
            for (int n = 0; n < CLIMB; ++n) {
                genes g = changed(&r, &best);
                fly_case(&g, ratio, i);
                if (ratio[i] > EXCESS)
                    fail_msg("start %d: %s is %.17g of its bound", start, vy_effect_name(i), ratio[i]);
                if (ratio[i] < max) continue;
                max = ratio[i];
                best = g;
            }
            closest[i] = fmax(closest[i], max);
        }
        print_message("%-18s at most %.4f of its bound\n", vy_effect_name(i), closest[i]);
        if (i == EFFECT_battery) continue; // no load of its own
        // A bound that is never approached would hide a mistake. Those of rotors add up what cannot come
        // together.
        assert_true(closest[i] > ((EFFECTS_OF_BODIES >> i & 1) != 0 ? 0.9 : 0.3));
    }
}

// Gravity within a distance never differs by more than its gradient's bound says.
static void gravity_changes_within_its_gradient(void **unused)
{
    (void)unused;
    random_source r = {502};
    double closest = 0.0;
    for (int n = 0; n < 200000; ++n) {
        gravity_params p = {.body_count = 1};
        p.bodies[0] = (gravity_body){1e6, 1.0, 2.0, 3.0, n % 4 ? random_in(&r, -0.5, 0.5) : 0.0, 50.0};
        const vec3 centre = {1.0, 2.0, 3.0};
        const quat first = random_attitude(&r);
        const double second = random_in(&r, 50.0, 300.0);
        const vec3 at = vec3_add_scaled(centre, second, quat_rotate(first, (vec3){1, 0, 0}));
        const double far = random_in(&r, 1e-3, 5.0);
        const vec3 to = vec3_add_scaled(at, far, quat_rotate(random_attitude(&r), (vec3){1, 0, 0}));
        const vec3 a = gravity_at(&p, at), b = gravity_at(&p, to);
        const double share = check_distance(a, b) / (far * gravity_gradient_bound(&p, at, far));
        closest = fmax(closest, share);
        assert_true(share <= 1.0);
        assert_true(vec3_length(b) <= gravity_bound(&p, at, far));
    }
    assert_true(closest > 0.9);
}

// Between any two places the wind of a grid differs by no more than its slope times their distance. Two nodes
// with opposite winds reach it along each axis.
static void wind_changes_within_the_slope_of_its_grid(void **unused)
{
    (void)unused;
    const double spacing[3] = {2.0, 5.0, 11.0}, fastest = 7.0;
    random_source r = {503};
    double samples[2 * 2 * 2 * 3];
    for (int axis = 0; axis < 3; ++axis) {
        const vec3 wind = vec3_scale(fastest, random_vec(&r, 1.0));
        const double opposite[6] = {wind.x, wind.y, wind.z, -wind.x, -wind.y, -wind.z};
        const double d = spacing[axis];
        const wind_params p = {.grid = {.velocity = opposite,
                                        .nx = axis == 0 ? 2 : 1,
                                        .ny = axis == 1 ? 2 : 1,
                                        .nz = axis == 2 ? 2 : 1,
                                        .nt = 1,
                                        .dx = spacing[0],
                                        .dy = spacing[1],
                                        .dz = spacing[2],
                                        .dt = 1.0,
                                        .speed_max = vec3_length(wind)}};
        const vec3 next = vec3_make(axis == 0 ? d : 0.0, axis == 1 ? d : 0.0, axis == 2 ? d : 0.0);
        const double slope =
            check_distance(wind_grid_at(&p.grid, vec3_zero(), 0.0), wind_grid_at(&p.grid, next, 0.0)) / d;
        assert_near(wind_slope_bound(&p, 1.0), slope, 1e-12);
    }
    wind_params late = {.grid = {samples, 1, 1, 1, 2, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 3.0, fastest}};
    for (int i = 0; i < 6; ++i) samples[i] = (i % 3 == 0 ? fastest : 0.0) * (i < 3 ? 1.0 : -1.0);
    const double change = check_distance(wind_grid_at(&late.grid, vec3_zero(), 0.0),
                                         wind_grid_at(&late.grid, vec3_zero(), 0.5)); // of a period of 0.5 s
    assert_near(nap_wind_change(&late, 0.5, 0.0, 0.0, fastest), change, 1e-12);
    for (int i = 0; i < 24; ++i) samples[i] = random_in(&r, -1.0, 1.0);
    const wind_params p = {
        .grid = {samples, 2, 2, 2, 1, 0.0, 0.0, 0.0, 0.0, spacing[0], spacing[1], spacing[2], 1.0, 1.8}};
    for (int n = 0; n < 10000; ++n) {
        const vec3 a = vec3_add(vec3_make(1.0, 2.5, 5.5), random_vec(&r, 8.0)),
                   b = vec3_add(a, random_vec(&r, 1.0));
        assert_true(check_distance(wind_grid_at(&p.grid, a, 0.0), wind_grid_at(&p.grid, b, 0.0)) <=
                    wind_slope_bound(&p, 1.0) * check_distance(a, b));
    }
}

// What is left out across the end of the air is told once: with the bound below it, or where it is computed.
static void thin_air_is_told_once(void **unused)
{
    (void)unused;
    random_source r = {505};
    int told = 0;
    for (int n = 0; n < 200; ++n) {
        genes g = random_genes(&r);
        search_case c = make_case(&g);
        const double exact[DEVIATION_COUNT] = {0};
        c.env.air.mode = ATMOSPHERE_LAYERED;
        c.m.command = c.command;
        nap_reach reach = nap_reach_of(&c.env, &c.n, &c.p, &c.layout, &c.s, c.speed, &c.m, exact);
        reach.max_distance = 10.0;
        for (int where = -1; where <= 1; ++where) {
            reach.altitude = AIR_TOP + 5.0 + 20.0 * where; // below, across and above
            nap_state off = {.impulse = {0}}, on = {.impulse = {0}};
            nap_add_thin_air(&c.env, &c.n, &c.p, &reach, 0.1, 0, &off);
            nap_add_thin_air(&c.env, &c.n, &c.p, &reach, 0.1, EFFECTS_ALL, &on);
            for (int i = 0; i < EFFECT_COUNT; ++i) {
                assert_near(off.impulse[i], where == 1 ? on.impulse[i] : 0.0, 0.0);
                if (where == -1) assert_near(on.impulse[i], 0.0, 0.0);
                told += on.impulse[i] > 0.0;
            }
        }
    }
    assert_true(told > 300);
}

// The slope of a shear that is bounded is that of its profile, and what is steepest at the ground is not
// below it higher up.
static void wind_changes_within_the_slope_of_its_shear(void **unused)
{
    (void)unused;
    random_source r = {504};
    for (int n = 0; n < 200; ++n) {
        wind_params p = {.shear = n % 3 == 0   ? WIND_SHEAR_LINEAR
                                  : n % 3 == 1 ? WIND_SHEAR_POWER
                                               : WIND_SHEAR_LOGARITHMIC,
                         .shear_speed = random_in(&r, -10.0, 10.0),
                         .shear_height = random_in(&r, 2.0, 50.0),
                         .shear_exponent = random_in(&r, 0.1, 0.9),
                         .shear_roughness = 0.03};
        wind_prepare(&p);
        const double low = random_in(&r, 0.5, 40.0), h = 1e-5 * low;
        const double slope = fabs(wind_shear_speed(&p, low + h) - wind_shear_speed(&p, low)) / h;
        const double bound = wind_slope_bound(&p, low);
        assert_true(bound >= slope * (1.0 - 1e-9) && bound <= slope * (1.0 + 1e-4));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ruling_19_no_effect_exceeds_its_bound),
        cmocka_unit_test(gravity_changes_within_its_gradient),
        cmocka_unit_test(wind_changes_within_the_slope_of_its_grid),
        cmocka_unit_test(wind_changes_within_the_slope_of_its_shear),
        cmocka_unit_test(thin_air_is_told_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
