// rtos.c - FreeRTOS with one task: a coroutine that runs when the stabilizer loop has done its step, as it
// does on the drone, where that loop has the higher priority. No thread, no wall clock: the same every time.
#include "FreeRTOS.h"
#include "rtos.h"
#include "deck.h"
#include "stabilizer_types.h"
#include "estimator.h"
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { STACK_BYTES = 1 << 18, QUEUE_CAP = 20 }; // as many measurements as the firmware's queue has

static TickType_t clock_ms;
static StaticSemaphore_t binary_semaphore;
static ucontext_t loop_context, task_context;
static TaskFunction_t *task_function;
static char task_stack[STACK_BYTES];

static measurement_t queue[QUEUE_CAP];
static int queue_begin, queue_size;

void rtos_tick(void) { ++clock_ms; }

TickType_t xTaskGetTickCount(void) { return clock_ms; }

SemaphoreHandle_t xSemaphoreCreateBinary(void) { return &binary_semaphore; }

SemaphoreHandle_t xSemaphoreCreateMutexStatic(StaticSemaphore_t *storage)
{
    storage->is_given = 1;
    return storage;
}

// Only the task waits for something that is not there.
BaseType_t xSemaphoreTake(SemaphoreHandle_t semaphore, TickType_t wait)
{
    (void)wait;
    while (!semaphore->is_given) swapcontext(&task_context, &loop_context);
    semaphore->is_given = 0;
    return pdTRUE;
}

BaseType_t xSemaphoreGive(SemaphoreHandle_t semaphore)
{
    semaphore->is_given = 1;
    return pdTRUE;
}

static void run_task(void) { task_function(NULL); }

TaskHandle_t xTaskCreateStatic(TaskFunction_t *task, const char *name, uint32_t depth, void *argument,
                               uint32_t priority, StackType_t *memory, StaticTask_t *storage)
{
    (void)name, (void)depth, (void)argument, (void)priority, (void)memory;
    task_function = task;
    getcontext(&task_context);
    task_context.uc_stack.ss_sp = task_stack;
    task_context.uc_stack.ss_size = sizeof task_stack;
    task_context.uc_link = NULL; // it never returns
    makecontext(&task_context, run_task, 0);
    return storage;
}

void rtos_run(void)
{
    if (task_function != NULL) swapcontext(&loop_context, &task_context);
}

// A queue that is full loses the new measurement, as the firmware's does.
void estimatorEnqueue(const measurement_t *measurement)
{
    if (queue_size < QUEUE_CAP) queue[(queue_begin + queue_size++) % QUEUE_CAP] = *measurement;
}

bool estimatorDequeue(measurement_t *measurement)
{
    if (queue_size == 0) return false;
    *measurement = queue[queue_begin];
    queue_begin = (queue_begin + 1) % QUEUE_CAP;
    --queue_size;
    return true;
}

void systemWaitStart(void) {}

bool deckGetRequiredKalmanEstimatorAttitudeReversionOff(void) { return false; }

void assertFail(char *expression, char *file, int line)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, expression);
    abort();
}
