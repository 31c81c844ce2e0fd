// polyhedron.h - the faces and edges of boxes and hulls, and the one edge of a capsule's core.
#pragma once
#include "base/assert.h"
#include "base/vec.h"
#include "volery/shape.h"

typedef struct polyhedron_edge {
    vec3 point, along; // a point on it, and its direction
    double from, to;   // it is point + t along, from <= t <= to
    vec3 left, right;  // normals of its two faces
    int is_segment;    // a segment without faces: every normal perpendicular to it counts
} polyhedron_edge;

VY_FN int polyhedron_face_count(const vy_shape *s)
{
    return s->kind == VY_SHAPE_HULL ? s->hull->face_count : s->kind == VY_SHAPE_BOX ? 6 : 0;
}

VY_FN int polyhedron_edge_count(const vy_shape *s)
{
    switch (s->kind) {
    case VY_SHAPE_HULL: return s->hull->edge_count;
    case VY_SHAPE_BOX: return 12;
    case VY_SHAPE_CAPSULE: return 1;
    default: return 0;
    }
}

VY_FN vec3 polyhedron_axis(int i, double sign)
{
    return vec3_make(i == 0 ? sign : 0.0, i == 1 ? sign : 0.0, i == 2 ? sign : 0.0);
}

VY_FN vec3 polyhedron_face_normal(const vy_shape *s, int i)
{
    VY_ASSERT(i >= 0 && i < polyhedron_face_count(s));
    return s->kind == VY_SHAPE_HULL ? s->hull->faces[i].normal
                                    : polyhedron_axis(i / 2, i % 2 != 0 ? -1.0 : 1.0);
}

/// [m] The face is where dot(normal, p) is this.
VY_FN double polyhedron_face_offset(const vy_shape *s, int i)
{
    VY_ASSERT(i >= 0 && i < polyhedron_face_count(s));
    if (s->kind == VY_SHAPE_HULL) return s->hull->faces[i].offset;
    return i / 2 == 0 ? s->box.half.x : i / 2 == 1 ? s->box.half.y : s->box.half.z;
}

VY_FN polyhedron_edge polyhedron_edge_of(const vy_shape *s, int i)
{
    VY_ASSERT(i >= 0 && i < polyhedron_edge_count(s));
    polyhedron_edge e;
    e.is_segment = 0;
    if (s->kind == VY_SHAPE_HULL) {
        const vy_hull_edge *hull_edge = &s->hull->edges[i];
        e.point = s->hull->vertices[hull_edge->a];
        e.along = vec3_sub(s->hull->vertices[hull_edge->b], e.point);
        e.from = 0.0;
        e.to = 1.0;
        e.left = s->hull->faces[hull_edge->left].normal;
        e.right = s->hull->faces[hull_edge->right].normal;
    } else if (s->kind == VY_SHAPE_BOX) {
        const int k = i / 4, k1 = (k + 1) % 3, k2 = (k + 2) % 3;
        e.along = polyhedron_axis(k, 1.0);
        e.from = -2.0 * vec3_dot(e.along, s->box.half);
        e.to = 0.0;
        e.left = polyhedron_axis(k1, (i & 1) != 0 ? -1.0 : 1.0);
        e.right = polyhedron_axis(k2, (i & 2) != 0 ? -1.0 : 1.0);
        e.point = vec3_mul(s->box.half, vec3_add(e.along, vec3_add(e.left, e.right)));
    } else {
        e.point = vec3_zero();
        e.along = polyhedron_axis(2, 1.0);
        e.from = -s->capsule.half_length;
        e.to = s->capsule.half_length;
        e.left = e.right = vec3_zero();
        e.is_segment = 1;
    }
    return e;
}
