// settings.h - a resolved scenario as a flat list of keys and values, and where two of them differ.
#pragma once

typedef struct setting {
    char *key; ///< as --set writes it: drones[0].vehicle.mass
    char *value;
} setting;

/// Release with vy_settings_destroy().
typedef struct settings {
    setting *items;
    int count;
} settings;

/// Read the text that vy_scenario_print() wrote. Returns 0 when memory is out; `*out` is empty then.
int vy_settings_read(const char *text, settings *out);
void vy_settings_destroy(settings *s);

/// Call `report` for each difference; a value is NULL on the side that does not have the key.
/// @return how many there are
int vy_settings_compare(const settings *a, const settings *b,
                        void (*report)(void *self, const char *key, const char *in_a, const char *in_b),
                        void *self);
