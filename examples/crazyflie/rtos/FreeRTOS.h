// FreeRTOS.h - as much of FreeRTOS as the Crazyflie's estimators use, for one task on a host. rtos.c has it.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef long BaseType_t;
typedef uint32_t TickType_t; // [ms]
typedef uint32_t StackType_t;
typedef struct rtos_semaphore {
    int is_given;
} StaticSemaphore_t, *SemaphoreHandle_t;
typedef struct rtos_task {
    int unused;
} StaticTask_t, *TaskHandle_t;
typedef struct rtos_queue *QueueHandle_t;
typedef QueueHandle_t xQueueHandle;
typedef SemaphoreHandle_t xSemaphoreHandle;
typedef void TaskFunction_t(void *);

#define pdTRUE                   1
#define pdFALSE                  0
#define portMAX_DELAY            0xffffffffu
#define configMINIMAL_STACK_SIZE 150
#define T2M(ticks)               ((uint32_t)(ticks))
#define M2T(milliseconds)        ((uint32_t)(milliseconds))

TickType_t xTaskGetTickCount(void);
SemaphoreHandle_t xSemaphoreCreateBinary(void);
SemaphoreHandle_t xSemaphoreCreateMutexStatic(StaticSemaphore_t *storage);
BaseType_t xSemaphoreTake(SemaphoreHandle_t semaphore, TickType_t wait);
BaseType_t xSemaphoreGive(SemaphoreHandle_t semaphore);
TaskHandle_t xTaskCreateStatic(TaskFunction_t *task, const char *name, uint32_t depth, void *argument,
                               uint32_t priority, StackType_t *stack, StaticTask_t *storage);
