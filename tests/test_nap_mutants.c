// test_nap_mutants.c - the bound without one of its terms is found out: the policy of the library states
// enough, a copy of it that forgets the disturbance does not.
#include "equations/multirotor.h"
// The mutant: everything below sees no bound of a disturbance's force.
#define effect_disturbance_bound(p, r) bound_of(0.0, 0.0)
#include "nap_flights.h"

// A body of 1 kg in empty space, pushed by 5e-4 N that is left out.
static void a_bound_without_the_disturbance_is_found_out(void **unused)
{
    (void)unused;
    vy_world_def wd = vy_default_world_def();
    wd.environment.gravity.uniform = (vy_vec3){0, 0, 0};
    wd.environment.atmosphere.mode = VY_ATMOSPHERE_NONE;
    wd.environment.nap.force_abs = 1e-3;
    vy_drone_def def = passive_body();
    def.imu.period = def.mocap.period = 0.0;
    def.rotor_speed = 0.0;
    vy_disturbance_def d = vy_default_disturbance_def();
    d.force = (vy_vec3){5e-4, 0, 0};
    double measured[4];
    const vy_certificate c = compare(&wd, &def, &d, measured);
    assert_true(measured[DEVIATION_POSITION] > 1e-4 && c.position >= measured[DEVIATION_POSITION]);

    vy_world *world = fly_in(&wd, &def);
    const vy_model *m = &world->model;
    const rotor_layout *layout = &m->drones[0].layout;
    const double still[VY_ROTOR_CAP] = {0.0};
    body_state s = world->drones[0].body;
    nap_state account;
    memset(&account, 0, sizeof account);
    uint64_t flags = EFFECTS_OF_BODIES;
    for (int look = 0; look < 100; ++look) {
        nap_inputs moment;
        memset(&moment, 0, sizeof moment);
        moment.time = 0.01 * look;
        moment.period = 0.01;
        moment.disturbance = 5e-4;
        moment.command = still;
        flags = nap_evaluate(&m->env, &m->params[0].nap, &m->params[0].plant, layout, &s, still, &moment,
                             flags, &account);
    }
    assert_true(account.deviation[DEVIATION_POSITION] < measured[DEVIATION_POSITION]);
    vy_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_bound_without_the_disturbance_is_found_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
