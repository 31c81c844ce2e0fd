// print.c - the fitted vehicle as a vehicle file: what was found, how surely, and what it predicts.
#include "base/assert.h"
#include "base/real.h"
#include "fit/parameter.h"
#include "scenario/number.h"

static const vy_fit_parameter *parameter_of(const vy_fit_result *r, int id)
{
    VY_ASSERT(id < r->parameter_count);
    return &r->parameters[id];
}

static int is_found(const vy_fit_result *r, int id) { return parameter_of(r, id)->status == VY_FIT_FOUND; }

static void put_interval(FILE *out, const vy_fit_result *r, int id)
{
    const vy_fit_parameter *p = parameter_of(r, id);
    fprintf(out, "%.4g to %.4g", p->low, p->high);
}

// "key: value # unit, 95 %: low to high".
static void put_number(FILE *out, const vy_fit_result *r, int id, const char *key, double value)
{
    const vy_fit_parameter *p = parameter_of(r, id);
    if (!is_found(r, id)) return;
    fprintf(out, "%s: %.9g # %s, 95 %%: ", key, value, p->unit);
    put_interval(out, r, id);
    fputs(p->is_relative_to_izz ? " for this moment of inertia about z\n" : "\n", out);
}

static void put_vector(FILE *out, const vy_fit_result *r, int first_id, const char *key, vy_vec3 value)
{
    static const char axes[] = "xyz";
    if (!is_found(r, first_id) && !is_found(r, first_id + 1) && !is_found(r, first_id + 2)) return;
    fprintf(out, "%s: [%.9g, %.9g, %.9g] # %s, 95 %%:", key, value.x, value.y, value.z,
            parameter_of(r, first_id)->unit);
    for (int a = 0; a < 3; ++a) {
        fprintf(out, "%s %c ", a > 0 ? ";" : "", axes[a]);
        if (is_found(r, first_id + a))
            put_interval(out, r, first_id + a);
        else
            fputs("as in the base", out);
    }
    fputs("\n", out);
}

static void put_inertia(FILE *out, const vy_fit_result *r)
{
    const vy_mat3 *inertia = &r->vehicle.inertia;
    if (!is_found(r, FIT_INERTIA_X) && !is_found(r, FIT_INERTIA_Y) && !is_found(r, FIT_INERTIA_Z)) return;
    fprintf(out, "inertia: [%.9g, %.9g, %.9g", inertia->m[0][0], inertia->m[1][1], inertia->m[2][2]);
    if (inertia->m[0][1] != 0.0 || inertia->m[0][2] != 0.0 || inertia->m[1][2] != 0.0)
        fprintf(out, ", %.9g, %.9g, %.9g", inertia->m[0][1], inertia->m[0][2], inertia->m[1][2]);
    fputs("] # kg m^2, 95 %:", out);
    for (int a = 0; a < 3; ++a) {
        fprintf(out, "%s %c ", a > 0 ? ";" : "", 'x' + a);
        if (is_found(r, FIT_INERTIA_X + a))
            put_interval(out, r, FIT_INERTIA_X + a);
        else
            fputs(a < 2 ? "as in the base" : "the base's share of x and y", out);
    }
    fputs("\n", out);
}

static void put_rotors(FILE *out, const vy_fit_result *r)
{
    const vy_vehicle_def *v = &r->vehicle;
    if (!is_found(r, FIT_CANT)) return;
    fputs("rotors: # they lean around their arms by ", out);
    fprintf(out, "%.4g rad, 95 %%: ", parameter_of(r, FIT_CANT)->value);
    put_interval(out, r, FIT_CANT);
    fputs("\n", out);
    for (int i = 0; i < v->rotor_count; ++i) {
        const vy_rotor_def *k = &v->rotors[i];
        fprintf(out, "  - {position: [%.9g, %.9g, %.9g], axis: [%.9g, %.9g, %.9g], spin: %s", k->position.x,
                k->position.y, k->position.z, k->axis.x, k->axis.y, k->axis.z, k->spin > 0 ? "ccw" : "cw");
        if (k->thrust_coef > 0.0) fprintf(out, ", thrust_coef: %.9g", k->thrust_coef);
        if (k->torque_coef > 0.0) fprintf(out, ", torque_coef: %.9g", k->torque_coef);
        fputs("}\n", out);
    }
}

static void put_rotor_air(FILE *out, const vy_fit_result *r)
{
    if (!is_found(r, FIT_ROTOR_INERTIA) && !is_found(r, FIT_ROTOR_DRAG)) return;
    fputs("rotor_air:\n", out);
    put_number(out, r, FIT_ROTOR_INERTIA, "  inertia", r->vehicle.rotor_air.inertia);
    put_number(out, r, FIT_ROTOR_DRAG, "  drag", r->vehicle.rotor_air.drag);
}

