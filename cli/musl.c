/* Calls that archives made for glibc make where they were compiled with its checks (_FORTIFY_SOURCE), for programs that
 * are linked with musl. A buffer that is too small ends the program, as there. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int __snprintf_chk(char *to, size_t most, int flag, size_t room, const char *format, ...);
int __vsnprintf_chk(char *to, size_t most, int flag, size_t room, const char *format, va_list args);
void *__memcpy_chk(void *to, const void *from, size_t bytes, size_t room);
void *__memmove_chk(void *to, const void *from, size_t bytes, size_t room);
void *__memset_chk(void *to, int value, size_t bytes, size_t room);
char *__strncpy_chk(char *to, const char *from, size_t most, size_t room);

static void check(size_t bytes, size_t room)
{
    if (bytes > room) abort();
}

int __vsnprintf_chk(char *to, size_t most, int flag, size_t room, const char *format, va_list args)
{
    (void)flag;
    check(most, room);
    return vsnprintf(to, most, format, args);
}

int __snprintf_chk(char *to, size_t most, int flag, size_t room, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int bytes = __vsnprintf_chk(to, most, flag, room, format, args);
    va_end(args);
    return bytes;
}

void *__memcpy_chk(void *to, const void *from, size_t bytes, size_t room)
{
    check(bytes, room);
    return memcpy(to, from, bytes);
}

void *__memmove_chk(void *to, const void *from, size_t bytes, size_t room)
{
    check(bytes, room);
    return memmove(to, from, bytes);
}

void *__memset_chk(void *to, int value, size_t bytes, size_t room)
{
    check(bytes, room);
    return memset(to, value, bytes);
}

char *__strncpy_chk(char *to, const char *from, size_t most, size_t room)
{
    check(most, room);
    return strncpy(to, from, most);
}
