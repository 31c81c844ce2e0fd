// manifold.c - the points of a contact: one polygon clipped by the sides of another, and the best four of
// what is left.
#include "geometry/manifold.h"

typedef struct loop {
    int count;
    vec3 p[2 * VY_FEATURE_POINTS];
    uint64_t id[2 * VY_FEATURE_POINTS];
    uint32_t line[2 * VY_FEATURE_POINTS]; // that the edge from this point lies on
} loop;

static void loop_add(loop *l, vec3 p, uint64_t id, uint32_t line)
{
    if (l->count == 2 * VY_FEATURE_POINTS) return;
    l->p[l->count] = p;
    l->line[l->count] = line;
    l->id[l->count++] = id;
}

// Sutherland and Hodgman: the part of `in` with dot(m, p) <= offset. Returns 0, and leaves *out alone, when
// nothing is cut off.
static int cut(const loop *in, vec3 m, double offset, uint32_t side, loop *out)
{
    double h[2 * VY_FEATURE_POINTS], most = -1.0;
    for (int i = 0; i < in->count; ++i) {
        h[i] = vec3_dot(m, in->p[i]) - offset;
        most = real_max(most, h[i]);
    }
    if (!(most > 0.0)) return 0;
    const int edges = in->count == 2 ? 1 : in->count; // a segment has one edge, not two
    const uint32_t name = side_name(side);
    out->count = 0;
    for (int i = 0; i < in->count; ++i) {
        const int j = i + 1 == in->count ? 0 : i + 1;
        if (h[i] <= 0.0) loop_add(out, in->p[i], in->id[i], in->line[i]);
        if (i < edges && h[i] * h[j] < 0.0) {
            const vec3 p = vec3_add_scaled(in->p[i], h[i] / (h[i] - h[j]), vec3_sub(in->p[j], in->p[i]));
            loop_add(out, p, cut_id(in->id[i], in->line[i], name), h[i] < 0.0 ? name : in->line[i]);
        }
    }
    return 1;
}

void vy_manifold_clip(const vy_feature *reference, const vy_feature *incident, vec3 n, int turned,
                      int bounded, double slop, double near, vy_candidates *out)
{
    loop buffer[2];
    loop *now = &buffer[0], *next = &buffer[1];
    now->count = 0;
    for (int i = 0; i < incident->count; ++i) {
        const uint32_t line = incident->id[i] & 0x7fffu;
        loop_add(now, incident->p[i], point_id(turned, reference->face, incident->face, line, 0), line);
    }
    for (int i = 0; bounded && i < reference->count; ++i) {
        const int j = i + 1 == reference->count ? 0 : i + 1;
        const vec3 side = vec3_cross(vec3_sub(reference->p[j], reference->p[i]), reference->normal);
        if (!cut(now, side, vec3_dot(side, reference->p[i]), reference->id[i], next)) continue;
        loop *const t = now;
        now = next;
        next = t;
    }
    const double level = vec3_dot(reference->normal, reference->p[0]);
    const double along = real_abs(vec3_dot(reference->normal, n));
    for (int i = 0; i < now->count && out->count < 2 * VY_FEATURE_POINTS; ++i) {
        const double below = level - vec3_dot(reference->normal, now->p[i]);
        if (below < -real_max(slop, near)) continue;
        out->at[out->count].p = now->p[i];
        out->at[out->count].depth = (near > 0.0 ? below : real_max(below, 0.0)) / along;
        out->at[out->count++].id = now->id[i];
    }
}

static void swap(vy_candidates *c, int i, int j)
{
    const vec3 p = c->at[i].p;
    const double depth = c->at[i].depth;
    const uint64_t id = c->at[i].id;
    c->at[i] = c->at[j];
    c->at[j].p = p;
    c->at[j].depth = depth;
    c->at[j].id = id;
}

static double distance2(vec3 a, vec3 b)
{
    const vec3 d = vec3_sub(a, b);
    return vec3_dot(d, d);
}

