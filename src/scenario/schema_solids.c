// schema_solids.c - the rows of collision: shapes, obstacles, terrain, and whether contacts are on.
#include "scenario/schema_rows.h"
#include "dynamics/sleep_def.h"
#include <stdio.h>

_Static_assert(sizeof(vy_collider_kind) == sizeof(int) && sizeof(vy_contacts_mode) == sizeof(int),
               "choices are read and written as int");

#define KIND(name)  (1u << VY_COLLIDER_##name)
#define WITH_RADIUS (KIND(SPHERE) | KIND(CAPSULE) | KIND(CYLINDER))

#define BOUNDED_KINDS                                                                \
    CHOICE("box", VY_COLLIDER_BOX, "about the origin of its frame, along the axes"), \
        CHOICE("sphere", VY_COLLIDER_SPHERE, "about the origin"),                    \
        CHOICE("capsule", VY_COLLIDER_CAPSULE, "about the origin, along z"),         \
        CHOICE("cylinder", VY_COLLIDER_CYLINDER, "about the origin, along z"),       \
        CHOICE("hull", VY_COLLIDER_HULL, "the convex hull of points")
#define HEIGHTS_KIND \
    CHOICE("heights", VY_COLLIDER_HEIGHT_FIELD, "all below a surface over a grid; nothing beside it")
#define PLANE_KIND CHOICE("plane", VY_COLLIDER_PLANE, "all below z = 0 of its frame, without end")

// The numbers of the bounded kinds, for a vy_collider_def at `in_` of `type_`.
#define BOUNDED_ROWS(type_, in_)                                                                           \
    ROW("size", VECTOR, type_, in_ size, .size = 3, .unit = "m", .range = POSITIVE,                        \
        .flags = VY_ROW_REQUIRED, .when = KIND(BOX), .help = "its sides"),                                 \
        ROW("radius", NUMBER, type_, in_ radius, .unit = "m", .range = POSITIVE, .flags = VY_ROW_REQUIRED, \
            .when = WITH_RADIUS, .help = "of a sphere, capsule or cylinder"),                              \
        ROW("length", NUMBER, type_, in_ length, .unit = "m", .range = POSITIVE, .flags = VY_ROW_REQUIRED, \
            .when = KIND(CAPSULE) | KIND(CYLINDER), .help = "along z, a capsule's without its caps"),      \
        ROW("points", TABLE, type_, in_ points, .size = 3, .unit = "m", .range = WITHIN(-1e9, 1e9),        \
            .when = KIND(HULL), .help = "of the hull: rows of x, y, z; four or more"),                     \
        ROW("file", TEXT, type_, in_ file, .size = sizeof((vy_collider_def *)0)->file,                     \
            .flags = VY_ROW_UNHASHED, .keyword = "none", .when = KIND(HULL),                               \
            .help = "an STL or OBJ file beside the scenario, for points"),                                 \
        ROW("scale", NUMBER, type_, in_ scale, .unit = "m", .range = POSITIVE, .flags = VY_ROW_UNHASHED,   \
            .when = KIND(HULL), .help = "length of one unit of that file")
#define HEIGHTS_ROWS(type_, in_)                                                                             \
    ROW("heights", TABLE, type_, in_ heights, .unit = "m", .range = WITHIN(-1e9, 1e9),                       \
        .when = KIND(HEIGHT_FIELD),                                                                          \
        .help = "one row for each y, from south to north, one number for each x, from west to east"),        \
        ROW("spacing", NUMBER, type_, in_ spacing, .unit = "m", .range = POSITIVE, .flags = VY_ROW_REQUIRED, \
            .when = KIND(HEIGHT_FIELD), .help = "from one height to the next, in x and in y"),               \
        ROW("file", TEXT, type_, in_ file, .size = sizeof((vy_collider_def *)0)->file,                       \
            .flags = VY_ROW_UNHASHED, .keyword = "none", .when = KIND(HEIGHT_FIELD),                         \
            .help =                                                                                          \
                "a file NAME.csv beside the scenario, for heights: lines of numbers, separated by commas")
#define MATERIAL_ROW(type_, in_) \
    ROW("material", OBJECT, type_, in_ material, .table = &vy_table_material, .help = "its surface")

static const vy_choice shape_kinds[] = {
    CHOICE(
        "auto", VY_COLLIDER_AUTO,
        "of a drone: the hull of its collision points, else a box about its rotors' discs; of a body: none"),
    CHOICE("none", VY_COLLIDER_NONE, "passes through everything"),
    BOUNDED_KINDS,
};
static const vy_schema_row shape_rows[] = {
    ROW("kind", CHOICE, vy_collider_def, kind, CHOICES(shape_kinds), .help = "the shape"),
    BOUNDED_ROWS(vy_collider_def, ),
    MATERIAL_ROW(vy_collider_def, ),
};
const vy_schema_table vy_shape_table = {
    .title = "Shape",
    .help = "What of a drone or body can touch things: docs/contacts.md. In the vehicle's frame; of a body "
            "from its centre of mass.",
    .size = sizeof(vy_collider_def),
    ROWS(shape_rows)};

