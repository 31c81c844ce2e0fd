// scenario.h - a scenario file: text -> checked definitions -> world.
//
// A scenario is YAML (docs/scenario.md lists every key). Loading resolves everything: vehicle files,
// defaults, units, overrides; what comes out is plain numbers in SI units. All mistakes of a text are
// reported in one go.
#pragma once
#include "volery/fault.h"
#include "volery/payload.h"
#include "volery/record.h"
#include "volery/ground.h"
#include "volery/world.h"
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The version of the format: the key `volery` of every scenario.
#define VY_SCENARIO_VERSION 1

/// In place of the number of a drone or body: each of them.
#define VY_EVERY_DRONE (-1)

/// What the height of a geodetic place is counted from.
typedef enum vy_altitude_frame {
    VY_ALTITUDE_ELLIPSOID,
    VY_ALTITUDE_GROUND, ///< the surface of the origin's height, without obstacles and terrain
    VY_ALTITUDE_START,  ///< the altitude at which the drone starts
} vy_altitude_frame;

/// A setpoint by latitude and longitude.
typedef struct vy_mission_point {
    double time;                ///< [s] strictly increasing
    double latitude, longitude; ///< [rad] geodetic
    double height;              ///< [m]
    vy_altitude_frame above;    ///< what `height` is counted from
    double heading;             ///< [rad] of the nose, clockwise from north at the world's origin
} vy_mission_point;

typedef struct vy_scenario_drone {
    char name[VY_NAME_CAP]; ///< unique: a letter, then letters, digits, - and _
    vy_drone_def def;
    vy_geodetic place; ///< a start over the ground of a planet; loading turns it into `def`
    int mission_count; ///< 0 to VY_SETPOINT_CAP; loading turns it into the controller's setpoints
    vy_mission_point mission[VY_SETPOINT_CAP];
    char start_file[VY_PATH_CAP]; ///< a recorded flight that the start is taken from; empty once it is read
    char start_columns[VY_COLUMNS_CAP]; ///< which column is which quantity; empty likewise
    double start_at;                    ///< [s] the file's time of the start
} vy_scenario_drone;

/// Something that moves and is no drone. Its number is the count of drones plus its index, as in a world.
typedef struct vy_scenario_body {
    char name[VY_NAME_CAP]; ///< unique among drones and bodies
    vy_world_body_def def;
    double density; ///< [kg/m^3] of its shape; loading turns it into `def`
} vy_scenario_body;

/// In place of the number of a drone or body: the world.
#define VY_THE_WORLD (-1)
/// In place of the index of a joint: each of them.
#define VY_EVERY_JOINT (-1)

typedef struct vy_scenario_joint {
    vy_joint_def def;       ///< its bodies are set when the world is built
    char name[VY_NAME_CAP]; ///< unique among joints: a letter, then letters, digits, - and _
    int a, b;               ///< numbers of drones or bodies, or VY_THE_WORLD
} vy_scenario_joint;

typedef struct vy_scenario_obstacle {
    char name[VY_NAME_CAP]; ///< unique among obstacles
    vy_obstacle_def def;
} vy_scenario_obstacle;

/// How joints close that are open at the start: vy_world_def.
typedef struct vy_scenario_closing {
    double speed; ///< [m/s] vy_world_def.closing_speed, > 0
    double limit; ///< vy_world_def.open_limit, >= 0
} vy_scenario_closing;

/// Whether anything collides.
typedef enum vy_contacts_mode {
    VY_CONTACTS_AUTO, ///< where there is terrain, an obstacle, or a drone or body of a declared shape
    VY_CONTACTS_ON,
    VY_CONTACTS_OFF, ///< all pass through each other; rays meet them all the same
} vy_contacts_mode;

typedef struct vy_scenario_contacts {
    vy_contacts_mode mode;
    vy_contacts_def def; ///< whether they are on follows from `mode`
} vy_scenario_contacts;

typedef struct vy_scenario_payload {
    int carrier, load;  ///< numbers of a drone and of a drone or body
    vy_payload_def def; ///< both are set when the world is built
} vy_scenario_payload;

typedef struct vy_scenario_disturbance {
    int drone;              ///< number of a drone or body, or VY_EVERY_DRONE
    vy_disturbance_def def; ///< its `body` is set when the world is built
} vy_scenario_disturbance;

typedef struct vy_scenario_fault {
    int drone;        ///< index into the drones, or VY_EVERY_DRONE
    vy_fault_def def; ///< its `drone` is set when the world is built
} vy_scenario_fault;

