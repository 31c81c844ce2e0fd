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

VY_FN int polyhedron_face_count(const vy_shape *shape)
{
    return shape->kind == VY_SHAPE_HULL ? shape->hull->face_count : shape->kind == VY_SHAPE_BOX ? 6 : 0;
}

VY_FN int polyhedron_edge_count(const vy_shape *shape)
{
    switch (shape->kind) {
    case VY_SHAPE_HULL: return shape->hull->edge_count;
    case VY_SHAPE_BOX: return 12;
    case VY_SHAPE_CAPSULE: return 1;
    default: return 0;
    }
}

VY_FN vec3 polyhedron_axis(int i, double sign)
{
    return vec3_make(i == 0 ? sign : 0.0, i == 1 ? sign : 0.0, i == 2 ? sign : 0.0);
}

VY_FN vec3 polyhedron_face_normal(const vy_shape *shape, int i)
{
    VY_ASSERT(i >= 0 && i < polyhedron_face_count(shape));
    return shape->kind == VY_SHAPE_HULL ? shape->hull->faces[i].normal
                                        : polyhedron_axis(i / 2, i % 2 != 0 ? -1.0 : 1.0);
}

/// [m] The face is where dot(normal, p) is this.
VY_FN double polyhedron_face_offset(const vy_shape *shape, int i)
{
    VY_ASSERT(i >= 0 && i < polyhedron_face_count(shape));
    if (shape->kind == VY_SHAPE_HULL) return shape->hull->faces[i].offset;
    return i / 2 == 0 ? shape->box.half.x : i / 2 == 1 ? shape->box.half.y : shape->box.half.z;
}

VY_FN polyhedron_edge polyhedron_edge_of(const vy_shape *shape, int i)
{
    VY_ASSERT(i >= 0 && i < polyhedron_edge_count(shape));
    polyhedron_edge edge;
    edge.is_segment = 0;
    if (shape->kind == VY_SHAPE_HULL) {
        const vy_hull_edge *hull_edge = &shape->hull->edges[i];
        edge.point = shape->hull->vertices[hull_edge->a];
        edge.along = vec3_sub(shape->hull->vertices[hull_edge->b], edge.point);
        edge.from = 0.0;
        edge.to = 1.0;
        edge.left = shape->hull->faces[hull_edge->left].normal;
        edge.right = shape->hull->faces[hull_edge->right].normal;
    } else if (shape->kind == VY_SHAPE_BOX) {
        const int k = i / 4, k1 = (k + 1) % 3, k2 = (k + 2) % 3;
        edge.along = polyhedron_axis(k, 1.0);
        edge.from = -2.0 * vec3_dot(edge.along, shape->box.half);
        edge.to = 0.0;
        edge.left = polyhedron_axis(k1, (i & 1) != 0 ? -1.0 : 1.0);
        edge.right = polyhedron_axis(k2, (i & 2) != 0 ? -1.0 : 1.0);
        edge.point = vec3_mul(shape->box.half, vec3_add(edge.along, vec3_add(edge.left, edge.right)));
    } else {
        edge.point = vec3_zero();
        edge.along = polyhedron_axis(2, 1.0);
        edge.from = -shape->capsule.half_length;
        edge.to = shape->capsule.half_length;
        edge.left = edge.right = vec3_zero();
        edge.is_segment = 1;
    }
    return edge;
}
