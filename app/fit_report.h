// fit_report.h - a fit for people and programs: the table on a terminal, the JSON object, the page.
#pragma once
#include "volery/fit.h"

void vy_fit_report_text(const vy_fit_result *r, const char *path, FILE *out);
void vy_fit_report_json(const vy_fit_result *r, const char *path, FILE *out);

/// One page, by itself: parameters, errors, plots of the held-out part. @return 0, or the exit status after a
/// sentence
int vy_fit_report_page(const vy_fit_result *r, const vy_flight *flight, const char *log, const char *path);