static void put_row(FILE *out, const char *name, const double *errors, double factor)
{
    fprintf(out, "#   %-28s", name);
    for (int h = 0; h < VY_FIT_HORIZON_COUNT; ++h) fprintf(out, " %9.3g", factor * errors[h]);
    fputs("\n", out);
}

static void put_errors(FILE *out, const vy_fit_result *r)
{
    const struct {
        const char *name;
        const vy_fit_errors *errors;
    } predictors[] = {{"this vehicle", &r->fitted},
                      {"its base", &r->unfitted},
                      {"hold", &r->hold},
                      {"constant velocity and rate", &r->constant_rate}};
    if (!r->has_held_out) {
        fputs("# Nothing of the flight was held out: how well it predicts is not known.\n", out);
        return;
    }
    fprintf(out, "# Held out, %.4g to %.4g s: root mean square errors of %d predictions after", r->def.to,
            r->duration, r->fitted.count);
    for (int h = 0; h < VY_FIT_HORIZON_COUNT; ++h)
        fprintf(out, "%s %g", h > 0 ? "," : "", vy_fit_horizons[h]);
    fputs(" s\n", out);
    for (int kind = 0; kind < 5; ++kind) {
        static const char *const titles[] = {"rate, rad/s", "attitude, deg", "specific force, m/s^2",
                                             "velocity, m/s", "position, m"};
        const double first_errors[] = {r->fitted.rate[0], r->fitted.attitude[0], r->fitted.accel[0],
                                       r->fitted.velocity[0], r->fitted.position[0]};
        if (!(first_errors[kind] == first_errors[kind])) continue; // not recorded
        fprintf(out, "# %s\n", titles[kind]);
        for (int i = 0; i < 4; ++i) {
            const double *const predictor_errors[] = {
                predictors[i].errors->rate, predictors[i].errors->attitude, predictors[i].errors->accel,
                predictors[i].errors->velocity, predictors[i].errors->position};
            put_row(out, predictors[i].name, predictor_errors[kind], kind == 1 ? 57.29577951308232 : 1.0);
        }
    }
}

static void put_sensors(FILE *out, const vy_fit_result *r)
{
    for (int id = FIT_IMU_DELAY; id <= FIT_GYRO_Z; ++id) {
        const vy_fit_parameter *p = parameter_of(r, id);
        if (!is_found(r, id)) continue;
        fprintf(out, "# %s: %.4g %s, 95 %%: ", p->name, p->value, p->unit);
        put_interval(out, r, id);
        fputs("\n", out);
    }
}

void vy_fit_print(const vy_fit_result *r, FILE *out)
{
    FPU_SCOPE;
    const vy_locale locale = vy_locale_enter();
    const vy_vehicle_def *v = &r->vehicle;
    fprintf(out,
            "# Fitted by volery fit on %.4g to %.4g s of a flight. Intervals are of 95 %%; motion tells "
            "ratios to the\n"
            "# mass, which was given. Body axes: x forward, y left, z up.\n",
            r->def.from, r->def.to);
    fprintf(out, "base: %s\nname: fitted\nmass: %.9g kg\n", r->base, v->mass);
    put_inertia(out, r);
    put_vector(out, r, FIT_CENTRE_X, "centre_of_mass", v->centre_of_mass);
    put_rotors(out, r);
    put_number(out, r, FIT_THRUST_COEF, "thrust_coef", v->thrust_coef);
    put_number(out, r, FIT_THRUST_LINEAR, "thrust_linear", v->thrust_linear);
    if (is_found(r, FIT_TORQUE) || is_found(r, FIT_THRUST_COEF)) {
        fprintf(out, "torque_coef: %.9g # N m s^2: torque over thrust %.4g m", v->torque_coef,
                v->torque_coef / v->thrust_coef);
        if (is_found(r, FIT_TORQUE)) {
            fputs(", 95 %: ", out);
            put_interval(out, r, FIT_TORQUE);
            if (parameter_of(r, FIT_TORQUE)->is_relative_to_izz)
                fputs(" for this moment of inertia about z", out);
        }
        fputs("\n", out);
    }
    put_number(out, r, FIT_LAG_UP, "motor_lag", v->motor_lag);
    put_number(out, r, FIT_LAG_DOWN, "motor_lag_down", v->motor_lag_down);
    put_vector(out, r, FIT_DRAG_X, "drag_linear", v->drag_linear);
    put_rotor_air(out, r);
    fputs("\n", out);
    put_sensors(out, r);
    for (int i = 0; i < r->combination_count; ++i) fprintf(out, "# Not told: %s.\n", r->combinations[i]);
    for (int id = 0; id < r->parameter_count; ++id) {
        if (parameter_of(r, id)->status == VY_FIT_NO_DATA)
            fprintf(out, "# No data: %s.\n", parameter_of(r, id)->name);
    }
    put_errors(out, r);
    fprintf(out, "# %s.\n", r->missing);
    vy_locale_leave(locale);
}
