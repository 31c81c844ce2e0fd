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
static StaticSemaphore_t binary;
static ucontext_t outside, inside;
static TaskFunction_t *entry;
static char stack[STACK_BYTES];

static measurement_t queue[QUEUE_CAP];
static int queue_begin, queue_size;

void rtos_tick(void) { ++clock_ms; }

TickType_t xTaskGetTickCount(void) { return clock_ms; }

SemaphoreHandle_t xSemaphoreCreateBinary(void) { return &binary; }

SemaphoreHandle_t xSemaphoreCreateMutexStatic(StaticSemaphore_t *where)
{
    where->given = 1;
    return where;
}

// Only the task waits for something that is not there.
BaseType_t xSemaphoreTake(SemaphoreHandle_t semaphore, TickType_t wait)
{
    (void)wait;
    while (!semaphore->given) swapcontext(&inside, &outside);
    semaphore->given = 0;
    return pdTRUE;
}

BaseType_t xSemaphoreGive(SemaphoreHandle_t semaphore)
{
    semaphore->given = 1;
    return pdTRUE;
}

static void begin(void) { entry(NULL); }

TaskHandle_t xTaskCreateStatic(TaskFunction_t *task, const char *name, uint32_t depth, void *argument,
                               uint32_t priority, StackType_t *memory, StaticTask_t *where)
{
    (void)name, (void)depth, (void)argument, (void)priority, (void)memory;
    entry = task;
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = sizeof stack;
    inside.uc_link = NULL; // it never returns
    makecontext(&inside, begin, 0);
    return where;
}

void rtos_run(void)
{
    if (entry != NULL) swapcontext(&outside, &inside);
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
