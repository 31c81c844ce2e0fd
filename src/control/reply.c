// reply.c - the fields of a controller's reply as a table.
#include "control/reply.h"

#define ROW(member_, type_, count_, number_, rungs_, unit_, text_) \
    {#member_, VY_REPLY_##type_, offsetof(vy_intent, member_), count_, rungs_, unit_, text_},
static const vy_reply_field fields[] = {REPLY_FIELDS(ROW)};
#undef ROW

// Each has the size its type says, and together they are the whole of an intent.
#define SIZE_CHOICE   4
#define SIZE_COMMANDS 8
#define SIZE_NUMBER   8
#define SIZE_VEC3     8
#define SIZE_QUAT     8
#define SIZE_LIST     8
#define SIZE_FLAGS    8
#define SIZE_UINT     8
#define CHECK_SIZE(member_, type_, count_, ...)                                          \
    _Static_assert(sizeof(((vy_intent *)0)->member_) == SIZE_##type_ * (size_t)(count_), \
                   "the type and count of " #member_);
REPLY_FIELDS(CHECK_SIZE)
#define ADD_SIZE(member_, type_, count_, ...) +SIZE_##type_ *(size_t)(count_)
_Static_assert(sizeof(vy_intent) == (0 REPLY_FIELDS(ADD_SIZE) + 7) / 8 * 8,
               "every field of a reply is listed");

const vy_reply_field *vy_reply_fields(int *count)
{
    *count = (int)(sizeof fields / sizeof fields[0]);
    return fields;
}
