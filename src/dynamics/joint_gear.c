// joint_gear.c - gears: how far the line between their anchors has turned as their bodies see it.
//
// With d from the anchor of a to that of b, and e1, e2 square to the axis of a and fixed in it, the line
// stands at angle p = atan2(d.e2, d.e1) in a, and likewise at q in b. Bodies that turn by x and y against
// whatever carries their hinges see it turn by -x and -y, so p + ratio q is constant. That depends on the
// bodies' relative pose alone: the forces are equal and opposite along one line, as those of teeth are, and
// the hinges pass them on to the frame.
#include "base/assert.h"
#include "base/math.h"
#include "dynamics/joint.h"
#include <math.h>

#define TWO_PI 6.28318530717958647693

static vec3 line_of(const joint_slot *j, const body_state *a, const body_state *b)
{
    return vec3_sub(vec3_add(b->position, quat_rotate(b->attitude, j->def.anchor_b)),
                    vec3_add(a->position, quat_rotate(a->attitude, j->def.anchor_a)));
}

// The angle of a line in a body, next to `near`.
static double angle_in(const vec3 axes[3], quat attitude, vec3 line, double near_angle)
{
    const vec3 d = quat_unrotate(attitude, line);
    const double angle = math_atan2(vec3_dot(d, axes[2]), vec3_dot(d, axes[1])),
                 turns = (near_angle - angle) / TWO_PI;
    return angle + TWO_PI * floor(turns + 0.5);
}

joint_gear vy_gear_angles(const joint_slot *j, const body_state *a, const body_state *b)
{
    const vec3 d = line_of(j, a, b);
    return (joint_gear){{angle_in(j->axes_a, a->attitude, d, j->gear.angle[0]),
                         angle_in(j->axes_b, b->attitude, d, j->gear.angle[1])}};
}

void vy_gear_begin_step(vy_bodies *b)
{
    joint_system *s = b->joints;
    for (uint32_t k = 0; k < s->slot_count && s->geared_count > 0; ++k)
        s->slots[k].gear = s->slots[k].saved_gear = b->joint_gears[k];
}

void vy_gear_end_substep(joint_system *s, const island *is)
{
    for (uint32_t n = is->joint_first; n < is->joint_last && s->geared_count > 0; ++n) {
        joint_slot *j = &s->slots[s->joint_order[n]];
        if (joint_is_geared(j)) j->gear = vy_gear_angles(j, &s->stage[j->body[0]], &s->stage[j->body[1]]);
    }
}

void vy_gear_end_step(vy_bodies *b)
{
    const body_state world = {.attitude = {1.0, 0.0, 0.0, 0.0}};
    joint_system *s = b->joints;
    for (uint32_t k = 0; k < s->slot_count && s->geared_count > 0; ++k) {
        joint_slot *j = &s->slots[k];
        if (!j->used || !joint_is_geared(j)) continue;
        const uint32_t slot_a = j->body[0], slot_b = j->body[1];
        VY_ASSERT(slot_a <= b->body_cap && slot_b <= b->body_cap);
        const joint_gear angles = vy_gear_angles(j, slot_a == b->body_cap ? &world : &b->state[slot_a],
                                                 slot_b == b->body_cap ? &world : &b->state[slot_b]);
        if (!real_is_finite(angles.angle[0]) || !real_is_finite(angles.angle[1])) continue; // the set ends
        j->gear = b->joint_gears[k] = angles;
    }
}
