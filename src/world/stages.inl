// stages.inl - one step, in the only order there is. Read this file first.
//
// A world (step.h), the lanes of a batch (batch/kernel.inl) and a GPU (batch/gpu_kernel.inl) say what a row
// becomes and include this file in their step: all three make these calls, in this order.
//
//   OPTION(name, present, text)   what only some worlds have; `present` asks the model m
//   STAGE(call)                   of every world, on every machine
//   STAGE_LANES(option, call)     of worlds with this option: on neither a GPU nor in single precision
//   STAGE_WORLD(option, call)     likewise, and not in lanes: a batch flies such worlds one by one
//   STAGE_UNLESS(option, call)    of worlds without it
//   RUNNING_BEGIN, _END         around the stages of worlds that have not failed so far in this step
//
// A machine that lacks a stage expands its row to nothing; which worlds it cannot step follows from the rows:
// stages.h. Arguments have the same names on every machine:
//
//   m, plant_model             constants; what the plant reads of them, which faults may change
//   w, drones, noise, powertrain, thrusters, nap_accounts    blocks of the state: blocks.inl
//   loads, speeds              of this step: the loads on each drone, the targets of its actuators
//   noise_draws, imu_draws     random numbers drawn ahead; NULL: none
//   reply_source               where a controller's reply comes from
//   is_first_step, nap_evaluated, events    was the policy evaluated; what the step reports (VY_EVENT_ bits)
//   world                      in STAGE_WORLD alone

#ifndef OPTION
#define OPTION(name, present, text)
#endif
#ifndef STAGE
#define STAGE(...)
#define STAGE_UNLESS(option, ...)
#define RUNNING_BEGIN
#define RUNNING_END
#endif
#ifndef STAGE_LANES
#define STAGE_LANES(option, ...)
#endif
#ifndef STAGE_WORLD
#define STAGE_WORLD(option, ...)
#endif

OPTION(supervisor, m->has_supervisor, "a drive, or limits of fall, ground or geofence")
OPTION(sensor_suite, m->sensor_suite_count > 0, "sensors beside the basic IMU and motion capture")
OPTION(payload, m->payload_count > 0, "payloads")
OPTION(ground, m->has_powertrain && m->ground_heights != NULL, "rotors over obstacles")
OPTION(rotor_wake, m->wakes.on, "wakes of rotors")
OPTION(fault, m->fault_count > 0, "faults")
OPTION(injection, m->injection_count > 0, "what was injected while they flew")
OPTION(joint, m->joint_count > 0, "joints")
OPTION(contact, m->collides, "contacts")
OPTION(body, m->passive_count > 0, "bodies")
OPTION(prestep, m->has_prestep, "an energy account")
OPTION(powertrain, m->has_powertrain, "effects of rotors or a battery")
OPTION(thruster, m->has_thruster, "thrusters")
OPTION(budget, m->nap.budget.duration > 0.0, "a budget of what is neglected")
OPTION(recorded, m->has_recorded, "recorded flights as controllers")

// before the first step
STAGE_LANES(powertrain, if (mask_any(is_first_step)) powertrain_start(m, &is_first_step, drones, powertrain))
STAGE_LANES(thruster, if (mask_any(is_first_step)) thrusters_start(m, &is_first_step, drones, thrusters))
STAGE_WORLD(supervisor, if (is_first_step) vy_supervisor_start(m, drones, world->supervisors))
STAGE_WORLD(sensor_suite, if (is_first_step) vy_sensor_suite_start(world))

// time
STAGE(w->tick = w->tick + 1u)

// disturbance: payloads attached and released, external forces, gusts, wakes; then the negligibility policy
STAGE_WORLD(payload, vy_payload_stage(world))
STAGE(disturbance_stage(m, w, noise, noise_draws, loads))
STAGE(turbulence_stage(m, w, drones))
STAGE_WORLD(ground, vy_ground_stage(world))
STAGE_WORLD(rotor_wake, vy_rotor_wake_stage(m, w->tick - 1, drones, world->wakes, powertrain))
STAGE_WORLD(body, vy_body_environment_stage(world))
STAGE_UNLESS(budget, nap_evaluated = nap_stage(m, w, noise, drones, nap_accounts))
STAGE_WORLD(budget, nap_evaluated = vy_budget_stage(world))
STAGE_WORLD(contact, nap_evaluated |= vy_contact_reevaluate_nap(world))
STAGE_WORLD(payload, nap_evaluated |= vy_payload_reevaluate_nap(world))
STAGE_WORLD(injection, nap_evaluated |= vy_injection_reevaluate_nap(world))

// actuator
STAGE(actuator_stage(m, drones, powertrain, speeds))
STAGE_LANES(thruster, thruster_stage(m, &w->tick, drones, thrusters, speeds))
STAGE_WORLD(fault, plant_model = vy_fault_limit_motors(world))
STAGE(ideal_motor_stage(plant_model, speeds, drones))

// plant, joint, contact
STAGE_WORLD(prestep, vy_prestep_stage(world, plant_model))
STAGE(plant_stage(plant_model, loads, speeds, w, drones, powertrain, thrusters))
STAGE_WORLD(body, vy_body_plant_stage(world))
STAGE_WORLD(joint, events |= vy_jointed_stage(world, plant_model, w, drones))
STAGE_WORLD(contact, events |= vy_contact_stage(world, w))
STAGE_WORLD(joint, events |= vy_joint_break_stage(world))
STAGE_WORLD(payload, vy_payload_update_poses(world))

RUNNING_BEGIN

// sensor
STAGE_WORLD(fault, vy_fault_save_drones(world))
STAGE(sensor_stage(m, w, drones, imu_draws))
STAGE_WORLD(sensor_suite, vy_sensor_suite_stage(world))
STAGE_WORLD(fault, vy_fault_apply_to_samples(world))

// estimator
STAGE(estimator_stage(m, w, drones))
STAGE_WORLD(sensor_suite, vy_filter_stage(world))

// controller under test
STAGE_WORLD(fault, vy_fault_save_drones(world))
STAGE(events |= controller_stage(reply_source, m, w, drones))
STAGE_WORLD(recorded, vy_recorded_stage(m, w, drones))
STAGE_WORLD(fault, vy_fault_apply_to_commands(world))
STAGE_WORLD(payload, vy_payload_release(m, world->release_requests, world->payloads))

// drive abstraction layer; with limits, failsafe and fences where there is a supervisor
STAGE_WORLD(supervisor, events |= vy_supervisor_stage(m, vy_world_ground(world), world->intent_received, w,
                                                      drones, world->supervisors))
STAGE_UNLESS(supervisor, events |= mask_any(drive_layer_stage(m, w, drones)) ? VY_EVENT_CLAMPED : 0)

// limits that end the run
STAGE(safety_stage(m, w, drones))

RUNNING_END

#undef OPTION
#undef STAGE
#undef STAGE_LANES
#undef STAGE_WORLD
#undef STAGE_UNLESS
#undef RUNNING_BEGIN
#undef RUNNING_END
