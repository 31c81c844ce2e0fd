// solids.h - every shape of a scenario, wherever it is declared, and the files they come from.
#pragma once
#include "scenario/read.h"

/// The solid number `index` of a scenario: of its drones, its bodies, its obstacles, its terrain; NULL
/// beyond.
vy_collider_def *vy_scenario_solid(vy_scenario *scenario, int index);

/// Read the files that shapes name: points of meshes, tables of heights. From then on the scenario needs no
/// other file. Mistakes are reported at the file's name, with the place in it.
void vy_load_solids(vy_reader *reader, const char *scenario_path, vy_scenario *scenario);

/// Read a table of heights: lines of numbers in m, separated by commas. `err` has line and column.
vy_status vy_heights_read(const vy_source_text *text, vy_collider_def *solid, vy_error *err);

/// Mass and inertia of the bodies that left them to their shapes.
void vy_compute_body_masses(vy_reader *reader, vy_scenario *scenario);
