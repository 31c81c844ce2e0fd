// state.c - the manifest of state as a table, and the proof that it is complete.
#include "world/state.h"
#include "base/hash.h"

#define ROW(block, member, type, count, unit, text) \
    {#block, #member, #type, unit, text, offsetof(block##_block, member), count},

const vy_field vy_fields[] = {
#define WORLD_FIELD(...)    ROW(world, __VA_ARGS__)
#define DRONE_FIELD(...)    ROW(drone, __VA_ARGS__)
#define TIE_FIELD(...)      ROW(tie, __VA_ARGS__)
#define NOISE_FIELD(...)    ROW(noise, __VA_ARGS__)
#define LINE_FIELD(...)     ROW(line, __VA_ARGS__)
#define GEAR_FIELD(...)     ROW(gear, __VA_ARGS__)
#define GUARD_FIELD(...)    ROW(guard, __VA_ARGS__)
#define THRUSTER_FIELD(...) ROW(thruster, __VA_ARGS__)
#define PAYLOAD_FIELD(...)  ROW(payload, __VA_ARGS__)
#define TOUCH_FIELD(...)    ROW(touch, __VA_ARGS__)
#define CONTACTS_FIELD(...) ROW(contacts, __VA_ARGS__)
#define CONTACT_FIELD(...)  ROW(contact, __VA_ARGS__)
#define REST_FIELD(...)     ROW(rest, __VA_ARGS__)
#define KIT_FIELD(...)      ROW(kit, __VA_ARGS__)
#define FILTER_FIELD(...)   ROW(filter, __VA_ARGS__)
#define GATE_FIELD(...)     ROW(gate, __VA_ARGS__)
#define DELAY_FIELD(...)    ROW(delay, __VA_ARGS__)
#define LEDGER_FIELD(...)   ROW(ledger, __VA_ARGS__)
#include "world/fields.inl"
};
const int vy_field_count = (int)(sizeof vy_fields / sizeof vy_fields[0]);

// Each field has the size that the list says, and together the fields of a block fill it: no padding, none
// forgotten.
#define SAME_SIZE(block, member, count) \
    _Static_assert(sizeof(((block##_block *)0)->member) == 8 * (count), "fields.inl: " #block "." #member);
#define WORLD_FIELD(member, type, count, unit, text)    SAME_SIZE(world, member, count)
#define DRONE_FIELD(member, type, count, unit, text)    SAME_SIZE(drone, member, count)
#define TIE_FIELD(member, type, count, unit, text)      SAME_SIZE(tie, member, count)
#define NOISE_FIELD(member, type, count, unit, text)    SAME_SIZE(noise, member, count)
#define LINE_FIELD(member, type, count, unit, text)     SAME_SIZE(line, member, count)
#define GEAR_FIELD(member, type, count, unit, text)     SAME_SIZE(gear, member, count)
#define GUARD_FIELD(member, type, count, unit, text)    SAME_SIZE(guard, member, count)
#define THRUSTER_FIELD(member, type, count, unit, text) SAME_SIZE(thruster, member, count)
#define PAYLOAD_FIELD(member, type, count, unit, text)  SAME_SIZE(payload, member, count)
#define TOUCH_FIELD(member, type, count, unit, text)    SAME_SIZE(touch, member, count)
#define CONTACTS_FIELD(member, type, count, unit, text) SAME_SIZE(contacts, member, count)
#define CONTACT_FIELD(member, type, count, unit, text)  SAME_SIZE(contact, member, count)
#define REST_FIELD(member, type, count, unit, text)     SAME_SIZE(rest, member, count)
#define KIT_FIELD(member, type, count, unit, text)      SAME_SIZE(kit, member, count)
#define FILTER_FIELD(member, type, count, unit, text)   SAME_SIZE(filter, member, count)
#define GATE_FIELD(member, type, count, unit, text)     SAME_SIZE(gate, member, count)
#define DELAY_FIELD(member, type, count, unit, text)    SAME_SIZE(delay, member, count)
#define LEDGER_FIELD(member, type, count, unit, text)   SAME_SIZE(ledger, member, count)
#include "world/fields.inl"

enum {
    SIZE_world = 0
#define WORLD_FIELD(member, type, count, unit, text) +8 * (count)
#include "world/fields.inl"
    ,
    SIZE_drone = 0
#define DRONE_FIELD(member, type, count, unit, text) +8 * (count)
#include "world/fields.inl"
    ,
    SIZE_tie = 0
#define TIE_FIELD(member, type, count, unit, text) +8 * (count)
#include "world/fields.inl"
    ,
    SIZE_noise = 0
#define NOISE_FIELD(member, type, count, unit, text) +8 * (count)
#include "world/fields.inl"
    ,
    SIZE_line = 0
#define LINE_FIELD(member, type, count, unit, text) +8 * (count)
#include "world/fields.inl"
    ,
    SIZE_gear = 0
#define GEAR_FIELD(member, type, count, unit, text) +8 * (count)
#include "world/fields.inl"
    ,
    SIZE_guard = 0
#define GUARD_FIELD(member, type, count, unit, text) +8 * (count)
#include "world/fields.inl"
    ,
    SIZE_payload = 0
#define PAYLOAD_FIELD(member, type, count, unit, text) +8 * (count)
#include "world/fields.inl"
    ,
    SIZE_thruster = 0
#define THRUSTER_FIELD(member, type, count, unit, text) +8 * (count)
#include "world/fields.inl"
    ,
    SIZE_touch = 0
#define TOUCH_FIELD(member, type, count, unit, text) +8 * (count)
#include "world/fields.inl"
    ,
    SIZE_contacts = 0
#define CONTACTS_FIELD(member, type, count, unit, text) +8 * (count)
#include "world/fields.inl"
    ,
    SIZE_contact = 0
#define CONTACT_FIELD(member, type, count, unit, text) +8 * (count)
#include "world/fields.inl"
    ,
    SIZE_rest = 0
#define REST_FIELD(member, type, count, unit, text) +8 * (count)
#include "world/fields.inl"
    ,
    SIZE_kit = 0
#define KIT_FIELD(member, type, count, unit, text) +8 * (count)
#include "world/fields.inl"
    ,
    SIZE_filter = 0
#define FILTER_FIELD(member, type, count, unit, text) +8 * (count)
#include "world/fields.inl"
    ,
    SIZE_gate = 0
#define GATE_FIELD(member, type, count, unit, text) +8 * (count)
#include "world/fields.inl"
    ,
    SIZE_delay = 0
#define DELAY_FIELD(member, type, count, unit, text) +8 * (count)
#include "world/fields.inl"
    ,
    SIZE_ledger = 0
#define LEDGER_FIELD(member, type, count, unit, text) +8 * (count)
#include "world/fields.inl"
};
_Static_assert(SIZE_world == sizeof(world_block), "fields.inl must list every value of world_block");
_Static_assert(SIZE_drone == sizeof(drone_block), "fields.inl must list every value of drone_block");
_Static_assert(SIZE_tie == sizeof(tie_block), "fields.inl must list every value of tie_block");
_Static_assert(SIZE_noise == sizeof(noise_block), "fields.inl must list every value of noise_block");
_Static_assert(SIZE_line == sizeof(line_block), "fields.inl must list every value of line_block");
_Static_assert(SIZE_gear == sizeof(gear_block), "fields.inl must list every value of gear_block");
_Static_assert(SIZE_guard == sizeof(guard_block), "fields.inl must list every value of guard_block");
_Static_assert(SIZE_payload == sizeof(payload_block), "fields.inl must list every value of payload_block");
_Static_assert(SIZE_thruster == sizeof(thruster_block), "fields.inl must list every value of thruster_block");
_Static_assert(SIZE_touch == sizeof(touch_block), "fields.inl must list every value of touch_block");
_Static_assert(SIZE_contacts == sizeof(contacts_block), "fields.inl must list every value of contacts_block");
_Static_assert(SIZE_contact == sizeof(contact_block), "fields.inl must list every value of contact_block");
_Static_assert(SIZE_rest == sizeof(rest_block), "fields.inl must list every value of rest_block");
_Static_assert(SIZE_kit == sizeof(kit_block), "fields.inl must list every value of kit_block");
_Static_assert(SIZE_filter == sizeof(filter_block), "fields.inl must list every value of filter_block");
_Static_assert(SIZE_gate == sizeof(gate_block), "fields.inl must list every value of gate_block");
_Static_assert(SIZE_delay == sizeof(delay_block), "fields.inl must list every value of delay_block");
_Static_assert(SIZE_ledger == sizeof(ledger_block), "fields.inl must list every value of ledger_block");

uint64_t vy_state_hash(const void *state, size_t size)
{
    const size_t chain = sizeof(uint64_t); // it comes first
    return vy_hash64((const unsigned char *)state + chain, size - chain);
}
