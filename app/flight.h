// flight.h - flying a world to its end: records, expectations, statistics, signals. What run and branch
// share.
#pragma once
#include "controllers.h"
#include "watch.h"
#include "volery/record.h"
#include "volery/scenario.h"

/// Statistics of a drone or body, sampled at every tenth step.
typedef struct drone_track {
    double distance;      ///< [m] flown
    double tilt_max;      ///< [rad]
    double speed_max;     ///< [m/s]
    double error_sum;     ///< [m^2] sum of squared distances from the reference
    double error_max;     ///< [m]
    double settling_time; ///< [s] of the last error outside the band: 5 cm, or a twentieth of the largest
    int is_outside;       ///< it is so now
    double effort;        ///< sum of the mean squared motor command: the mean is the share of full thrust
    int rotors;           ///< rotors and thrusters together
    uint64_t count;       ///< samples taken
    int is_drone;         ///< so that it has an estimate
    int has_error;        ///< it has the built-in controller, so that there is a reference
    double estimate_max;  ///< [m] largest distance of the estimated from the true position, once it started
    double nees_sum;      ///< of a Kalman filter, over `nees_count` samples
    uint64_t nees_count;
    vy_drone_state state;
    vy_drive_state drive; ///< at the end
    uint64_t faults;      ///< begun up to the end
} drone_track;

typedef struct flight_def {
    const char *command; ///< for messages
    const char *file;    ///< the scenario's or parent's file, for people
    const vy_scenario *scenario;
    vy_world *world;       ///< at the step to continue from
    controllers *programs; ///< controllers; the flight ends them. NULL: none
    const char *log;       ///< file to write; NULL: none
    const vy_log *parent;  ///< of a branch; NULL: none
    const char *sign;      ///< file of the private key that the log is signed with; NULL: it is not
    int show_progress;     ///< on a terminal
    int realtime;          ///< no faster than the clock
    watch *watched;        ///< it can be watched; the flight ends it. NULL: it cannot
    int is_outcome_only;   ///< the outcome alone: no statistics of a summary, no warnings
} flight_def;

/// A flight and its outcome. Release with vy_flight_destroy().
typedef struct flight {
    flight_def def;
    uint64_t first, last;      ///< [steps] as planned
    drone_track *tracks;       ///< one per drone, then one per body
    vy_expect_result *results; ///< one per expectation
    vy_failure failure;        ///< of the world, or of a controller at its end
    int failed_at_end;         ///< `failure` is of a controller at its end
    char program_output[64];   ///< what a controller wrote in place of a reply
    int failed_expectation;    ///< index of the first expectation that is not met; -1: none
    int signal;                ///< that stopped it; 0: none
    int is_above_atmosphere;   ///< somebody was above the standard atmosphere
    double wall;               ///< [s] flying and logging
    const char *status;        ///< completed, failed, interrupted
} flight;

/// Fly to the scenario's end, or until the world fails or a signal comes; then finish the log.
/// @return 0 when there is an outcome, or the exit status after a sentence
int vy_flight_fly(const flight_def *def, flight *out);
void vy_flight_destroy(flight *f);

/// The exit status of the outcome.
int vy_flight_exit(const flight *f);

/// Why it failed, as one sentence, or an empty text.
void vy_flight_describe_failure(const flight *f, char *out, size_t size);

/// One word for the cause of a failure, as tilt; "expectation" when only an expectation is not met; NULL:
/// none.
const char *vy_flight_reason(const flight *f);
