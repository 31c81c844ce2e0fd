// inject.c - what somebody does to a flight, as text in the keys of a scenario.
#include "base/fail.h"
#include "base/real.h"
#include "scenario/number.h"
#include "scenario/read.h"
#include "scenario/schema_rows.h"
#include "volery/injection.h"

// What can be injected; one of them is read.
typedef union injection_def {
    vy_scenario_disturbance push;
    vy_gust_def gust;
    vy_scenario_fault fault;
} injection_def;

static const struct {
    const char *name;
    const vy_schema_table *table;
} kinds[] = {{"push", &vy_disturbance_table}, {"gust", &vy_gust_table}, {"fault", &vy_fault_table}};
enum { PUSH, GUST, FAULT, KIND_COUNT };

static int find_kind(const char *name)
{
    int kind = 0;
    while (kind < KIND_COUNT && strcmp(name, kinds[kind].name) != 0) ++kind;
    return kind;
}

// A push is a constant force unless it says otherwise.
static void add_default_kind(vy_yaml *tree, vy_node *root)
{
    if (root->kind != VY_NODE_MAP || vy_node_find(root, "kind") != NULL) return;
    vy_node *key = vy_yaml_add_node(tree, VY_NODE_SCALAR, root->source, root->line, root->column),
            *value = vy_yaml_add_node(tree, VY_NODE_SCALAR, root->source, root->line, root->column);
    if (key == NULL || value == NULL) return;
    key->text = "kind";
    value->text = "constant";
    key->size = strlen(key->text);
    value->size = strlen(value->text);
    key->plain = value->plain = 1;
    vy_node_append(root, key, value);
}

static vy_status read_injection(const vy_scenario *scenario, int kind, const char *text, size_t size,
                                injection_def *out, vy_error *err)
{
    vy_yaml tree = {0};
    vy_diagnostics diagnostics = {0};
    vy_report report = {.diagnostics = &diagnostics};
    vy_reader reader = {.tree = &tree, .report = &report, .scenario = scenario};
    const vy_locale locale = vy_locale_enter();
    const char *name = kinds[kind].name;
    vy_source *source =
        vy_yaml_add_source(&tree, vy_text_copy(name, strlen(name)), vy_text_copy(text, size), size);
    vy_node *root = source != NULL ? vy_yaml_read(&tree, source, 0, &report) : NULL;
    if (root != NULL && kind == PUSH) add_default_kind(&tree, root);
    if (root != NULL) {
        reader.root = root;
        kinds[kind].table->init(out, 0);
        vy_read_object(&reader, kinds[kind].table, root, out);
    }
    vy_report_sort(&report);
    vy_status status = tree.no_memory || reader.no_memory || report.no_memory ? VY_NO_MEMORY : report.status;
    if (status == VY_NO_MEMORY) {
        (void)vy_fail(err, status, "no memory to read what is to be injected");
    } else if (status != VY_OK || root == NULL) {
        status = vy_fail(err, VY_BAD_SYNTAX, "%s: %s", name,
                         diagnostics.count > 0 ? diagnostics.items[0].text : "this is no YAML");
    }
    vy_diagnostics_destroy(&diagnostics);
    vy_reader_destroy(&reader);
    vy_yaml_destroy(&tree);
    vy_locale_leave(locale);
    return status;
}

vy_status vy_scenario_inject(const vy_scenario *scenario, vy_world *world, const char *kind_name,
                             const char *text, size_t size, vy_error *err)
{
    FPU_SCOPE;
    const int kind = find_kind(kind_name);
    if (kind == KIND_COUNT)
        return vy_fail(err, VY_BAD_VALUE, "%.40s cannot be injected: push, gust and fault can", kind_name);
    injection_def def;
    memset(&def, 0, sizeof def);
    const vy_status status = read_injection(scenario, kind, text, size, &def, err);
    if (status != VY_OK) return status;
    if (kind == GUST) return vy_world_inject_gust(world, &def.gust, err);
    if (kind == FAULT) {
        if (def.fault.drone != VY_EVERY_DRONE)
            def.fault.def.drone = vy_world_drone(world, (uint32_t)def.fault.drone);
        return vy_world_inject_fault(world, &def.fault.def, err);
    }
    if (!real_is_finite(def.push.def.duration))
        return vy_fail(err, VY_BAD_VALUE, "push: duration is missing: for how long [s]?");
    if (def.push.drone != VY_EVERY_DRONE) def.push.def.body = vy_world_body(world, (uint32_t)def.push.drone);
    return vy_world_inject_disturbance(world, &def.push.def, err);
}
