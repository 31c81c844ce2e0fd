// feature.c - the supporting feature of a shape along a direction: face, segment or point.
#include "base/assert.h"
#include "geometry/manifold.h"

static void set_point(vy_feature *f, int i, vec3 p, uint32_t id)
{
    VY_ASSERT(i >= 0 && i < VY_FEATURE_POINTS);
    f->p[i] = p;
    f->id[i] = id;
}

static void feature_of_hull(const vy_hull *hull, vec3 d, vy_feature *out)
{
    int best = 0;
    double top = vec3_dot(hull->faces[0].normal, d);
    for (int i = 1; i < hull->face_count; ++i) {
        const double t = vec3_dot(hull->faces[i].normal, d);
        if (t > top) {
            top = t;
            best = i;
        }
    }
    const vy_hull_face *face = &hull->faces[best];
    VY_ASSERT(face->count >= 3 && face->first >= 0 && face->first + face->count <= hull->half_edge_count);
    // A face of very many sides loses some vertices: the caller adds the deepest point where it is missing.
    const int count = face->count < VY_FEATURE_POINTS ? face->count : VY_FEATURE_POINTS;
    for (int i = 0; i < count; ++i) {
        const int half_edge = face->first + (int)((int64_t)i * face->count / count);
        VY_ASSERT(half_edge < face->first + face->count && hull->loop[half_edge] < hull->vertex_count);
        set_point(out, i, hull->vertices[hull->loop[half_edge]], (uint32_t)hull->loop[half_edge]);
    }
    out->count = count;
    out->normal = face->normal;
    out->face = (uint32_t)best;
}

static void feature_of_box(vec3 half_sides, vec3 d, vy_feature *out)
{
    static const signed char signs[4][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
    const double ax = real_abs(d.x), ay = real_abs(d.y), az = real_abs(d.z);
    const int k = ax >= ay && ax >= az ? 0
                  : ay >= az           ? 1
                                       : 2,
              k1 = k == 2 ? 0 : k + 1, k2 = k == 0 ? 2 : k - 1;
    const double half[3] = {half_sides.x, half_sides.y, half_sides.z}, direction[3] = {d.x, d.y, d.z};
    const double sign = direction[k] < 0.0 ? -1.0 : 1.0;
    double normal[3] = {0.0, 0.0, 0.0};
    normal[k] = sign;
    for (int i = 0; i < 4; ++i) {
        double p[3];
        p[k] = sign * half[k];
        p[k1] = half[k1] * signs[i][0];
        p[k2] = half[k2] * signs[i][1] * sign; // keeps the loop counter-clockwise seen from outside
        const uint32_t id = (p[0] > 0.0 ? 1u : 0u) | (p[1] > 0.0 ? 2u : 0u) | (p[2] > 0.0 ? 4u : 0u);
        set_point(out, i, vec3_make(p[0], p[1], p[2]), id);
    }
    out->count = 4;
    out->normal = vec3_make(normal[0], normal[1], normal[2]);
    out->face = (uint32_t)(2 * k + (sign < 0.0 ? 1 : 0));
}

static void feature_of_capsule(const vy_capsule *c, vec3 d, vy_feature *out)
{
    const vec3 surface = vec3_scale(c->radius, d), end = vec3_make(0.0, 0.0, c->half_length);
    out->normal = d;
    out->face = 0;
    if (d.z * d.z < 1.0 - VY_FACE_ALIGNED_COSINE * VY_FACE_ALIGNED_COSINE && c->half_length > 0.0) {
        out->count = 2;
        set_point(out, 0, vec3_add(end, surface), 0);
        set_point(out, 1, vec3_sub(surface, end), 1);
    } else {
        out->count = 1;
        set_point(out, 0, d.z < 0.0 ? vec3_sub(surface, end) : vec3_add(end, surface), d.z < 0.0 ? 1 : 0);
    }
}

static void feature_of_cylinder(const vy_cylinder *c, vec3 d, vy_feature *out)
{
    static const double rim[8][2] = {{1.0, 0.0},  {0.70710678118654757, 0.70710678118654757},
                                     {0.0, 1.0},  {-0.70710678118654757, 0.70710678118654757},
                                     {-1.0, 0.0}, {-0.70710678118654757, -0.70710678118654757},
                                     {0.0, -1.0}, {0.70710678118654757, -0.70710678118654757}};
    const double sign = d.z < 0.0 ? -1.0 : 1.0, across2 = d.x * d.x + d.y * d.y;
    out->normal = d;
    out->face = d.z < 0.0 ? 1 : 0;
    if (real_abs(d.z) >= VY_FACE_ALIGNED_COSINE) {
        out->count = 8;
        out->normal = vec3_make(0.0, 0.0, sign);
        for (int i = 0; i < 8; ++i) {
            const double *r = rim[i];
            set_point(out, i, vec3_make(c->radius * r[0], sign * c->radius * r[1], sign * c->half_height),
                      (uint32_t)i);
        }
        return;
    }
    VY_ASSERT(across2 > 0.0);
    const double scale = c->radius / real_sqrt(across2);
    const vec3 side = vec3_make(scale * d.x, scale * d.y, 0.0), end = vec3_make(0.0, 0.0, c->half_height);
    if (d.z * d.z < 1.0 - VY_FACE_ALIGNED_COSINE * VY_FACE_ALIGNED_COSINE) {
        out->count = 2;
        out->face = 2;
        set_point(out, 0, vec3_add(side, end), 0);
        set_point(out, 1, vec3_sub(side, end), 1);
    } else {
        out->count = 1;
        set_point(out, 0, vec3_add_scaled(side, sign, end), d.z < 0.0 ? 1 : 0);
    }
}

void vy_feature_of(const vy_shape *shape, vec3 d, vy_feature *out)
{
    VY_ASSERT(vec3_is_unit(d) && vy_shape_is_convex(shape));
    switch (shape->kind) {
    case VY_SHAPE_HULL: feature_of_hull(shape->hull, d, out); return;
    case VY_SHAPE_BOX: feature_of_box(shape->box.half, d, out); return;
    case VY_SHAPE_CAPSULE: feature_of_capsule(&shape->capsule, d, out); return;
    case VY_SHAPE_CYLINDER: feature_of_cylinder(&shape->cylinder, d, out); return;
    default:
        out->count = 1;
        out->normal = d;
        out->face = 0;
        set_point(out, 0, vec3_scale(shape->sphere.radius, d), 0);
    }
}

void vy_feature_transform(const mat3 *rotation, vec3 offset, vy_feature *feature)
{
    VY_ASSERT(feature->count >= 1 && feature->count <= VY_FEATURE_POINTS);
    feature->normal = mat3_mul_vec(*rotation, feature->normal);
    for (int i = 0; i < feature->count; ++i)
        feature->p[i] = vec3_add(mat3_mul_vec(*rotation, feature->p[i]), offset);
}
