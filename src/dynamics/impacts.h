// impacts.h - continuous collision: no body passes through another within a step.
#pragma once
#include "dynamics/contacts.h"
#include "geometry/sweep.h"

#define MARGIN_FRACTION 0.25 // of the thinner body: contacts up to this far apart are solved between impacts

enum {
    IMPACT_BODIES = 32,          // a group of more is not stepped from impact to impact
    IMPACT_JOINTED_BODIES = 128, // nor one with joints of more than this
    IMPACT_CONTACTS = 256,       // contacts of a group
};

/// Before contacts are solved: save the free flight where the world's plant has integrated the bodies.
void vy_impacts_begin(vy_bodies *b);
/// Whether a body moves or rotates so much in the step that its path has to be followed.
int vy_impacts_is_fast(const vy_bodies *b, uint32_t i, double h);
/// Whether two bodies touch on their paths through the step.
int vy_impacts_collide(const vy_bodies *b, uint32_t i, uint32_t j, double h);
/// After they were solved: follow the paths of fast bodies, and where one penetrates another, step those
/// involved again from impact to impact. Returns VY_BODIES_ bits.
uint32_t vy_impacts_resolve(vy_bodies *b, double h);

// ---- paths, for impacts.c

/// Distances at which two bodies on their paths count as touching, or as too deep.
typedef struct pair_limits {
    double target, tolerance; // [m] an impact is between target and target + tolerance
    double depth;             // [m] accepted overlap
    double max_depth;         // [m] deeper ones are not followed
    double max_depth_growth;  // [m] by how much an overlap deeper than accepted may grow
    double margin;            // [m] contacts are solved up to this far apart
} pair_limits;

VY_FN int body_is_kinematic(const vy_bodies *b, uint32_t i) { return b->slots[i].kind == VY_BODY_KINEMATIC; }

/// The path of a body over `h` seconds from its start_state to its state.
vy_sweep_path vy_impact_path(const vy_bodies *b, uint32_t i, double h);
/// [m] The largest distance of points that rotation moves from the point about which a path turns.
double vy_impact_rotation_radius(const vy_bodies *b, uint32_t i, vec3 local_center);
/// [m] How far a jointed body may get from its path within the step: joints lead it along curves. 0 of
/// others.
double vy_impact_path_deviation(const vy_bodies *b, uint32_t i, const vy_sweep_path *path, double h);
/// Whether the path is within the range of shape queries; 0 for NaN.
int vy_impact_path_is_bounded(const vy_sweep_path *path);
/// Bounds of a path, widened by `margin`.
vy_bounds vy_impact_bounds(const vy_bodies *b, uint32_t i, const vy_sweep_path *path, double margin);
/// Those of two bodies.
pair_limits vy_impact_limits(const vy_bodies *b, uint32_t i, uint32_t j);
/// When two bodies first overlap by more than the accepted depth, or, where no contact between them is
/// solved, touch. Returns 0 when they do not.
int vy_impact_time(const vy_bodies *b, uint32_t i, uint32_t j, const vy_sweep_path *pi,
                   const vy_sweep_path *pj, int is_solved, vy_separation *out);

// ---- groups, for impacts.c

/// Bodies that are stepped again together.
typedef struct impact_group {
    vy_bodies *b;
    double h;                               // [s] of the step
    uint32_t bodies[IMPACT_JOINTED_BODIES]; // slots, ascending
    uint32_t count;
    int has_joints;       // 1: some are on joints
    double max_deviation; // [m] that jointed bodies may get from their paths in an interval
    body_state step_start[IMPACT_JOINTED_BODIES]; // at the start of the step
    body_wrench wrench[IMPACT_JOINTED_BODIES];    // of bodies that the plant flies
    body_previous previous[IMPACT_JOINTED_BODIES];
    double t;                       // [s] since the start of the step
    double max_interval;            // [s] how long the next interval may be
    uint64_t keys[IMPACT_CONTACTS]; // pairs that are solved in the interval, ascending
    uint32_t key_count;
    int use_closest_points; // 1: the contact of this pair uses the closest points, not the manifold
    uint64_t closest_points_key;
    uint32_t outside_body; // a body of another group that was hit, + 1
    int hit_kinematic;     // 1: the last impact was with a kinematic body
} impact_group;

/// Bodies near the box of a body.
typedef struct nearby_bodies {
    const vy_bodies *b;
    uint32_t body; // slot of that one, which is not listed
    uint32_t count;
    uint32_t *slots; // contact_system.near_bodies: one list at a time
} nearby_bodies;

/// Bodies but i whose boxes in the tree overlap `box`, and those without bounds, ascending.
void vy_impact_list_near(const vy_bodies *b, uint32_t i, const vy_bounds *box, nearby_bodies *out);
/// Whether a body is one of the group that is stepped.
VY_FN int vy_impact_is_member(const impact_group *g, uint32_t i) { return g->b->contacts->impact_awake[i]; }
/// Whether the contacts of a pair are solved in the interval.
int vy_impact_is_solved(const impact_group *g, uint64_t key);
/// Contacts of the group at its time, into the contacts of the system.
void vy_impact_collide_group(impact_group *g, double h);
/// Add the impulses of an interval's contacts to those of the step so far.
void vy_impact_add_contacts(impact_group *g, double h);
/// The contacts of the group replace those that were found and solved before. Returns 0 without memory.
int vy_impact_merge_contacts(impact_group *g);
/// The flight of jointed bodies that the plant flies, with the forces at the start of the step.
void vy_impact_step_jointed_free(vy_bodies *b, double h);
/// Joints as they were before the last flight, or the step: `active` of each.
void vy_impact_restore_joints(impact_group *g, const uint64_t *active);
/// The work of joints that close: none yet in the step; that of an interval, up to a part of it, is kept;
/// back to what was kept, as an interval begins again.
void vy_impact_clear_work(const impact_group *g);
void vy_impact_save_work(const impact_group *g, double part);
void vy_impact_restore_work(const impact_group *g);
/// The part of an interval in which all jointed bodies stay near their paths, at most 1.
double vy_impact_straight_fraction(const impact_group *g, double h);
/// Whether some contact of the group touches, or would on the flight just done. If not, jointed bodies keep
/// that flight, which is more accurate than sub-steps with contacts.
int vy_impact_touches(const impact_group *g, double h);
/// Bodies of islands that could not be solved over the whole step have an impact. Returns how many.
uint32_t vy_impact_list_unsolved(const vy_bodies *b);
/// Impulses of the last step are those of longer sub-steps.
void vy_impact_clear_impulses(contact *c);
/// [m] How far jointed bodies may get from their paths: two of them, and all in a group.
double vy_impact_pair_deviation_limit(const vy_bodies *b, uint32_t i, uint32_t j);
double vy_impact_group_deviation_limit(const impact_group *g);
/// VY_CONTACT_SOLVER_IMPULSE: one impulse after the other where bodies touch, before they fly on.
void vy_impact_apply_impulses(impact_group *g);
