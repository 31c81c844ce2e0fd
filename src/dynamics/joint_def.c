// joint_def.c - defs of joints: defaults, names, units and choices of their rows, checks.
#include "dynamics/joint_def.h"
#include "base/fail.h"
#include "base/schema_rows.h"
#include "base/vec.h"

#define JOINT_COOKIE 0x6a6f696eu
#define PI           3.14159265358979323846

vy_constraint vy_default_constraint(void)
{
    const vy_constraint c = {.name = "constraint", .dimension = 1, .alpha = 10.0, .beta = 10.0};
    return c;
}

vy_joint_def vy_default_joint_def(void)
{
    const vy_joint_def def = {
        .cookie = JOINT_COOKIE, .axis_a = {0.0, 0.0, 1.0}, .axis_b = {0.0, 0.0, 1.0}, .ratio = 1.0};
    return def;
}

const char *vy_joint_kind_name(vy_joint_kind kind)
{
    switch (kind) {
#define NAME(arg, name, word, ...) \
    case VY_JOINT_##name: return word;
        VY_JOINT_LIST(NAME, )
#undef NAME
    case VY_JOINT_CUSTOM: return "custom";
    case VY_JOINT_NONE: break;
    }
    return "none";
}

// ---- rows

_Static_assert(sizeof(vy_joint_kind) == sizeof(int), "choices are read and written as int");

const vy_choice vy_joint_kinds[JOINT_KINDS] = {
#define KIND(arg, name, word, rows, has, text) CHOICE(word, VY_JOINT_##name, text),
    VY_JOINT_LIST(KIND, )
#undef KIND
};
const vy_choice vy_joint_limits[2] = {CHOICE("off", 0, "free"), CHOICE("on", 1, "within low ... high")};
const vy_choice vy_joint_far_open[2] = {CHOICE("no", 0, "that is a mistake"),
                                        CHOICE("yes", 1, "it is meant")};

// Do its spring, its stops and its motor act on an angle, or along a line?
static int is_angular(const void *joint)
{
    const vy_joint_kind kind = ((const vy_joint_def *)joint)->kind;
    return vy_joint_has(kind, VY_JOINT_TURNS) && !vy_joint_has(kind, VY_JOINT_SLIDES);
}

const char *vy_joint_unit_of_travel(const void *joint) { return is_angular(joint) ? "rad" : "m"; }
const char *vy_joint_unit_of_speed(const void *joint) { return is_angular(joint) ? "rad/s" : "m/s"; }
const char *vy_joint_unit_of_effort(const void *joint) { return is_angular(joint) ? "N m" : "N"; }
const char *vy_joint_unit_of_stiffness(const void *joint) { return is_angular(joint) ? "N m/rad" : "N/m"; }
const char *vy_joint_unit_of_damping(const void *joint) { return is_angular(joint) ? "N m s/rad" : "N s/m"; }

// ---- checks

static vy_status check_length(const vy_joint_def *def, vy_error *err)
{
    const int is_spring = vy_joint_has(def->kind, VY_JOINT_HAS_SPRING);
    if (!vy_joint_has(def->kind, VY_JOINT_HAS_LENGTH)) return VY_OK;
    if (real_is_finite(def->length) && (def->length > 0.0 || (is_spring && def->length == 0.0))) return VY_OK;
    return vy_fail(err, VY_BAD_DISTANCE, "a joint's length must be finite and above zero, not %g",
                   def->length);
}

static vy_status check_custom(const vy_constraint *c, vy_error *err)
{
    if (c == NULL || c->evaluate == NULL || c->jacobian == NULL) {
        return vy_fail(err, VY_BAD_VALUE, "a custom joint needs a constraint with evaluate and jacobian");
    }
    if (c->dimension < 1 || c->dimension > VY_CONSTRAINT_ROWS) {
        return vy_fail(err, VY_BAD_VALUE, "a constraint has 1 ... %d rows, not %d", VY_CONSTRAINT_ROWS,
                       c->dimension);
    }
    if (!is_finite_non_negative(c->alpha) || !is_finite_non_negative(c->beta)) {
        return vy_fail(err, VY_BAD_VALUE, "the gains alpha and beta must be finite and not negative");
    }
    return VY_OK;
}

