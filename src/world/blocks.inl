// blocks.inl - what a state is made of, in order of memory: BLOCK(id, name, list, member, count, text).
//
// name_block is its struct and FIELDS_name its fields; `list` is its name in differences, with an index where
// there can be several; world->member points to the first one, or is NULL where there is none; `count` asks the
// model m how many there are. DRONE_BLOCK(id, name, list, member, text) is what every drone has when one of them
// needs it: m->has_name, and m->drones[i].has_name says who does.
// The head of a state names the blocks present by their ids, so a world without a kind of block has the same
// bits whether that kind exists or not. An id never changes and is never given again (11 and 14 were counts);
// those of sensors (sensors/sensors.h) are 64 and up.
#ifndef BLOCK
#define BLOCK(id, name, list, member, count, text)
#endif
#ifndef DRONE_BLOCK
#define DRONE_BLOCK(id, name, list, member, text) \
    BLOCK(id, name, list, member, m->has_##name ? m->drone_count : 0, text)
#endif
BLOCK(0, world, world, state, 1, "once")
BLOCK(1, entry, entries, entries, 0, "per kind of block that is present: what follows")
BLOCK(2, drone, drones, drones, m->drone_count, "per drone, in order of creation")
BLOCK(30, body, bodies, passive, m->passive_count, "per body that is no drone, in order of creation")
BLOCK(31, body_wake, body_wakes, passive_wakes, m->wakes.on ? m->passive_count : 0,
      "likewise, in worlds with wakes")
BLOCK(3, payload, payloads, payloads, m->payload_count, "per payload, in order of creation")
BLOCK(4, joint, joints, joint_states, m->joint_count, "per joint, in order of creation")
BLOCK(37, gear, gears, gears, m->has_gears ? m->joint_count : 0, "per joint, in worlds with gears")
BLOCK(5, noise, noise, noise, m->noise_count, "per band-limited disturbance and drone or body it acts on")
DRONE_BLOCK(7, powertrain, powertrains, powertrain,
      "per drone, in worlds where one has more than basic rotors: rotors in the air, battery")
DRONE_BLOCK(8, supervisor, supervisors, supervisors,
      "per drone, in worlds where one has a declared drive, a limit of fall or ground, or a geofence")
DRONE_BLOCK(9, thruster, thrusters, thrusters, "per drone, in worlds where one has thrusters")
BLOCK(10, contact_totals, contact_totals, contact_totals, m->collides ? body_count(m) : 0,
      "per drone, then per body, in worlds where things collide")
BLOCK(13, sleep, sleep, sleep, m->sleep_enabled ? body_count(m) : 0,
      "per drone, then per body, in worlds whose bodies may sleep")
BLOCK(36, trigger, triggers, triggers, m->trigger_count * body_count(m),
      "per trigger among the obstacles, in order of creation: per drone, then per body")
BLOCK(16, sensor_suite, sensor_suites, sensor_suites, m->sensor_suite_count,
      "per drone that carries more than the basic IMU and basic motion capture")
BLOCK(72, imu_full, imu_full, imu_full, m->sensor_counts[SENSOR_imu],
      "per drone whose IMU has more than noise and bias")
SENSORS(SENSOR_BLOCK)
BLOCK(17, filter, filters, filters, m->filter_count, "per drone with a filter of its sensor suite")
BLOCK(40, kalman, kalman, kalman, m->kalman_count,
      "per drone with a Kalman filter: the upper triangle of its covariance, row by row")
BLOCK(41, gain_filter, gain_filters, gain_filters, m->filter_count - m->kalman_count,
      "per drone with a filter of constant gains")
BLOCK(18, gate, gates, gates, m->gate_count, "per drone whose Kalman filter has a gate")
BLOCK(19, delay_line, delay_lines, delay_lines, m->delay_count,
      "per number that a sensor with a delay, or a fault, holds back")
BLOCK(35, injection, injections, injections, m->injection_count,
      "per push, gust or fault that was injected while it flew, in order of time")
// These are hashed only when they change.
BLOCK(20, nap_account, nap_accounts, nap_accounts, m->drone_count,
      "per drone: what the negligibility policy neglected, hashed when it changes")
BLOCK(32, body_account, body_accounts, passive_accounts, m->passive_count,
      "per body that is no drone: likewise, of all effects together")
BLOCK(33, budget, budgets, budgets, m->nap.budget.duration > 0.0 ? body_count(m) : 0,
      "per drone, then per body, in worlds with a budget: hashed with them")
BLOCK(34, loop, loops, loop_states, m->nap.budget.duration > 0.0 && m->has_loop ? m->drone_count : 0,
      "per drone, in worlds with a budget where one's closed loop has a bound: hashed with them")
// As many as there are at the moment; the set of bodies has them, so the members are NULL. A world that can have
// them names them in its head also when there are none.
BLOCK(12, contact, contacts, contact_pairs, 0, "per contact that pushed in the last step, in worlds where things collide")
BLOCK(15, sleeping_contact, sleeping_contacts, sleeping_pairs, 0,
      "per contact that sleeps, in worlds whose bodies may sleep")
#undef BLOCK
#undef DRONE_BLOCK
