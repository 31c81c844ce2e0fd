// fault.h - faults of motors, sensors and commands, on schedule or at random.
//
// Faults come from the schedule alone: the same seed gives the same faults at the same steps, whatever the
// flight.
#pragma once
#include "volery/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum vy_fault_kind {
    VY_FAULT_MOTOR_LOSS,   ///< the rotor is not driven: it spins down
    VY_FAULT_MOTOR_WEAK,   ///< `size`, 0 to 1: share of its thrust at any command
    VY_FAULT_MOTOR_MAX,    ///< `size`, 0 to 1: share of its largest speed; commands up to there are obeyed
    VY_FAULT_MOTOR_LAG,    ///< `size` [s]: time constant of all rotors
    VY_FAULT_SENSOR_BIAS,  ///< `vector` is added to the channel
    VY_FAULT_SENSOR_NOISE, ///< white noise of standard deviation `vector` is added to each sample
    VY_FAULT_SENSOR_VIBRATION, ///< `vector` times sin(2 pi `frequency` t) is added
    VY_FAULT_SENSOR_STUCK,     ///< the channel repeats its last sample
    VY_FAULT_SENSOR_SWAP,      ///< the channel's x and y axes are exchanged; it must have two or three
    VY_FAULT_SENSOR_DROPOUT,   ///< `size`, 0 to 1: share of the samples that never arrive
    VY_FAULT_SENSOR_DELAY,     ///< `size` [s]: samples arrive later by this, to the nearest sample
    VY_FAULT_COMMAND_LOSS,     ///< `size`, 0 to 1: share of the controller's replies that never arrive
    VY_FAULT_COMMAND_DELAY,    ///< `size` [s]: replies arrive later by this, to the nearest call
    VY_FAULT_BATTERY, ///< `size`, 0 to 1: share of the voltage that is left; all rotors slow down with it
} vy_fault_kind;

#define VY_ALL_ROTORS (-1)

/// A fault on [start, start + duration), or on random stretches.
typedef struct vy_fault_def {
    uint32_t cookie; ///< set by the default function
    vy_fault_kind kind;
    vy_drone_id drone; ///< VY_ALL_DRONES: each drone, at random times of its own
    int rotor;         ///< of a motor fault: its index, or VY_ALL_ROTORS
    vy_channel channel;
    double size;      ///< see the kinds
    vy_vec3 vector;   ///< see the kinds; in the channel's unit. Its first vy_channel_width numbers count; of
                      ///< esc and lidar the one is for every rotor or ray, noise drawn for each
    double frequency; ///< [Hz] of a vibration, > 0
    double start;     ///< [s] >= 0: when it begins, or when its random stretches may begin
    double duration;  ///< [s] > 0; infinity is for ever
    double spread;    ///< [s] >= 0: the beginning is drawn evenly from [start, start + spread)
    double every;     ///< [s] 0: once. Else time from `start` on is cut into pieces this long; in each the
                      ///< fault acts once with probability `chance`, from a moment drawn evenly on
    double chance;    ///< 0 to 1, with `every`
} vy_fault_def;

/// A motor lost for ever at 0 s.
vy_fault_def vy_default_fault_def(void);

/// The kind's name, as motor_loss. Never NULL.
const char *vy_fault_name(vy_fault_kind kind);

/// The channel's name, as gps_position. Never NULL.
const char *vy_channel_name(vy_channel channel);

/// How many numbers of vy_fault_def.vector a channel takes: 1 to 3.
int vy_channel_width(vy_channel channel);

/// Add a fault, before the first step only. The def is copied. Drones must be there already, and one of them
/// must have what breaks: rotors, the sensor, a controller. The others are skipped and not counted.
vy_status vy_world_add_fault(vy_world *world, const vy_fault_def *def, vy_error *err);

/// Which faults act on a drone now: bit k is fault k in order of creation (the first 64).
uint64_t vy_world_faults(const vy_world *world, vy_drone_id id);

/// Does fault `index`, in order of creation, act on a drone now? 0 beyond the last.
int vy_world_fault_acts(const vy_world *world, vy_drone_id id, uint32_t index);

/// How often fault `index`, in order of creation, has begun to act on a drone up to now. 0 beyond the last.
uint64_t vy_world_fault_begun(const vy_world *world, vy_drone_id id, uint32_t index);

/// How often a fault has begun to act on a drone, all faults together, up to now.
uint64_t vy_world_fault_count(const vy_world *world, vy_drone_id id);

#ifdef __cplusplus
}
#endif