/// When an expectation is evaluated.
typedef enum vy_expect_kind {
    VY_AT_END,        ///< at the last step
    VY_AT_THROUGHOUT, ///< at every step
    VY_AT_RMS,        ///< the root mean square over every step
    VY_AT_SETTLED,    ///< how long from `after` on until it is within its bounds for good: at most `within`
    VY_AT_REACHED,    ///< how long until it is within them for the first time: at most `within`; of one drone
    VY_AT_OVERSHOOT,  ///< how far it goes beyond `target`, seen from where it was at `after`; of one drone
    VY_AT_INTEGRAL,   ///< its integral over time from `after` on, over all drones or joints it is of
} vy_expect_kind;

/// A bound on a quantity. A run that breaks one has failed its own expectations.
typedef struct vy_expect_def {
    int quantity;      ///< index into vy_quantities()
    int body;          ///< number of a drone or body, or VY_EVERY_DRONE
    int joint;         ///< of a quantity of joints: index into the joints, or VY_EVERY_JOINT
    vy_expect_kind at; ///< when it is evaluated
    double after;      ///< [s] earlier steps are not evaluated, >= 0
    double within;     ///< [s] > 0 for settled and reached, else 0
    double target;     ///< of an overshoot: what was to be reached, in the quantity's unit
    double min, max;   ///< in the quantity's unit; -DBL_MAX and DBL_MAX are no bound
    int unit; ///< in which its bounds were written, for people: 0 the quantity's, else 1 + index of units
    vy_numbers trajectory;        ///< recorded: rows of a time [s], which rises, and x, y, z [m]; owned
    char error_to[VY_PATH_CAP];   ///< the file that it comes from; empty once it is read
    char columns[VY_COLUMNS_CAP]; ///< which column is which quantity; empty likewise
    double from;                  ///< [s] the file's time at which the run begins
} vy_expect_def;

typedef enum vy_log_compression { VY_LOG_NONE, VY_LOG_ZSTD } vy_log_compression;

typedef struct vy_log_def {
    int every;       ///< [steps] between two records of a drone, >= 1
    double snapshot; ///< [s] between two records of the full state, > 0
    double display;  ///< [s] between two records for people and their tools; 0: none
    vy_log_compression compression;
    int energy; ///< 1: with an account of energy
} vy_log_def;

#define VY_SCENARIO_NAME_CAP 64

/// A resolved scenario. Filled by vy_scenario_load() or vy_scenario_parse(), which own no part of it
/// afterwards; values may be changed before a world is built from it. Release with vy_scenario_destroy().
typedef struct vy_scenario {
    int version;                     ///< VY_SCENARIO_VERSION
    char name[VY_SCENARIO_NAME_CAP]; ///< for people
    uint64_t seed;                   ///< of every random stream
    double step;                     ///< [s] fixed step of the world
    double duration;                 ///< [s] of the run; vy_scenario_steps() gives steps
    vy_environment_def environment;
    int drone_count;
    int body_count; ///< of those that are no drones
    vy_scenario_drone *drones;
    vy_scenario_body *bodies;
    int joint_count, obstacle_count;
    vy_scenario_joint *joints;
    vy_obstacle_def terrain; ///< of kind VY_COLLIDER_NONE, VY_COLLIDER_PLANE or VY_COLLIDER_HEIGHT_FIELD
    vy_scenario_obstacle *obstacles;
    vy_scenario_contacts contacts;
    vy_scenario_closing closing;
    int payload_count;
    vy_scenario_payload *payloads;
    int disturbance_count;
    vy_scenario_disturbance *disturbances;
    int fault_count;
    vy_scenario_fault *faults;
    int expect_count;
    vy_expect_def *expect;
    vy_log_def log;
    vy_wind_grid *wind_grid; ///< owned: the field that environment.wind.grid names, or NULL
    char *wind_grid_text;    ///< owned: the file it was read from, as logs keep it
    size_t wind_grid_size;   ///< [bytes] of it
    int duration_changed; ///< 1: an override or a log gave the duration; expectations beyond it are skipped
} vy_scenario;

/// One mistake (or a warning) and its place.
typedef struct vy_diagnostic {
    int warning;      ///< 1: the scenario can be used all the same
    char *file;       ///< the file as it was named, or the override as "--set key=value"
    int line;         ///< 1-based; 0 when the text has no lines (an override, a file that cannot be read)
    int column;       ///< 1-based, in characters; 0 likewise
    char *text;       ///< one sentence for a person
    char *source;     ///< the line of the input, without its end; NULL when line is 0
    char *path;       ///< the key, as drones[0].start.position; "" where none is meant
    const char *kind; ///< one word for programs: syntax, unknown_key, missing_key, repeated_key, range,
                      ///< value, file; static storage
} vy_diagnostic;

