// test_budget.c - the negligibility policy with a budget: what it states is true, it spends what it may, and
// says when it cannot keep it.
//
// By default a slice of the flights; `test_budget 2000` flies 2,000.
#include "nap_flights.h"
#include "scenario_text.h"

static int flights = 200;

static vy_drone_state end_of(const vy_world_def *def, const vy_drone_def *drone, const vy_disturbance_def *d,
                             int strict, uint64_t steps, vy_certificate *c)
{
    vy_world_def wd = *def;
    wd.environment.nap.strict = strict;
    vy_world *world = fly_in(&wd, drone);
    if (d != NULL) assert_int_equal(vy_world_add_disturbance(world, d, NULL), VY_OK);
    (void)vy_world_advance(world, steps);
    *c = certificate_of(world);
    const vy_drone_state s = state_of(world, 0);
    vy_world_destroy(world);
    return s;
}

static vy_disturbance_def random_push(random_source *r)
{
    vy_disturbance_def d = vy_default_disturbance_def();
    const double force = scattered(r, 1e-7, 1e-2), torque = scattered(r, 1e-10, 1e-5);
    d.force = ball(r, force);
    d.torque = ball(r, torque);
    return d;
}

// Free flights of a second, each against the strict one: what is stated is true, and what is kept is within
// the budget. Most leave something out; few have to say that growth broke it.
static void free_flights_keep_their_budget(void **unused)
{
    (void)unused;
    random_source r = {901};
    int some = 0, broken = 0;
    for (int n = 0; n < flights; ++n) {
        vy_world_def wd = vy_default_world_def();
        random_environment(&r, &wd.environment);
        vy_budget_def *b = &wd.environment.nap.budget;
        b->duration = 1.0;
        b->position = scattered(&r, 1e-5, 1e-1);
        b->attitude = chance(&r, 0.7) ? scattered(&r, 1e-4, 1e-1) : VY_BUDGET_ANY;
        vy_drone_def drone = random_drone(&r, &wd.environment);
        const double calm = random_in(&r, 0.0, 1.0);
        drone.rate = vec3_scale(calm, drone.rate);
        const vy_disturbance_def d = random_push(&r);
        vy_certificate c, none;
        const vy_drone_state x = end_of(&wd, &drone, &d, 0, 1000, &c);
        const vy_drone_state y = end_of(&wd, &drone, &d, 1, 1000, &none);
        const double far = check_distance(x.position, y.position), turn = check_angle(x.attitude, y.attitude);
        const double slack = wd.environment.planet.radius > 0.0 ? 1e-8 : 1e-11;
        if (!(far <= c.position + slack && turn <= c.angle + 1e-11))
            fail_msg("flight %d: %g m, %g rad apart, stated %g, %g", n, far, turn, c.position, c.angle);
        assert_int_equal(c.budget.standing == VY_BUDGET_WITHIN,
                         c.position <= b->position && c.angle <= b->attitude);
        some += c.total_impulse + c.total_angular_impulse > 0.0;
        broken += c.budget.standing == VY_BUDGET_EXCEEDED;
    }
    print_message("%d flights, %d left something out, %d broke their budget\n", flights, some, broken);
    assert_true(some * 10 >= flights * 5);
    assert_true(broken * 20 <= flights);
}

static vy_budget_def budget(double over, double position, double attitude)
{
    return (vy_budget_def){over, position, attitude};
}

// A ball of 1 kg that falls through thin air for a minute: what is left out is all it may spend on, and spent
// and left are what is allowed.
static void spent_and_left_are_the_budget(void **unused)
{
    (void)unused;
    vy_world_def wd = vy_default_world_def();
    wd.dt = 0.01;
    wd.environment.gravity.uniform = (vy_vec3){0, 0, 0};
    wd.environment.nap.budget = budget(60.0, 0.01, 1e-3);
    vy_drone_def def = passive_body();
    def.imu.period = def.mocap.period = 0.0;
    def.rotor_speed = 0.0;
    vy_disturbance_def d = vy_default_disturbance_def();
    vy_certificate c, none;
    for (int large = 0; large < 2; ++large) {
        d.force = (vy_vec3){large ? 1e-4 : 1e-6, 0, 0}; // 18 cm or 1.8 mm after a minute
        const vy_drone_state x = end_of(&wd, &def, &d, 0, 6000, &c),
                             y = end_of(&wd, &def, &d, 1, 6000, &none);
        const double far = check_distance(x.position, y.position);
        assert_int_equal(c.budget.standing, VY_BUDGET_WITHIN);
        assert_near(c.position + c.budget.position_left, 0.01, 1e-15);
        assert_near(c.angle + c.budget.angle_left, 1e-3, 1e-15);
        assert_true(c.horizon == 60.0 && far <= c.position + 1e-11);
        if (large) assert_true(c.total_impulse < 0.5 * 60e-4 && far < 0.01); // it fits late alone
        if (!large) assert_true(far > 1.7e-3 && c.position < 2.0 * far);
    }
}

