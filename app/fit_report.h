// fit_report.h - a fit for people and programs: the table on a terminal, the JSON object, the page.
#pragma once
#include "volery/fit.h"

void vy_fit_report_text(const vy_fit_result *r, const char *path, FILE *out);
void vy_fit_report_json(const vy_fit_result *r, const char *path, FILE *out);
