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

/* Files that zstd wrote before its first release (2016): the archive's readers of three old formats are a tenth of a
 * megabyte, and stay out where their calls are found here. Such a file is refused as damaged. */
#define OLD_FORMAT(v)                                                                                                  \
    void *ZBUFFv0##v##_createDCtx(void);                                                                               \
    void *ZBUFFv0##v##_createDCtx(void) { return NULL; }                                                               \
    size_t ZBUFFv0##v##_freeDCtx(void *context);                                                                       \
    size_t ZBUFFv0##v##_freeDCtx(void *context) { return context ? REFUSED : 0; }                                      \
    size_t ZBUFFv0##v##_decompressContinue(void);                                                                      \
    size_t ZBUFFv0##v##_decompressContinue(void) { return REFUSED; }                                                   \
    size_t ZBUFFv0##v##_decompressInitDictionary(void);                                                                \
    size_t ZBUFFv0##v##_decompressInitDictionary(void) { return REFUSED; }                                             \
    void *ZSTDv0##v##_createDCtx(void);                                                                                \
    void *ZSTDv0##v##_createDCtx(void) { return NULL; }                                                                \
    size_t ZSTDv0##v##_freeDCtx(void *context);                                                                        \
    size_t ZSTDv0##v##_freeDCtx(void *context) { return context ? REFUSED : 0; }                                       \
    size_t ZSTDv0##v##_decompress_usingDict(void);                                                                     \
    size_t ZSTDv0##v##_decompress_usingDict(void) { return REFUSED; }                                                  \
    size_t ZSTDv0##v##_getFrameParams(void);                                                                           \
    size_t ZSTDv0##v##_getFrameParams(void) { return REFUSED; }                                                        \
    void ZSTDv0##v##_findFrameSizeInfoLegacy(const void *data, size_t bytes, size_t *size, unsigned long long *bound); \
    void ZSTDv0##v##_findFrameSizeInfoLegacy(const void *data, size_t bytes, size_t *size, unsigned long long *bound)  \
    {                                                                                                                  \
        (void)data;                                                                                                    \
        (void)bytes;                                                                                                   \
        *size = REFUSED;                                                                                               \
        *bound = (unsigned long long)-2;                                                                               \
    }
#define REFUSED ((size_t)-1)
OLD_FORMAT(5)
OLD_FORMAT(6)
OLD_FORMAT(7)
