// campaign_page.h - the page that volery campaign fills with results, packed into the program.
#pragma once
#include "packed.h"

PACKED_NAMED(vy_campaign_page);
