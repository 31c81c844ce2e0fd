// deck.h - no expansion deck asks anything of the estimator.
#pragma once
#include <stdbool.h>

bool deckGetRequiredKalmanEstimatorAttitudeReversionOff(void);