void vy_manifold_reduce(vy_candidates *c)
{
    int best = 0;
    for (int i = 1; i < c->count; ++i) {
        if (c->at[i].depth > c->at[best].depth) best = i;
    }
    if (c->count > 1) swap(c, 0, best);
    if (c->count <= VY_MANIFOLD_POINTS) return;
    double most = -1.0;
    for (int i = 1; i < c->count; ++i) { // the farthest from it
        const double d2 = distance2(c->at[i].p, c->at[0].p);
        if (d2 > most) {
            most = d2;
            best = i;
        }
    }
    swap(c, 1, best);
    const vec3 p0 = c->at[0].p, edge = vec3_sub(c->at[1].p, p0);
    vec3 first = vec3_zero();
    most = -1.0;
    for (int i = 2; i < c->count; ++i) { // the farthest from their line
        const vec3 m = vec3_cross(edge, vec3_sub(c->at[i].p, p0));
        if (vec3_dot(m, m) > most) {
            most = vec3_dot(m, m);
            best = i;
            first = m;
        }
    }
    swap(c, 2, best);
    // The one that adds most area outside the triangle of the three.
    const vec3 q[3] = {c->at[0].p, c->at[1].p, c->at[2].p};
    most = 0.0;
    best = -1;
    for (int i = 3; i < c->count; ++i) {
        for (int k = 0; k < 3; ++k) {
            const vec3 m = vec3_cross(vec3_sub(q[k == 2 ? 0 : k + 1], q[k]), vec3_sub(c->at[i].p, q[k]));
            const double outside = -vec3_dot(m, first);
            if (outside > most) {
                most = outside;
                best = i;
            }
        }
    }
    c->count = 3;
    if (best >= 0) {
        swap(c, 3, best);
        c->count = 4;
    }
}

// Two segments side by side: the ends of each that lie along the other.
static void clip_segments(const vy_feature *a, const vy_feature *b, vec3 n, vy_candidates *out)
{
    const vec3 u = vec3_sub(a->p[1], a->p[0]), v = vec3_sub(b->p[1], b->p[0]);
    const double uu = vec3_dot(u, u), uv = vec3_dot(u, v);
    if (uv * uv < VY_FACE_ALIGNED * uu * vec3_dot(v, v)) return;
    loop whole;
    whole.count = 0;
    for (int i = 0; i < 2; ++i)
        loop_add(&whole, b->p[i], point_id(0, a->face, b->face, b->id[i], 0), b->id[i]);
    loop half, rest;
    const loop *left = cut(&whole, u, vec3_dot(u, a->p[1]), a->id[1], &half) ? &half : &whole;
    if (cut(left, vec3_neg(u), -vec3_dot(u, a->p[0]), a->id[0], &rest)) left = &rest;
    for (int i = 0; i < left->count; ++i) {
        const double t = vec3_dot(u, vec3_sub(left->p[i], a->p[0])) / uu;
        const double depth = vec3_dot(n, vec3_sub(vec3_add_scaled(a->p[0], t, u), left->p[i]));
        if (depth < 0.0) continue;
        out->at[out->count].p = left->p[i];
        out->at[out->count].depth = depth;
        out->at[out->count++].id = left->id[i];
    }
}

// A corner's number of a box is made of the signs of its coordinates; coordinates across d are as good either
// way.
static uint64_t box_corner_id(vec3 h, vec3 d, double slop)
{
    const double half[3] = {h.x, h.y, h.z}, way[3] = {d.x, d.y, d.z};
    uint64_t first = 0, second = 0;
    for (int k = 2; k >= 0; --k) {
        const uint64_t bit = (uint64_t)1 << k;
        if (real_abs(way[k]) * 2.0 * half[k] <= slop) {
            second = first | bit;
        } else if (way[k] > 0.0) {
            first |= bit;
            second |= bit;
        }
    }
    return first << 15 | (second > first ? second : 0x7fff);
}

// The name of the vertex or edge of a shape that is highest along d: its two smallest vertex numbers.
static uint64_t corner_id(const vy_shape *shape, vec3 d, double slop)
{
    if (shape->kind == VY_SHAPE_BOX) return box_corner_id(shape->box.half, d, slop);
    if (shape->kind != VY_SHAPE_HULL) return 0;
    const vy_hull *hull = shape->hull;
    const int top = vy_support()->extreme(hull->x, hull->y, hull->z, hull->padded_count, d);
    const double level = vec3_dot(hull->vertices[top], d) - slop;
    uint64_t id[2] = {0x7fff, 0x7fff};
    for (int i = 0, found = 0; i < hull->vertex_count && found < 2; ++i) {
        if (vec3_dot(hull->vertices[i], d) >= level) id[found++] = (uint64_t)i;
    }
    return (id[0] & 0x7fffu) << 15 | (id[1] & 0x7fffu);
}

