// scoreboard.c - how well vehicles predict real flights: every preset that has as many rotors, the fits, and
// two baselines that know no vehicle. `scoreboard [FOLDER]`: beside the shipped flight each FOLDER/*.csv, by
// FOLDER/columns.yaml, FOLDER/base.yaml and FOLDER/mass (kg).
#define _POSIX_C_SOURCE 200809L
#include "base/read_file.h"
#include "volery/fit.h"
#include "volery/scenario.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const titles[5] = {"rate, rad/s", "attitude, deg", "specific force, m/s^2",
                                      "velocity, m/s", "position, m"};

static void print_row(const char *name, const vy_fit_errors *e)
{
    const double *const kinds[5] = {e->rate, e->attitude, e->accel, e->velocity, e->position};
    printf("| %s |", name);
    for (int k = 0; k < 5; ++k) {
        if (!(kinds[k][0] == kinds[k][0])) continue; // not recorded
        for (int h = 0; h < VY_FIT_HORIZON_COUNT; ++h)
            printf(" %.3g |", (k == 1 ? 57.29577951308232 : 1.0) * kinds[k][h]);
    }
    printf("\n");
    fflush(stdout);
}

static void print_head(const vy_fit_errors *e)
{
    const double *const kinds[5] = {e->rate, e->attitude, e->accel, e->velocity, e->position};
    int columns = 0;
    printf("| |");
    for (int k = 0; k < 5; ++k) {
        if (!(kinds[k][0] == kinds[k][0])) continue;
        for (int h = 0; h < VY_FIT_HORIZON_COUNT; ++h, ++columns)
            printf(" %s%s%g s |", h == 0 ? titles[k] : "", h == 0 ? ": " : "", vy_fit_horizons[h]);
    }
    printf("\n|---|");
    for (int i = 0; i < columns; ++i) printf("---|");
    printf("\n");
}

// The vehicle of a file.
static int load_vehicle(const char *path, vy_vehicle_def *out)
{
    char text[600];
    vy_scenario *scenario = NULL;
    vy_diagnostics found;
    const vy_scenario_options options = {.load = vy_load_file};
    const int size = snprintf(text, sizeof text, "volery: 1\ndrones: [{name: base, vehicle: '%s'}]\n", path);
    const int fine =
        vy_scenario_parse(text, (size_t)size, "scoreboard", &options, &scenario, &found) == VY_OK;
    if (fine) *out = scenario->drones[0].def.vehicle;
    vy_scenario_destroy(scenario);
    vy_diagnostics_destroy(&found);
    return fine;
}

static int complain(const char *path, const vy_error *err)
{
    fprintf(stderr, "scoreboard: %s: %s\n", path, err->text);
    return 1;
}

// Of one flight: fitted on its first half, judged by the second.
static int score_flight(const char *path, const char *mapping, const vy_vehicle_def *base, double mass)
{
    vy_flight *flight = NULL;
    vy_error err;
    vy_fit_errors e, hold, constant;
    vy_fit_result *fits = calloc(2, sizeof *fits);
    if (fits == NULL || vy_fit_read(path, mapping, NULL, &flight, &err) != VY_OK) {
        free(fits);
        return complain(path, &err);
    }
    int bad = 0;
    vy_fit_def def = vy_default_fit_def();
    def.mass = mass;
    for (int i = 0; i < 2 && !bad; ++i) {
        def.aim = i == 0 ? VY_FIT_FOR_PARAMETERS : VY_FIT_FOR_PREDICTION;
        if (vy_fit_solve(flight, base, "base", &def, &fits[i], &err) != VY_OK) bad = complain(path, &err);
    }
    if (!bad) {
        printf("%s, %.4g to %.4g s\n\n", path, fits[0].def.to, fits[0].duration);
        print_head(&fits[0].fitted);
        print_row("volery fit", &fits[0].fitted);
        print_row("volery fit --for prediction", &fits[1].fitted);
        for (int i = 0; vy_vehicle_preset_name(i) != NULL; ++i) {
            vy_vehicle_def preset;
            const char *name = vy_vehicle_preset_name(i);
            if (vy_vehicle_preset(name, &preset, NULL) != VY_OK || preset.rotor_count != base->rotor_count)
                continue;
            if (vy_fit_evaluate(flight, &preset, NULL, fits[0].def.to, fits[0].duration, &e, &hold, &constant,
                                &err) == VY_OK)
                print_row(name, &e);
        }
        print_row("hold", &fits[0].hold);
        print_row("constant velocity and rate", &fits[0].constant_rate);
        printf("\n");
    }
    vy_flight_free(flight);
    free(fits);
    return bad;
}

// Files of a folder, by the mapping, the vehicle and the mass that lie beside them.
static int score_folder(const char *folder, const char *only, double mass)
{
    char path[600], *mapping = NULL, *text = NULL;
    size_t size;
    vy_vehicle_def base;
    snprintf(path, sizeof path, "%s/columns.yaml", folder);
    if (vy_read_file(path, 1 << 20, &mapping, &size) != VY_OK) {
        fprintf(stderr, "scoreboard: %s is missing: it says which column is what (docs/fit.md)\n", path);
        return 1;
    }
    snprintf(path, sizeof path, "%s/mass", folder);
    if (vy_read_file(path, 100, &text, &size) == VY_OK) mass = strtod(text, NULL);
    free(text);
    snprintf(path, sizeof path, "%s/base.yaml", folder);
    int bad = !load_vehicle(path, &base);
    if (bad) fprintf(stderr, "scoreboard: %s is missing or no vehicle: fits start from it\n", path);
    if (!bad && mass == 0.0) mass = base.mass;
    struct dirent **list = NULL;
    const int count = bad ? 0 : scandir(folder, &list, NULL, alphasort);
    for (int i = 0; i < count; ++i) {
        const size_t length = strlen(list[i]->d_name);
        const int is_csv = length > 4 && strcmp(list[i]->d_name + length - 4, ".csv") == 0;
        snprintf(path, sizeof path, "%s/%s", folder, list[i]->d_name);
        if (is_csv && (only == NULL || strcmp(only, list[i]->d_name) == 0))
            bad |= score_flight(path, mapping, &base, mass);
        free(list[i]);
    }
    free(list);
    free(mapping);
    return bad;
}

int main(int argc, char **argv)
{
    int bad = score_folder("tests/data/crazyflie", "flight.csv", 0.027);
    if (argc > 1) bad |= score_folder(argv[1], NULL, 0.0);
    return bad;
}
