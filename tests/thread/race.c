// race.c - a race, planted: two threads that call race() change one number without a lock, long enough to
// meet. tools/thread.sh must see it reported, or what it runs after that proves nothing.
int race(void);

static volatile int total;

int race(void)
{
    for (int i = 0; i < 1000000; ++i) total = (total + i) & 0xffff;
    return total;
}
