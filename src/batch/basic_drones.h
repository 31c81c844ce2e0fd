// basic_drones.h - what must be so of a batch that the kernel of basic drones flies on a GPU. The kernel
// takes each fact as a constant, and the host tests it (gpu_layout.c): nothing else is assumed.
//
// A basic drone has four upright rotors that are alike, the basic IMU and motion capture, and holds its place
// or takes actions; its world has uniform gravity, air of one density, a constant wind at most, and no
// disturbance.
#pragma once

/// Members of vy_model.
#define BASIC_MODEL(F)                       \
    F(strict_rk4, 1)                         \
    F(drone_count, 1)                        \
    F(passive_count, 0)                      \
    F(disturbance_count, 0)                  \
    F(noise_count, 0)                        \
    F(turbulence_period, 0)                  \
    F(has_sinusoid, 0)                       \
    F(has_powertrain, 0)                     \
    F(has_thruster, 0)                       \
    F(has_supervisor, 0)                     \
    F(wakes.on, 0)                           \
    F(physics.engine, VY_ENGINE_STRICT)      \
    F(physics.integrator, VY_INTEGRATOR_RK4) \
    F(env.steady, 1)                         \
    F(env.planet.on, 0)                      \
    F(env.gravity.body_count, 0)             \
    F(env.gravity.gradient, 0)               \
    F(env.gravity.frame.on, 0)               \
    F(env.gravity.frame.rate, 0.0)           \
    F(env.air.mode, ATMOSPHERE_STANDARD)     \
    F(env.wind.shear, WIND_SHEAR_NONE)       \
    F(env.wind.gust_count, 0)                \
    F(env.wind.grid.velocity, NULL)

/// Members of its drone_model.
#define BASIC_DRONE(F)                      \
    F(layout.count, 4)                      \
    F(layout.general, 0)                    \
    F(layout.thrusters.count, 0)            \
    F(estimate_source, ESTIMATE_FADING)     \
    F(controller.flight, VY_FLIGHT_DYNAMIC) \
    F(holder, HELD_BY_NOTHING)              \
    F(has_powertrain, 0)                    \
    F(has_supervisor, 0)                    \
    F(has_thruster, 0)

/// Members of its drone_params.
#define BASIC_PARAMS(F)             \
    F(motor.is_linear, 1)           \
    F(ladder.motor.is_linear, 1)    \
    F(ladder.allocate.count, 4)     \
    F(ladder.rotor_count, 4)        \
    F(ladder.command_count, 4)      \
    F(ladder.uses_thrusters, 0)     \
    F(ladder.has_full_authority, 1) \
    F(ladder.has_thrust_scale, 0)   \
    F(ladder.uses_indi, 0)          \
    F(ladder.kinematic, 0)          \
    F(nap.rotor_count, 4)           \
    F(nap.strict, 0)                \
    F(nap.jointed, 0)               \
    F(nap.open_loop, 0)             \
    F(nap.rotors, 0)                \
    F(nap.has_obstacles, 0)

/// Members of drone_model that the stages read of a basic drone: the rest stays zero.
#define BASIC_DRONE_USED(U) \
    U(imu_period)           \
    U(mocap_period)         \
    U(control_period)       \
    U(rate_period)          \
    U(sustain)              \
    U(cos_tilt_max)

/// Of its limits.
#define BASIC_LIMITS(L) L(tilt_max) L(rate_max) L(speed_max) L(height_min) L(height_max) L(distance_max)

/// Members of drone_params that may differ from world to world, as a randomisation makes them; the others
/// must be the same in all worlds, but for those that no stage reads of a basic drone: BASIC_UNREAD.
#define BASIC_RANDOMISED(V)               \
    V(plant.body.inverse_mass)            \
    V(plant.body.inertia.m[0][0])         \
    V(plant.body.inertia.m[1][1])         \
    V(plant.body.inertia.m[2][2])         \
    V(plant.body.inverse_inertia.m[0][0]) \
    V(plant.body.inverse_inertia.m[1][1]) \
    V(plant.body.inverse_inertia.m[2][2]) \
    V(plant.rotor.thrust_coef)            \
    V(plant.rotor.torque_coef)            \
    V(plant.rotor.decay_half)             \
    V(plant.rotor.decay_full)             \
    V(plant.effects.mass)                 \
    V(plant.effects.linear_drag.x)        \
    V(plant.effects.linear_drag.y)        \
    V(plant.effects.linear_drag.z)        \
    V(plant.effects.drag_area)            \
    V(imu.accel_noise)                    \
    V(imu.gyro_noise)                     \
    V(imu.accel_walk)                     \
    V(imu.gyro_walk)                      \
    V(mocap.position_noise)               \
    V(mocap.attitude_noise)               \
    V(ladder.mass)                        \
    V(ladder.inertia.m[0][0])             \
    V(ladder.inertia.m[1][1])             \
    V(ladder.inertia.m[2][2])             \
    V(ladder.pseudo_inverse[0][3])        \
    V(ladder.pseudo_inverse[1][3])        \
    V(ladder.pseudo_inverse[2][3])        \
    V(ladder.pseudo_inverse[3][3])        \
    V(ladder.inverse_thrust_max)          \
    V(ladder.rotor_thrust_max[0])         \
    V(ladder.rotor_thrust_max[1])         \
    V(ladder.rotor_thrust_max[2])         \
    V(ladder.rotor_thrust_max[3])         \
    V(ladder.allocate.scale[0])           \
    V(ladder.allocate.scale[1])           \
    V(ladder.allocate.scale[2])           \
    V(ladder.allocate.scale[3])           \
    V(ladder.allocate.unit)               \
    V(nap.torque_threshold)               \
    V(nap.inertia_min)                    \
    V(nap.inertia_max)                    \
    V(home.x)                             \
    V(home.y)                             \
    V(home.z)                             \
    V(home_yaw)

/// Parts that no stage reads of a basic drone: the first member of each, and how many cells it has.
#define BASIC_UNREAD(I)          \
    I(plant.effects.inertia, 10) \
    I(plant.curve, 13)           \
    I(motor.quadratic, 3)        \
    I(ladder.has_drag, 22)       \
    I(ladder.thrust_max, 1)      \
    I(ladder.motor.quadratic, 3) \
    I(autopilot, 7)              \
    I(battery, 11)

#define BASIC_COUNT(path) +1
enum { BASIC_RANDOMISED_COUNT = 0 BASIC_RANDOMISED(BASIC_COUNT) };
