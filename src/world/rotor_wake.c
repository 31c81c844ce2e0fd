// rotor_wake.c - the air that rotors drive down onto other drones, sampled now and then and held.
//
// For every drone the wakes that may reach it are summed. They are found on a grid over the ground, whose
// cells are as wide as a wake reaches sideways: sorting costs n log n, and a cell and its eight neighbours
// hold all that matter.
#include "world/model.h"
#include "base/assert.h"
#include "base/sort.h"
#include <math.h>

static wake_source source_of(const drone_model *dm, const multirotor_params *plant, const drone_block *d)
{
    vec3 force = vec3_zero();
    for (int k = 0; k < dm->layout.count; ++k) {
        const double thrust = rotor_thrust(&dm->layout, &plant->rotor, &plant->curve, k, d->rotor_speed[k]);
        force = vec3_add_scaled(force, thrust, vec3_of(dm->layout.axis[k]));
    }
    wake_source source = {.position = d->body.position, .width = dm->wake_width};
    const double thrust_sum = vec3_length(force);
    if (!(thrust_sum > 0.0) || !(dm->wake_width > 0.0)) return source;
    source.down = vec3_scale(-1.0 / thrust_sum, quat_rotate(d->body.attitude, force));
    source.momentum = real_sqrt(thrust_sum / REFERENCE_DENSITY);
    // 2 v_h of a disc as wide as the wake: T = 2 rho A v_h^2.
    source.exit_speed = 2.0 * source.momentum / (source.width * real_sqrt(0.5 * 3.14159265358979323846));
    return source;
}

// The radius of a wake at its end.
static double wake_radius(const wake_source *w, double length)
{
    const double horizontal = real_sqrt(real_max(1.0 - w->down.z * w->down.z, 0.0));
    return length * horizontal + WAKE_EDGE * real_max(WAKE_SPREAD * length, 0.5 * w->width);
}

// Drones by column, row and number: a total order.
static int is_before(const wake_entry *a, const wake_entry *b)
{
    if (a->column != b->column) return a->column < b->column;
    if (a->row != b->row) return a->row < b->row;
    return a->drone < b->drone;
}

HEAP_SORT(sort_entries, wake_entry, is_before)

// The first entry at or after a cell.
static size_t first_at_cell(const wake_entry *entries, size_t count, int64_t column, int64_t row)
{
    const wake_entry key = {.column = column, .row = row};
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (is_before(&entries[middle], &key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int64_t cell_index(double x, double size) { return (int64_t)floor(real_clamp(x / size, -1e9, 1e9)); }

// The air in the wakes of others.
static vec3 wakes_at(const vy_model *m, const wake_entry *entries, size_t count, const wake_entry *target)
{
    vec3 air = vec3_zero();
    for (int64_t column = target->column - 1; column <= target->column + 1; ++column) {
        for (size_t k = first_at_cell(entries, count, column, target->row - 1); k < count; ++k) {
            const wake_entry *entry = &entries[k];
            if (entry->column != column || entry->row > target->row + 1) break;
            if (entry->drone == target->drone || !(entry->source.momentum > 0.0)) continue;
            const vec3 offset = vec3_sub(target->source.position, entry->source.position);
            if (!(vec3_dot(offset, entry->source.down) > 0.0)) continue;
            const double speed = wake_speed(&entry->source, offset, m->wakes.length);
            air = vec3_add_scaled(air, speed, entry->source.down);
        }
    }
    // Wakes that meet share their air: together they are no faster than the fastest can be.
    const double speed_sum = vec3_length(air);
    return speed_sum > m->wake_max ? vec3_scale(m->wake_max / speed_sum, air) : air;
}

// The largest radius of all wakes: the side of a cell.
static double largest_wake_radius(const vy_model *m, const wake_entry *entries)
{
    double cell_size = 0.0;
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        if (entries[i].source.momentum > 0.0)
            cell_size = real_max(cell_size, wake_radius(&entries[i].source, m->wakes.length));
    }
    return cell_size;
}

void vy_rotor_wake_stage(const vy_model *m, uint64_t tick, const drone_block *drones, wake_entry *entries,
                         powertrain_block *powertrain)
{
    if (!due(tick, m->wake_period)) return;
    VY_ASSERT(m->has_powertrain && entries != NULL && m->wakes.length > 0.0);
    const size_t count = m->drone_count;
    for (uint32_t i = 0; i < count; ++i) {
        entries[i].drone = i;
        entries[i].source = source_of(&m->drones[i], &m->params[i].plant, &drones[i]);
    }
    const double cell_size = largest_wake_radius(m, entries);
    for (size_t i = 0; i < count; ++i) {
        const vec3 position = entries[i].source.position;
        entries[i].column = cell_size > 0.0 ? cell_index(position.x, cell_size) : 0;
        entries[i].row = cell_size > 0.0 ? cell_index(position.y, cell_size) : 0;
    }
    sort_entries(entries, count);
    for (size_t i = 1; i < count; ++i)
        VY_ASSERT(is_before(&entries[i - 1], &entries[i])); // first_at_cell() bisects
    for (size_t i = 0; i < count; ++i)
        powertrain[entries[i].drone].memory.downwash = wakes_at(m, entries, count, &entries[i]);
}

void vy_rotor_wake_bodies(const vy_model *m, uint64_t tick, const wake_entry *entries,
                          const body_block *passive, body_wake_block *wakes)
{
    if (!due(tick, m->wake_period)) return;
    const double cell_size = largest_wake_radius(m, entries);
    for (uint32_t k = 0; k < m->passive_count; ++k) {
        const vec3 position = passive[k].body.position;
        const wake_entry target = {.column = cell_size > 0.0 ? cell_index(position.x, cell_size) : 0,
                                   .row = cell_size > 0.0 ? cell_index(position.y, cell_size) : 0,
                                   .drone = m->drone_count + k,
                                   .source.position = position};
        wakes[k].downwash = wakes_at(m, entries, m->drone_count, &target);
    }
}
