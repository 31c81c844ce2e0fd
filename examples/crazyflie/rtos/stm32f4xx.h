// stm32f4xx.h - nothing of the microcontroller is used.
#pragma once
