// schema_faults.c - the rows of faults.
#include "scenario/schema_rows.h"
#include "sensors/sensors.h"
#include <math.h>
#include <string.h>

_Static_assert(sizeof(vy_fault_kind) == sizeof(int) && sizeof(vy_channel) == sizeof(int),
               "choices are read and written as int");

static const vy_choice fault_kinds[] = {
    CHOICE("motor_loss", VY_FAULT_MOTOR_LOSS, "the rotor is not driven and spins down"),
    CHOICE("motor_weak", VY_FAULT_MOTOR_WEAK, "the rotor gives only a share of its thrust"),
    CHOICE("motor_max", VY_FAULT_MOTOR_MAX, "the rotor reaches only a share of its largest speed"),
    CHOICE("motor_lag", VY_FAULT_MOTOR_LAG, "all rotors follow their commands with another time constant"),
    CHOICE("sensor_bias", VY_FAULT_SENSOR_BIAS, "a step is added to the channel"),
    CHOICE("sensor_noise", VY_FAULT_SENSOR_NOISE, "white noise is added to each sample"),
    CHOICE("sensor_vibration", VY_FAULT_SENSOR_VIBRATION, "amplitude times sin(2 pi frequency t) is added"),
    CHOICE("sensor_stuck", VY_FAULT_SENSOR_STUCK, "the channel repeats its last sample"),
    CHOICE("sensor_swap", VY_FAULT_SENSOR_SWAP, "the channel's x and y are exchanged"),
    CHOICE("sensor_dropout", VY_FAULT_SENSOR_DROPOUT, "samples of the channel's sensor do not arrive"),
    CHOICE("sensor_delay", VY_FAULT_SENSOR_DELAY, "samples of the channel's sensor arrive late"),
    CHOICE("command_loss", VY_FAULT_COMMAND_LOSS, "replies of the controller do not arrive"),
    CHOICE("command_delay", VY_FAULT_COMMAND_DELAY, "replies of the controller arrive late"),
    CHOICE("battery", VY_FAULT_BATTERY, "the battery gives a share of its voltage: all rotors slow down"),
};
static const vy_choice rotor_choices[] = {
    CHOICE("all", VY_ALL_ROTORS, "every rotor"),
    CHOICE("0", 0, "the first"),
    CHOICE("1", 1, "the second"),
    CHOICE("2", 2, "the third"),
    CHOICE("3", 3, "the fourth"),
    CHOICE("4", 4, "the fifth"),
    CHOICE("5", 5, "the sixth"),
    CHOICE("6", 6, "the seventh"),
    CHOICE("7", 7, "the eighth"),
};
#define CHANNEL_CHOICE(sensor, channel, name, unit, at, cells, x, axes, width, help) \
    [VY_CHANNEL_##channel] = {name, VY_CHANNEL_##channel, help, unit},
#define SENSOR_CHANNEL_CHOICES(id, stream, name, needs, text) CHANNELS_##name(CHANNEL_CHOICE, name)
static const vy_choice channel_choices[] = {SENSORS(SENSOR_CHANNEL_CHOICES)
                                                DRONE_SENSORS(SENSOR_CHANNEL_CHOICES)};
_Static_assert(sizeof channel_choices / sizeof channel_choices[0] == VY_CHANNEL_COUNT,
               "every channel can be named");

static const char *unit_of_channel(const void *object)
{
    const int channel = (int)((const vy_scenario_fault *)object)->def.channel;
    return channel >= 0 && channel < VY_CHANNEL_COUNT ? channel_choices[channel].unit : "";
}

static int size_of_channel(const void *object)
{
    return vy_channel_width(((const vy_scenario_fault *)object)->def.channel);
}

static void init_fault(void *object, int index)
{
    (void)index;
    vy_scenario_fault *f = object;
    memset(f, 0, sizeof *f);
    f->drone = VY_EVERY_DRONE;
    f->def = vy_default_fault_def();
}

#define FAULT_BIT(kind_) (1u << VY_FAULT_##kind_)
#define MOTOR_FAULTS     (FAULT_BIT(MOTOR_LOSS) | FAULT_BIT(MOTOR_WEAK) | FAULT_BIT(MOTOR_MAX))
#define DELAY_FAULTS     (FAULT_BIT(SENSOR_DELAY) | FAULT_BIT(COMMAND_DELAY))
#define LOSS_FAULTS      (FAULT_BIT(SENSOR_DROPOUT) | FAULT_BIT(COMMAND_LOSS))
#define SENSOR_FAULTS                                                                 \
    (FAULT_BIT(SENSOR_BIAS) | FAULT_BIT(SENSOR_NOISE) | FAULT_BIT(SENSOR_VIBRATION) | \
     FAULT_BIT(SENSOR_STUCK) | FAULT_BIT(SENSOR_SWAP) | FAULT_BIT(SENSOR_DROPOUT) | FAULT_BIT(SENSOR_DELAY))

static const vy_schema_row fault_rows[] = {
    ROW("kind", CHOICE, vy_scenario_fault, def.kind, CHOICES(fault_kinds), .flags = VY_ROW_REQUIRED,
        .help = "the kind of fault"),
    ROW("drone", DRONE, vy_scenario_fault, drone,
        .help = "the name of a drone, or `all`: each of them, at random times of its own"),
    ROW("rotor", CHOICE, vy_scenario_fault, def.rotor, CHOICES(rotor_choices), .when = MOTOR_FAULTS,
        .help = "which rotor"),
    ROW("channel", CHOICE, vy_scenario_fault, def.channel, CHOICES(channel_choices), .when = SENSOR_FAULTS,
        .flags = VY_ROW_REQUIRED, .help = "of which sensor"),
    ROW("share", NUMBER, vy_scenario_fault, def.size, .range = WITHIN(0.0, 1.0), .flags = VY_ROW_REQUIRED,
        .when = FAULT_BIT(MOTOR_WEAK) | FAULT_BIT(MOTOR_MAX),
        .help = "of its thrust, or largest speed, that is left"),
    ROW("share", NUMBER, vy_scenario_fault, def.size, .range = WITHIN(0.0, 1.0), .flags = VY_ROW_REQUIRED,
        .when = LOSS_FAULTS, .help = "that does not arrive, drawn one by one"),
    ROW("share", NUMBER, vy_scenario_fault, def.size, .range = WITHIN(0.0, 1.0), .flags = VY_ROW_REQUIRED,
        .when = FAULT_BIT(BATTERY), .help = "of its voltage that is left; 0 stops every rotor"),
    ROW("lag", NUMBER, vy_scenario_fault, def.size, .unit = "s", .range = WITHIN(0.0, 10.0),
        .flags = VY_ROW_REQUIRED, .when = FAULT_BIT(MOTOR_LAG), .help = "time constant"),
    ROW("delay", NUMBER, vy_scenario_fault, def.size, .unit = "s", .range = WITHIN(0.0, 10.0),
        .flags = VY_ROW_REQUIRED, .when = DELAY_FAULTS, .help = "to the nearest sample or call"),
    ROW("bias", VECTOR, vy_scenario_fault, def.vector, .size = 3, .range = ANY, .unit_of = unit_of_channel,
        .size_of = size_of_channel, .flags = VY_ROW_REQUIRED, .when = FAULT_BIT(SENSOR_BIAS),
        .help = "the value that is added, in the channel's unit"),
    ROW("noise", VECTOR, vy_scenario_fault, def.vector, .size = 3, .range = AT_LEAST_0,
        .unit_of = unit_of_channel, .size_of = size_of_channel, .flags = VY_ROW_REQUIRED,
        .when = FAULT_BIT(SENSOR_NOISE), .help = "standard deviation per sample, in the channel's unit"),
    ROW("amplitude", VECTOR, vy_scenario_fault, def.vector, .size = 3, .range = ANY,
        .unit_of = unit_of_channel, .size_of = size_of_channel, .flags = VY_ROW_REQUIRED,
        .when = FAULT_BIT(SENSOR_VIBRATION), .help = "in the channel's unit"),
    ROW("frequency", NUMBER, vy_scenario_fault, def.frequency, .unit = "Hz", .range = POSITIVE,
        .when = FAULT_BIT(SENSOR_VIBRATION), .help = "of the vibration"),
    ROW("start", NUMBER, vy_scenario_fault, def.start, .unit = "s", .range = AT_LEAST_0,
        .help = "when it begins, or when its random stretches may begin"),
    ROW("duration", NUMBER, vy_scenario_fault, def.duration, .unit = "s", .range = POSITIVE,
        .keyword = "forever", .keyword_value = (double)INFINITY, .help = "how long it acts"),
    ROW("spread", NUMBER, vy_scenario_fault, def.spread, .unit = "s", .range = AT_LEAST_0,
        .help = "the beginning is drawn evenly from [start, start + spread)"),
    ROW("every", NUMBER, vy_scenario_fault, def.every, .unit = "s", .range = AT_LEAST_0, .keyword = "once",
        .help =
            "time is cut into pieces this long; in each the fault acts once, from a moment drawn evenly on"),
    ROW("chance", NUMBER, vy_scenario_fault, def.chance, .range = WITHIN(0.0, 1.0),
        .help = "with `every`: that it comes in a piece at all"),
};
const vy_schema_table vy_fault_table = {.title = "Faults",
                                        .help = "A list of faults, on schedule or at random; see faults.md.",
                                        .size = sizeof(vy_scenario_fault),
                                        .init = init_fault,
                                        ROWS(fault_rows)};
