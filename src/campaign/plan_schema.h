// plan_schema.h - the one table of everything a plan may say, in rows of base/schema.h.
#pragma once
#include "base/schema.h"
#include "campaign/plan.h"

extern const vy_schema_table vy_plan_table;
