// report.h - collecting what is wrong with a text, each with its place.
#pragma once
#include "base/real.h"
#include "scenario/tree.h"
#include <stdarg.h>

#define VY_REPORT_CAP 100

typedef struct vy_report {
    vy_diagnostics *diagnostics;
    vy_status status; ///< of the first error
    int error_calls;  ///< errors handed in, repeated ones included
    int no_memory;
} vy_report;

/// Whether a further error would be kept: saves the work of composing it.
int vy_report_has_room(const vy_report *report);

/// An error at a node. The same sentence at the same place is taken once: a file may be used many times.
void vy_report_error(vy_report *report, const vy_node *node, const char *format, ...) VY_PRINTF(3, 4);

/// The same of a kind other than `value`: see vy_diagnostic.
void vy_report_error_of_kind(vy_report *report, const char *kind, const vy_node *node, const char *format,
                             ...) VY_PRINTF(4, 5);
void vy_report_warning(vy_report *report, const vy_node *node, const char *format, ...) VY_PRINTF(3, 4);

/// An error at a place of a source; line 0 is the source as a whole.
void vy_report_error_at(vy_report *report, vy_status status, const vy_source *source, int line, int column,
                        const char *format, ...) VY_PRINTF(6, 7);

/// Put the items in order: file by file as they first came up, then by line and column.
void vy_report_sort(vy_report *report);

/// Of `count` names, the one nearest to a misspelt word; NULL when none is near.
const char *vy_closest_name(const char *word, size_t size, const char *const *names, int count);