static void init_obstacle(void *object, int index)
{
    vy_scenario_obstacle *o = object;
    *o = (vy_scenario_obstacle){.def = vy_default_obstacle_def()};
    snprintf(o->name, sizeof o->name, "obstacle%d", index);
    o->def.solid.kind = VY_COLLIDER_BOX;
}

static const vy_choice obstacle_kinds[] = {BOUNDED_KINDS, PLANE_KIND, HEIGHTS_KIND};
static const vy_choice trigger_choices[] = {
    CHOICE("off", 0, "drones and bodies collide with it, and rays end on it"),
    CHOICE("on", 1, "it stops nothing and no ray; who enters it and leaves it is an event, `trigger`"),
};
static const vy_schema_row obstacle_rows[] = {
    ROW("kind", CHOICE, vy_scenario_obstacle, def.solid.kind, CHOICES(obstacle_kinds),
        .flags = VY_ROW_REQUIRED, .help = "the shape"),
    ROW("name", TEXT, vy_scenario_obstacle, name, .size = VY_NAME_CAP,
        .flags = VY_ROW_UNHASHED | VY_ROW_IDENTIFIER, .default_text = "obstacle0, obstacle1, ...",
        .help = "unique among obstacles"),
    ROW("position", VECTOR, vy_scenario_obstacle, def.position, .size = 3, .unit = "m", .range = ANY,
        .help = "of the origin of its frame, world axes"),
    ROW("attitude", ROTATION, vy_scenario_obstacle, def.attitude, .unit = "rad", .range = ANY,
        .help = "its frame to the world: [w, x, y, z] or {roll, pitch, yaw}"),
    BOUNDED_ROWS(vy_scenario_obstacle, def.solid.),
    HEIGHTS_ROWS(vy_scenario_obstacle, def.solid.),
    MATERIAL_ROW(vy_scenario_obstacle, def.solid.),
    ROW("trigger", CHOICE, vy_scenario_obstacle, def.is_trigger, CHOICES(trigger_choices),
        .flags = VY_ROW_HASHED_IF_SET, .help = "the opening of a race gate, a zone: docs/contacts.md"),
};
const vy_schema_table vy_obstacle_table = {
    .title = "Obstacles",
    .help = "A list of static obstacles: walls, gates of several boxes, pads. Drones and bodies collide with "
            "them, rays end on them.",
    .size = sizeof(vy_scenario_obstacle),
    .init = init_obstacle,
    ROWS(obstacle_rows)};

static const vy_choice terrain_kinds[] = {
    CHOICE("none", VY_COLLIDER_NONE, "drones fall for ever"),
    PLANE_KIND,
    HEIGHTS_KIND,
};
static const vy_schema_row terrain_rows[] = {
    ROW("kind", CHOICE, vy_obstacle_def, solid.kind, CHOICES(terrain_kinds), .help = "the shape"),
    ROW("position", VECTOR, vy_obstacle_def, position, .size = 3, .unit = "m", .range = ANY,
        .when = KIND(PLANE) | KIND(HEIGHT_FIELD),
        .help = "a point of the plane; of heights: the place of the first one, where it is 0"),
    ROW("attitude", ROTATION, vy_obstacle_def, attitude, .unit = "rad", .range = ANY,
        .when = KIND(PLANE) | KIND(HEIGHT_FIELD), .help = "its tilt: [w, x, y, z] or {roll, pitch, yaw}"),
    HEIGHTS_ROWS(vy_obstacle_def, solid.),
    ROW("material", OBJECT, vy_obstacle_def, solid.material, .table = &vy_table_material,
        .when = KIND(PLANE) | KIND(HEIGHT_FIELD), .help = "its surface"),
};
const vy_schema_table vy_terrain_table = {.title = "Terrain",
                                          .help = "The ground, the last of the obstacles.",
                                          .size = sizeof(vy_obstacle_def),
                                          ROWS(terrain_rows)};

static const vy_choice contacts_modes[] = {
    CHOICE("auto", VY_CONTACTS_AUTO,
           "where there is terrain, an obstacle, or a drone or body of a declared shape"),
    CHOICE("on", VY_CONTACTS_ON, "drones and bodies with a shape collide"),
    CHOICE("off", VY_CONTACTS_OFF, "all pass through each other; rays meet them all the same"),
};
static const vy_schema_row contacts_rows[] = {
    ROW("mode", CHOICE, vy_scenario_contacts, mode, CHOICES(contacts_modes),
        .help = "whether anything collides"),
    ROWS_contacts(vy_scenario_contacts, def.) ROW_sleep(vy_scenario_contacts, def)};
const vy_schema_table vy_contacts_table = {.title = "Contacts",
                                           .help = "What collides, and how: docs/contacts.md.",
                                           .size = sizeof(vy_scenario_contacts),
                                           ROWS(contacts_rows)};
