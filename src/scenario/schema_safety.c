// schema_safety.c - the rows of a vehicle's drive, and of the limits that end a run.
#include "scenario/schema_rows.h"
#include <float.h>

_Static_assert(sizeof(vy_failsafe) == sizeof(int) && sizeof(vy_fence_kind) == sizeof(int),
               "choices are read and written as int");

// --- drive

static const vy_choice failsafes[] = {
    CHOICE("none", VY_FAILSAFE_NONE, "a controller that fails ends the run"),
    CHOICE("hold", VY_FAILSAFE_HOLD, "stay where it is"),
    CHOICE("land", VY_FAILSAFE_LAND, "go straight down; motors off when something holds it there"),
    CHOICE("cut", VY_FAILSAFE_CUT, "motors off, for good"),
};
#define DRIVE(key_, unit_, range_, help_) \
    ROW(#key_, NUMBER, vy_drive_def, key_, .unit = unit_, .range = range_, .word = "none", .help = help_)
static const vy_row drive_rows[] = {
    DRIVE(speed_max, "m/s", AT_LEAST_0, "of a wanted velocity, horizontal"),
    DRIVE(climb_max, "m/s", AT_LEAST_0, "of a wanted velocity, up and down"),
    DRIVE(tilt_max, "rad", WITHIN(0.0, 1.57), "of a wanted attitude"),
    DRIVE(rate_max, "rad/s", AT_LEAST_0, "of wanted rates, each axis"),
    DRIVE(command_min, NULL, WITHIN(0.0, 1.0), "least motor command while the motors are on"),
    DRIVE(command_max, NULL, WITHIN(0.0, 1.0), "largest motor command"),
    DRIVE(slew, "1/s", AT_LEAST_0, "change of a motor command"),
    DRIVE(deadline, "s", AT_LEAST_0, "of simulated time without a fresh intent; then the failsafe acts"),
    DRIVE(rotor_loss, "s", AT_LEAST_0,
          "a rotor below half of its commanded speed for so long is lost: the allocation does without it"),
    ROW("land_speed", NUMBER, vy_drive_def, land_speed, .unit = "m/s", .range = AT_LEAST_0,
        .help = "of the failsafe `land`, above 0 with it"),
    ROW("failsafe", CHOICE, vy_drive_def, failsafe, CHOICES(failsafes),
        .help = "when the controller fails, or the deadline passes"),
};
const vy_table vy_drive_table = {.title = "Drive",
                                 .help = "What lies between an intent and the motors; see safety.md.",
                                 .size = sizeof(vy_drive_def),
                                 ROWS(drive_rows)};

// --- safety

static const vy_choice fences[] = {
    CHOICE("none", VY_FENCE_NONE, "no fence"),
    CHOICE("box", VY_FENCE_BOX, "from `min` to `max`"),
    CHOICE("cylinder", VY_FENCE_CYLINDER, "upright, about `centre`"),
    CHOICE("polygon", VY_FENCE_POLYGON, "upright over its corners"),
};
static void init_corner(void *object, int index)
{
    (void)index;
    *(vy_fence_corner *)object = (vy_fence_corner){0};
}
static const vy_row corner_rows[] = {
    ROW("position", VECTOR, vy_fence_corner, position, .size = 2, .unit = "m", .range = ANY,
        .flags = VY_ROW_REQUIRED, .help = "x and y, world axes"),
};
static const vy_table corner_table = {.title = "Corners",
                                      .help = "Of a polygon, in order; its sides must not cross.",
                                      .size = sizeof(vy_fence_corner),
                                      .init = init_corner,
                                      ROWS(corner_rows)};
#define BOX      (1u << VY_FENCE_BOX)
#define CYLINDER (1u << VY_FENCE_CYLINDER)
#define POLYGON  (1u << VY_FENCE_POLYGON)
static const vy_row fence_rows[] = {
    ROW("kind", CHOICE, vy_fence_def, kind, CHOICES(fences), .help = "its shape"),
    ROW("min", VECTOR, vy_fence_def, min, .size = 3, .unit = "m", .range = ANY, .flags = VY_ROW_REQUIRED,
        .when = BOX, .help = "least x, y, z"),
    ROW("max", VECTOR, vy_fence_def, max, .size = 3, .unit = "m", .range = ANY, .flags = VY_ROW_REQUIRED,
        .when = BOX, .help = "largest x, y, z"),
    ROW("centre", VECTOR, vy_fence_def, centre, .size = 2, .unit = "m", .range = ANY, .when = CYLINDER,
        .help = "x and y of the axis"),
    ROW("radius", NUMBER, vy_fence_def, radius, .unit = "m", .range = POSITIVE, .flags = VY_ROW_REQUIRED,
        .when = CYLINDER, .help = "about the axis"),
    ROW("corners", LIST, vy_fence_def, corners, .table = &corner_table, .size = VY_FENCE_CORNER_CAP,
        .range = {.min = 3.0}, .count_offset = offsetof(vy_fence_def, corner_count), .flags = VY_ROW_REQUIRED,
        .when = POLYGON, .help = "at least three"),
    ROW("low", NUMBER, vy_fence_def, low, .unit = "m", .range = ANY, .word = "none", .word_value = -DBL_MAX,
        .when = CYLINDER | POLYGON, .help = "least height"),
    ROW("high", NUMBER, vy_fence_def, high, .unit = "m", .range = ANY, .word = "none", .word_value = DBL_MAX,
        .when = CYLINDER | POLYGON, .help = "largest height"),
};
static const vy_table fence_table = {.title = "Fence",
                                     .help = "Where the centre of mass must stay.",
                                     .size = sizeof(vy_fence_def),
                                     ROWS(fence_rows)};

static const vy_choice grounds[] = {CHOICE("off", 0, "it may"), CHOICE("on", 1, "it ends the run")};

#define LIMIT(key_, field_, unit_, help_)                                                        \
    ROW(key_, NUMBER, vy_safety_def, field_, .unit = unit_, .range = AT_LEAST_0, .word = "none", \
        .help = help_)
static const vy_row safety_rows[] = {
    LIMIT("tilt_max", tilt_max, "rad", "largest angle between body +z and world +z"),
    LIMIT("rate_max", rate_max, "rad/s", "largest angular velocity"),
    LIMIT("speed_max", speed_max, "m/s", "largest speed"),
    ROW("height_min", NUMBER, vy_safety_def, height_min, .unit = "m", .range = ANY, .word = "none",
        .word_value = -DBL_MAX, .help = "least height"),
    ROW("height_max", NUMBER, vy_safety_def, height_max, .unit = "m", .range = ANY, .word = "none",
        .word_value = DBL_MAX, .help = "largest height"),
    LIMIT("distance_max", distance_max, "m", "largest horizontal distance from the world's origin"),
    LIMIT("fall_max", fall_max, "m/s", "largest speed downwards"),
    ROW("ground", CHOICE, vy_safety_def, ground, CHOICES(grounds),
        .help = "whether a rotor's hub, a collision point or the centre of mass may be below z = 0, or the "
                "terrain where there is one"),
    ROW("fence", OBJECT, vy_safety_def, fence, .table = &fence_table, .help = "where it must stay"),
    ROW("sustain", NUMBER, vy_safety_def, sustain, .unit = "s", .range = AT_LEAST_0,
        .help = "how long a limit must be exceeded without a break"),
};
const vy_table vy_safety_table = {.title = "Safety",
                                  .help = "Limits that end the run, checked every step against the truth.",
                                  .size = sizeof(vy_safety_def),
                                  ROWS(safety_rows)};
