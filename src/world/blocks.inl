// blocks.inl - what a state is made of, in order of memory: BLOCK(id, name, list, text).
//
// name_block is its struct and FIELDS_name its fields; `list` is its name in differences, with an index where
// there can be several. The head of a state names the blocks present by their ids, so a world without a kind
// of block has the same bits whether that kind exists or not. An id never changes and is never given again.
BLOCK(0, world, world, "once")
BLOCK(1, entry, entries, "per kind of block that is present: what follows")
BLOCK(2, drone, drones, "per drone, in order of creation")
BLOCK(3, payload, payloads, "per payload, in order of creation")
BLOCK(4, joint, joints, "per joint, in order of creation")
BLOCK(5, noise, noise, "per band-limited disturbance and drone it acts on")
BLOCK(6, line, lines, "per sample or reply that a fault can delay")
BLOCK(7, gear, gear, "per drone, in worlds where one has more than plain rotors: rotors in the air, battery")
BLOCK(8, guard, guards,
      "per drone, in worlds where one has a declared drive, a limit of fall or ground, or a geofence")
BLOCK(9, thruster, thrusters, "per drone, in worlds where one has thrusters")
BLOCK(10, contact_totals, contact_totals, "per drone, in worlds where things collide")
BLOCK(11, contacts, contacts, "once, likewise")
BLOCK(12, contact, contacts, "per pair of bodies there is room for, likewise: those in use first")
BLOCK(13, sleep, sleep, "per drone, in worlds whose bodies may sleep")
BLOCK(14, sleeping_contacts, sleeping_contacts, "once, likewise")
BLOCK(15, sleeping_contact, sleeping_contacts, "per pair of bodies there is room for that sleeps, likewise")
BLOCK(16, kit, kits, "per drone that carries more than a plain IMU and plain motion capture")
BLOCK(17, filter, filters, "per drone with a Kalman filter: the upper triangle of its covariance, row by row")
BLOCK(18, gate, gates, "per drone whose Kalman filter has a gate")
BLOCK(19, delay, delays, "per number that a sensor with a delay holds back")
// The last one is hashed only when it changes.
BLOCK(20, nap_account, nap_accounts, "per drone: what the negligibility policy left out, hashed when it changes")
#undef BLOCK
