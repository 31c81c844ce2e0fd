// message_diff.h - names the first field in which two protobuf messages differ.
#pragma once
#include "record/log.h"

/// Names come from the schema of the log's message: "/drones/alpha/imu" becomes "/drones/alpha/imu.accel.x"
/// in `out`, with both values: numbers, or texts. Where the bytes tell no more, the topic stays alone.
void vy_message_name_difference(const vy_mcap_schema *schema, const vy_mcap_message *logged,
                                const unsigned char *data, size_t size, vy_difference *out);