vy_status vy_joint_check(const vy_joint_def *def, vy_error *err)
{
    if (def->cookie != JOINT_COOKIE) return vy_fail(err, VY_BAD_VALUE, "start from vy_default_joint_def()");
    if (def->kind <= VY_JOINT_NONE || def->kind > VY_JOINT_CUSTOM) {
        return vy_fail(err, VY_BAD_VALUE, "no joint of kind %d", (int)def->kind);
    }
    if (!vec3_is_finite(def->anchor_a) || !vec3_is_finite(def->anchor_b)) {
        return vy_fail(err, VY_BAD_VALUE, "a joint's anchors must be finite");
    }
    const double length2_a = vec3_dot(def->axis_a, def->axis_a),
                 length2_b = vec3_dot(def->axis_b, def->axis_b);
    if (!(length2_a > 0.0) || !real_is_finite(length2_a) || !(length2_b > 0.0) ||
        !real_is_finite(length2_b)) {
        return vy_fail(err, VY_BAD_VALUE, "a joint's axes must be finite and longer than zero");
    }
    if (!is_finite_non_negative(def->stiffness) || !is_finite_non_negative(def->damping) ||
        !real_is_finite(def->rest) || !is_finite_non_negative(def->motor_gain) ||
        !is_finite_non_negative(def->max_motor_torque) || !real_is_finite(def->motor_speed)) {
        return vy_fail(err, VY_BAD_VALUE, "stiffness, damping and motor must be finite and not negative");
    }
    if (!is_finite_non_negative(def->motor_stiffness) || !real_is_finite(def->motor_target))
        return vy_fail(err, VY_BAD_VALUE,
                       "a servo's stiffness and target must be finite, the stiffness not negative");
    if (def->motor_stiffness > 0.0 && !vy_joint_has(def->kind, VY_JOINT_TURNS | VY_JOINT_SLIDES))
        return vy_fail(err, VY_BAD_VALUE, "a %s joint has no motor", vy_joint_kind_name(def->kind));
    if (def->limited &&
        (!real_is_finite(def->low) || !real_is_finite(def->high) || !(def->low < def->high))) {
        return vy_fail(err, VY_BAD_VALUE, "limits must be finite and low below high");
    }
    if (vy_joint_has(def->kind, VY_JOINT_HAS_WHEELS) &&
        (!vec3_is_finite(def->wheel_a) || !vec3_is_finite(def->wheel_b)))
        return vy_fail(err, VY_BAD_VALUE, "a pulley's wheels must be finite");
    if (vy_joint_has(def->kind, VY_JOINT_HAS_WHEELS) && !(def->ratio > 0.0 && real_is_finite(def->ratio)))
        return vy_fail(err, VY_BAD_VALUE, "the ratio of a pulley must be finite and above zero, not %g",
                       def->ratio);
    if (vy_joint_has(def->kind, VY_JOINT_GEARED) &&
        (def->ratio == 0.0 || !real_is_finite(def->ratio) || !real_is_finite(1.0 / def->ratio)))
        return vy_fail(err, VY_BAD_VALUE, "the ratio of a gear must be finite and not 0");
    if (!(def->cone >= 0.0 && def->cone <= 3.1))
        return vy_fail(err, VY_BAD_VALUE, "a cone is 0, which is none, to 3.1 rad, not %g", def->cone);
    if (def->cone > 0.0 && !vy_joint_has(def->kind, VY_JOINT_HAS_CONE))
        return vy_fail(err, VY_BAD_VALUE, "a %s joint has no cone", vy_joint_kind_name(def->kind));
    if (def->limited && def->cone == 0.0 && vy_joint_has(def->kind, VY_JOINT_HAS_CONE))
        return vy_fail(err, VY_BAD_VALUE, "limits of the twist of a %s joint need a cone",
                       vy_joint_kind_name(def->kind));
    if (def->limited && !vy_joint_has(def->kind, VY_JOINT_TURNS | VY_JOINT_SLIDES | VY_JOINT_HAS_CONE)) {
        return vy_fail(err, VY_BAD_VALUE, "a %s joint has no limits", vy_joint_kind_name(def->kind));
    }
    if (def->limited && !vy_joint_has(def->kind, VY_JOINT_SLIDES) && !(def->low > -PI && def->high < PI)) {
        return vy_fail(err, VY_BAD_VALUE, "limits of an angle must be within -pi ... pi");
    }
    if (def->collide_connected < VY_JOINT_COLLIDE_BY_KIND || def->collide_connected > VY_JOINT_COLLIDE_OFF) {
        return vy_fail(err, VY_BAD_VALUE, "collide_connected is by kind, on or off, not %d",
                       (int)def->collide_connected);
    }
    if (!is_finite_non_negative(def->break_force) || !is_finite_non_negative(def->break_torque))
        return vy_fail(err, VY_BAD_VALUE,
                       "break_force and break_torque must be finite and not negative; 0 is never");
    const vy_status status = check_length(def, err);
    if (status != VY_OK) return status;
    return def->kind == VY_JOINT_CUSTOM ? check_custom(def->custom, err) : VY_OK;
}