uint64_t vy_corners_id(const vy_shape *a, vec3 n, const vy_shape *b, vec3 m, double scale)
{
    return (uint64_t)1 << 62 | corner_id(a, n, 1e-9 * scale) << 30 | corner_id(b, m, 1e-9 * scale);
}

static void write_point(const vy_pose *pose, vec3 n, vec3 on_a, double depth, uint64_t id, vy_manifold *out)
{
    vy_manifold_point *p = &out->points[out->count++];
    p->point_a = vec3_add(pose->position, quat_rotate(pose->rotation, on_a));
    p->point_b = vec3_add_scaled(p->point_a, -depth, n);
    p->depth = depth;
    p->id = id;
}

// Where the polygons have no point that deep, the point that does, on A.
static vec3 deepest_point(const vy_feature *fb, vec3 n, double depth)
{
    int best = 0;
    for (int i = 1; i < fb->count; ++i) {
        if (vec3_dot(n, fb->p[i]) < vec3_dot(n, fb->p[best])) best = i;
    }
    return vec3_add_scaled(fb->p[best], depth, n);
}

void vy_manifold_build(const vy_shape *a, const vy_shape *b, const mat3 *rotation, vec3 offset, double scale,
                       vec3 n, double depth, const vec3 *witness, double near, const vy_pose *pose_a,
                       vy_manifold *out)
{
    vy_feature fa, fb;
    vy_candidates c;
    c.count = out->count = 0;
    out->normal = quat_rotate(pose_a->rotation, n);
    const vec3 m = vec3_neg(mat3_tmul_vec(*rotation, n));
    vy_feature_of(a, n, &fa);
    vy_feature_of(b, m, &fb);
    vy_feature_move(rotation, offset, &fb);
    const double align_a = fa.count > 2 ? vec3_dot(fa.normal, n) : -1.0;
    const double align_b = fb.count > 2 ? -vec3_dot(fb.normal, n) : -1.0;
    // A's face is preferred by a little, so that rounding does not make two equal faces take turns.
    const int turned = align_b > align_a + 1e-14, segments = fa.count == 2 && fb.count == 2;
    if (real_max(align_a, align_b) >= VY_FACE_ALIGNED) {
        vy_manifold_clip(turned ? &fb : &fa, turned ? &fa : &fb, n, turned, 1, 1e-12 * scale, near, &c);
    } else if (segments) {
        clip_segments(&fa, &fb, n, &c);
    }
    double deepest = -1.0;
    for (int i = 0; i < c.count; ++i) {
        // No point is deeper than the contact: what the faces' planes say beyond it is their tilt.
        c.at[i].depth = real_min(c.at[i].depth, depth);
        deepest = real_max(deepest, c.at[i].depth);
        if (!turned) c.at[i].p = vec3_add_scaled(c.at[i].p, c.at[i].depth, n); // from B's surface to A's
    }
    // The faces have the deepest point where the normal is one of theirs; else it is the one that was found
    // before.
    const int exact =
        (segments || real_max(align_a, align_b) >= 1.0 - 4e-15) && deepest >= depth - 1e-9 * scale;
    if (c.count == 0 || (witness != NULL && !exact)) {
        if (c.count == 2 * VY_FEATURE_POINTS) --c.count;
        c.at[c.count] = c.at[0]; // the deepest comes first: of equals the first is kept
        c.at[0].p = witness != NULL ? *witness : deepest_point(&fb, n, depth);
        c.at[0].depth = depth;
        c.at[0].id = vy_corners_id(a, n, b, m, scale);
        ++c.count;
    }
    vy_manifold_reduce(&c);
    for (int i = 0; i < c.count; ++i)
        write_point(pose_a, out->normal, c.at[i].p, c.at[i].depth, c.at[i].id, out);
}
