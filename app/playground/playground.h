// playground.h - the simulator as a page calls it: one scenario in, a log and JSON out (docs/playground.md).
#pragma once

/// Fly the scenario in the file `path`, as `volery run` does, and write its log to `log`. What the command
/// would print on standard error is printed there.
/// @return JSON: `flown`; `errors` and `warnings` of the text, as `volery check --json` has them; `error`,
/// the last sentence, where it was not flown; else `outcome`, `reason`, `final_hash`, `fly_s` and, as `run`,
/// what a page needs to show the log. Valid until the next call; NULL when memory is out.
const char *vy_playground_fly(const char *path, const char *log);

/// The JSON Schema of a scenario; valid until the next call, NULL when memory is out.
const char *vy_playground_schema(void);