/// Errors and warnings of loading. Zero it or not: loading fills it. Release with vy_diagnostics_destroy().
typedef struct vy_diagnostics {
    vy_diagnostic *items; ///< in order of file and place found; at most 100
    int count;
    int errors;   ///< errors found, those beyond the 100 included
    int warnings; ///< warnings found, likewise
} vy_diagnostics;

/// `file:line:column: sentence` for each item, with the source line and a caret under the column.
/// @return text to free(); NULL when memory is out
char *vy_diagnostics_print(const vy_diagnostics *diagnostics);
void vy_diagnostics_destroy(vy_diagnostics *diagnostics); ///< leaves it empty; NULL is a no-op

/// Text handed over by a loader: both are released with free() by the reader.
typedef struct vy_source_text {
    char *name; ///< what diagnostics call it
    char *text;
    size_t size; ///< [bytes] of text
} vy_source_text;

/// Finds the text of a vehicle, a mesh or a table: `name` as written in the text called `from`.
/// @return VY_NOT_FOUND: there is no such file (built-in vehicles are tried next); VY_IO and others are
/// reported
typedef vy_status vy_load_fn(void *self, const char *name, const char *from, vy_source_text *out);

/// The loader of vy_scenario_load(): looks for files as described there. `self` is not used.
vy_status vy_load_file(void *self, const char *name, const char *from, vy_source_text *out);

/// How a text is read.
typedef struct vy_scenario_options {
    const char *const
        *overrides; ///< "key=value": dotted path, as drones.alpha.controller.gains.rate or drones[0].name
    int override_count;
    vy_load_fn
        *load;  ///< NULL: vehicles are found beside the file (vy_scenario_load) or built in only (parse)
    void *self; ///< handed to `load`
    int find_programs; ///< 1: a controller's program, library or device that is not there is a mistake; none
                       ///< is started
    int is_logged; ///< 1: the text is that of a log, whose run may have been shorter than its expectations
                   ///< need
} vy_scenario_options;

/// Read a scenario file. Vehicles are looked for beside it, in vehicles/ beside it or one folder above, then
/// among the built-in ones.
/// @param options may be NULL
/// @param diagnostics may be NULL; holds warnings after VY_OK
/// @return VY_BAD_SYNTAX or VY_BAD_VALUE with at least one error in `diagnostics`; VY_IO, VY_NO_MEMORY.
/// `*out` is NULL then
vy_status vy_scenario_load(const char *path, const vy_scenario_options *options, vy_scenario **out,
                           vy_diagnostics *diagnostics);

/// The same from memory; `name` is what diagnostics call the text.
vy_status vy_scenario_parse(const char *text, size_t size, const char *name,
                            const vy_scenario_options *options, vy_scenario **out,
                            vy_diagnostics *diagnostics);
void vy_scenario_destroy(vy_scenario *scenario); ///< NULL is a no-op

/// A copy that is independent of the original. On failure `*out` is NULL.
vy_status vy_scenario_copy(const vy_scenario *scenario, vy_scenario **out, vy_error *err);

/// Inject something into a flight of this scenario (volery/injection.h): `kind_name` is push, gust or fault,
/// `text` a mapping in the keys that a scenario has for disturbances, wind.gusts and faults, like {drone:
/// alpha, force: [0, 2, 0], duration: 0.5 s}. A push is constant unless it has a `kind`. VY_BAD_SYNTAX,
/// VY_BAD_VALUE: the text is not right, and nothing has happened.
vy_status vy_scenario_inject(const vy_scenario *scenario, vy_world *world, const char *kind_name,
                             const char *text, size_t size, vy_error *err);

/// Build the world: every drone and disturbance is in it, at tick 0. On failure `*out` is NULL.
vy_status vy_scenario_build(const vy_scenario *scenario, vy_world **out, vy_error *err);

/// Open a log of a world built from the scenario, with the cadences and the compression that its `log:` says,
/// and with everything needed to replay the run from the log alone. As vy_recorder_open().
/// @param parent the log from which the world continues, at the step it is at; NULL: none
vy_status vy_scenario_record(const vy_scenario *scenario, vy_world *world, const char *path,
                             const vy_log *parent, vy_recorder **out, vy_error *err);

/// The scenario in a log; files it refers to are read from there too. As vy_scenario_parse().
/// Programs, libraries and devices that the log names are not started: vy_host_open() refuses them. Those
/// that an override names in their place are the caller's own.
vy_status vy_scenario_from_log(vy_log *log, const char *name, const char *const *overrides,
                               int override_count, vy_scenario **out, vy_diagnostics *diagnostics);

/// Let vy_host_open() start what the log names: `scenario` is from vy_scenario_from_log() of this log.
/// The author of the log chose what runs; vy_host_describe() shows it.
/// @return VY_DAMAGED when the scenario in the log is not the one it was flown with, by its hash
vy_status vy_scenario_allow_programs(vy_scenario *scenario, vy_log *log, vy_error *err);

