// parameters.h - what a scenario hands to a controller of your own, by name: values of any type.
#pragma once
#include "scenario/read.h"

/// Read a mapping of names to values into vy_parameter[row->size]. Texts are owned by `object`.
void vy_read_parameters(vy_reader *reader, const vy_schema_row *row, const vy_node *node, void *object);

/// The digest of every file among the parameters that has none. `scenario_path` is the scenario's file;
/// without `may_read` there must be none such: what a log names is not looked for.
void vy_compute_parameter_digests(vy_reader *reader, const char *scenario_path, int may_read,
                                  vy_scenario *scenario);

/// The value as JSON; a file as its path alone where `plain`, else with its digest.
void vy_parameter_print(vy_text *out, const vy_parameter *parameter, int plain);

/// What of the value goes into the hash of a scenario: of a file its digest, wherever it is.
void vy_parameter_hash_bytes(vy_text *out, const vy_parameter *parameter);

/// A text in quotes, as JSON and YAML read it.
void vy_text_add_json(vy_text *out, const char *text, size_t size);
