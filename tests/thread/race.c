// race.c - a race, planted: two threads that call race() change one number without a lock. tools/thread.sh
// must see it reported, or what it runs after that proves nothing.
int race(void);

static int total;

int race(void)
{
    for (int i = 0; i < 1000; ++i) total += i;
    return total;
}