// A weak force on a free brick is neglected; then a torque that begins later spins it up: its tumbling takes
// the two motions apart, the run says when, and nothing is left out from there on.
static void growth_that_breaks_it_is_told(void **unused)
{
    (void)unused;
    vy_world_def wd = vy_default_world_def();
    wd.environment.atmosphere.mode = VY_ATMOSPHERE_NONE;
    wd.environment.magnetic_field = (vy_vec3){1e-7, 0, 0};
    wd.environment.nap.budget = budget(5.0, VY_BUDGET_ANY, 1e-3);
    vy_drone_def def = passive_body();
    def.imu.period = def.mocap.period = 0.0;
    def.rotor_speed = 0.0;
    def.vehicle.inertia = (vy_mat3){{{0.01, 0, 0}, {0, 0.02, 0}, {0, 0, 0.03}}};
    def.vehicle.dipole = (vy_vec3){0, 3.0, 0};
    vy_disturbance_def d = vy_default_disturbance_def();
    d.start = 2.0;
    d.duration = 1.0;
    d.torque = (vy_vec3){0.01, 0.2, 0.02};
    vy_world *world = fly_in(&wd, &def);
    assert_int_equal(vy_world_add_disturbance(world, &d, NULL), VY_OK);
    (void)vy_world_advance(world, 1900);
    assert_int_equal(certificate_of(world).budget.standing, VY_BUDGET_WITHIN);
    assert_true(certificate_of(world).total_angular_impulse > 0.0);
    (void)vy_world_advance(world, 3000);
    const vy_certificate c = certificate_of(world);
    assert_int_equal(c.budget.standing, VY_BUDGET_EXCEEDED);
    assert_true(c.budget.exceeded_time > 2.0 && c.budget.exceeded_time < 4.9 && c.angle > 1e-3);
    assert_true(c.budget.angle_left == 0.0);
    assert_true((c.effects & EFFECT_BIT(magnetic)) != 0);
    vy_world_destroy(world);
}

// Where nothing is known of how errors grow, none is made: the run is the strict one, and says so.
static void no_bound_neglects_nothing(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < 2; ++kind) {
        vy_world_def wd = vy_default_world_def();
        wd.environment.nap.budget = budget(10.0, 0.1, 0.1);
        wd.environment.wind.turbulence.intensity = kind == 0 ? 0.5 : 0.0;
        vy_drone_def def = kind == 0 ? passive_body() : vy_default_drone_def();
        def.vehicle.area = 0.01;
        def.vehicle.cd = 1.0;
        if (kind == 1) def.estimator.kind = VY_ESTIMATOR_EKF;
        vy_certificate c, none;
        const vy_drone_state x = end_of(&wd, &def, NULL, 0, 500, &c),
                             y = end_of(&wd, &def, NULL, 1, 500, &none);
        assert_int_equal(c.budget.standing, VY_BUDGET_NO_BOUND);
        assert_true(c.total_impulse == 0.0 && c.total_angular_impulse == 0.0);
        assert_memory_equal(&x.position, &y.position, sizeof x.position);
    }
}

// A state goes on with the same bits from a snapshot, the plan for the budget included.
static void budgets_are_state(void **unused)
{
    (void)unused;
    random_source r = {905};
    vy_world_def wd = vy_default_world_def();
    wd.environment.nap.budget = budget(1.0, 1e-3, 1e-2);
    const vy_drone_def drone = random_drone(&r, &wd.environment);
    vy_world *a = fly_in(&wd, &drone), *b = fly_in(&wd, &drone);
    (void)vy_world_advance(a, 333);
    void *block = malloc(vy_world_state_size(a));
    vy_world_save(a, block);
    assert_int_equal(vy_world_restore(b, block, vy_world_state_size(a), NULL), VY_OK);
    (void)vy_world_advance(a, 500);
    (void)vy_world_advance(b, 500);
    assert_true(vy_world_hash(a) == vy_world_hash(b));
    free(block);
    vy_world_destroy(a);
    vy_world_destroy(b);
}

static void bad_budgets_are_named(void **unused)
{
    (void)unused;
    static const struct {
        const char *budget, *said;
    } cases[] = {
        {"{position: 0, over: 1 s}", "3:34: position must be between 1e-09 and 1e+12 m, got 0"},
        {"{position: 1 cm, over: 0.1 ms}", "3:46: nap.budget.over is shorter than a step, 0.001 s: 0.0001 s"},
        {"{position: 2e-9, over: 1 s}",
         "3:34: nap.budget.position is below what strict runs achieve, 1e-08 m: 2e-09 m"},
        {"{attitude: 2e-9, over: 1 s}",
         "3:34: nap.budget.attitude is below what strict runs achieve, 1e-08 rad: 2e-09 rad"},
        {"{position: 1 cm}", "3:34: nap.budget needs `over`: at the end of which time?"},
        {"{over: 1 s}", "3:30: nap.budget needs a position or an attitude"},
        {"{position: 1 cm, over: -1 s}", "3:46: over must be"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        char text[200], want[160], *said;
        snprintf(text, sizeof text, "volery: 1\ndrones: [{}]\nworld: {nap: {budget: %s}}\n", cases[i].budget);
        snprintf(want, sizeof want, "s.yaml:%s", cases[i].said);
        vy_scenario *s = read_with(text, NULL, &said);
        assert_null(s);
        if (strncmp(said, want, strlen(want)) != 0) fail_msg("%s\nwanted %s", said, want);
        free(said);
    }
    vy_scenario_destroy(
        read_good("volery: 1\ndrones: [{}]\nworld: {nap: {budget: {position: 1 cm, attitude: 0.1 deg, "
                  "over: 60 s}}}\n"));
}

int main(int argc, char **argv)
{
    if (argc > 1) flights = atoi(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_flights_keep_their_budget),
        cmocka_unit_test(spent_and_left_are_the_budget),
        cmocka_unit_test(growth_that_breaks_it_is_told),
        cmocka_unit_test(no_bound_neglects_nothing),
        cmocka_unit_test(budgets_are_state),
        cmocka_unit_test(bad_budgets_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
