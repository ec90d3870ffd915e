// Random numbers from the process's stream of the seed.

#include "internal.h"

#include <stdlib.h>
#include <sys/random.h>

void ls_fill_random(void *octets, size_t count)
{
    char *next = octets;
    uint64_t value = 0;
    for (size_t i = 0; i < count; i++) {
        if (i % 8 == 0)
            value = lockstep_random(ls_state, ls_process);
        next[i] = (char)(value >> 8 * (i % 8));
    }
}

static bool is_answered(void)
{
    return ls_on() && ls_state->is_random_answered;
}

PUBLIC ssize_t getrandom(void *octets, size_t count, unsigned flags)
{
    if (!is_answered())
        return ls_result(SYS3(SYS_getrandom, octets, count, flags));
    ls_fill_random(octets, count);
    return (ssize_t)count;
}

PUBLIC int getentropy(void *octets, size_t count)
{
    if (count > 256)
        return (int)ls_result(-EIO);
    return getrandom(octets, count, 0) < 0 ? -1 : 0;
}

PUBLIC void arc4random_buf(void *octets, size_t count)
{
    getrandom(octets, count, 0);
}

PUBLIC uint32_t arc4random(void)
{
    uint32_t value = 0;
    getrandom(&value, sizeof value, 0);
    return value;
}

PUBLIC uint32_t arc4random_uniform(uint32_t limit)
{
    // The remainder of 64 random bits: its bias is at most 2^-32.
    uint64_t value = 0;
    getrandom(&value, sizeof value, 0);
    return limit == 0 ? 0 : (uint32_t)(value % limit);
}