/// Replay a log in `world`, built from its scenario: vy_log_replay_messages() with what vy_scenario_record()
/// would write, then the notes of expectations and the result beside what they come to.
vy_status vy_scenario_replay(const vy_scenario *scenario, vy_log *log, vy_world *world,
                             vy_progress_fn *progress, void *self, vy_difference *out, vy_error *err);

/// The name of drone or body `number`, drones first. NULL beyond the last; valid as long as the scenario.
const char *vy_scenario_name_of(const vy_scenario *scenario, int number);

/// The name of obstacle `index` of a world built from the scenario: those declared, then terrain, then the
/// bounds of the rigid engine (floor, west, east, south, north). NULL beyond the last; valid as long as the
/// scenario.
const char *vy_scenario_obstacle_name(const vy_scenario *scenario, uint32_t index);

/// Steps of the whole run: duration over step, rounded.
uint64_t vy_scenario_steps(const vy_scenario *scenario);

/// Hash of every value that can change a bit of the run: equal hashes fly the same. Names, log settings and
/// expectations are not in it. 0 when memory is out.
uint64_t vy_scenario_hash(const vy_scenario *scenario);

/// The resolved configuration as YAML. Read again, it gives the same scenario to the bit, without any other
/// file.
/// @return text to free(); NULL when memory is out
char *vy_scenario_print(const vy_scenario *scenario);

/// The JSON Schema of a scenario (draft 2020-12), for editors. Text to free(); NULL when memory is out.
char *vy_scenario_print_schema(void);

/// The reference page of the format, Markdown. Text to free(); NULL when memory is out.
char *vy_scenario_print_reference(void);

/// A quantity that an expectation can bound.
typedef struct vy_quantity {
    const char *name;
    const char *unit;                                  ///< SI; empty for a count
    const char *help;                                  ///< one sentence
    double (*value)(const vy_drone_state *drone);      ///< NULL: a quantity of joints, or over the ground
    double (*of_joint)(const vy_joint_state *joint);   ///< its value, of a quantity of joints
    unsigned joints;                                   ///< kinds of joints that have it, a bit each
    const char *integral_unit;                         ///< of its integral over time
    int of_bodies;                                     ///< 1: bodies have it as drones do
    double (*of_ground)(const vy_ground_state *state); ///< over the ground; of drones and bodies
    int needs_planet;                                  ///< 1: there is none in a flat world
    int of_pairs;                    ///< 1: of every two drones, or of one and all others: their distance
    int needs_battery, needs_motors; ///< 1: of drones that have a battery, a rotor or a thruster
} vy_quantity;

/// All of them; static storage.
const vy_quantity *vy_quantities(int *count);

/// The result of one expectation.
typedef struct vy_expect_result {
    int measured;  ///< 0: no step was evaluated yet, and so it is not met
    int skipped;   ///< 1: vy_expect_end() found that a shortened run could not decide it: neither met nor
                   ///< broken
    int met;       ///< 1: within its bounds so far (throughout) or at the latest step (end)
    double worst;  ///< the value nearest to a bound or farthest beyond it, in the quantity's unit; of settled
                   ///< and reached the time it took [s]
    double margin; ///< its distance from that bound; negative beyond it
    double time;   ///< [s] when it was so
    double first;  ///< of an overshoot: the first value
    double sum;    ///< of squares, and over how many steps, for VY_AT_RMS; of an integral itself
    uint64_t steps;
    uint32_t drone; ///< number of the drone or body, or index of the joint, it was
} vy_expect_result;

/// Clear `results`, one per expectation.
void vy_expect_begin(const vy_scenario *scenario, vy_expect_result *results);

/// Evaluate the world as it is now: call after each step (or each logged step) up to the last.
void vy_expect_feed(const vy_scenario *scenario, const vy_world *world, vy_expect_result *results);

/// The run is over: mark what a run of a changed duration was too short for. An expectation that begins after
/// its end, or that has time left to be met.
void vy_expect_end(const vy_scenario *scenario, vy_expect_result *results);

/// The unit of an expectation's worst value and margin.
const char *vy_expect_unit(const vy_scenario *scenario, int index);

/// The unit of the same to show to people: the one in which the bounds were written. `*scale`: how much of it
/// 1 of vy_expect_unit() is.
const char *vy_expect_display_unit(const vy_scenario *scenario, int index, double *scale);

/// `result` as one sentence: what was expected, what was measured, when, by which drone.
/// @return text to free(); NULL when memory is out
char *vy_expect_print(const vy_scenario *scenario, int index, const vy_expect_result *result);

#ifdef __cplusplus
}
#endif
