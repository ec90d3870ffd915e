// Writing by stdio: these functions wait until the reader of a pipe has made room, because stdio would wait for it in
// the system. A pipe that is ready has room for a buffer of stdio.

#include "internal.h"

#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// The room of a buffer that a formatted text may need.
enum { formatted_size = 1024 };

int __overflow(FILE *stream, int octet);
int __printf_chk(int flag, const char *format, ...);
int __fprintf_chk(FILE *stream, int flag, const char *format, ...);
int __vprintf_chk(int flag, const char *format, va_list list);
int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list list);

/// Waits until the stream can write its buffer, if the next octets may make it do so.
static void await_room(FILE *stream, size_t count)
{
    if (!ls_on() || stream == NULL)
        return;
    size_t size = __fbufsize(stream), used = __fpending(stream);
    if (!__flbf(stream) && used < size && count < size - used)
        return;
    int descriptor = fileno_unlocked(stream);
    if (descriptor >= 0)
        ls_await_descriptor(descriptor, POLLOUT, "writing a stream");
}

// MARK: Octets

#undef fwrite
PUBLIC size_t fwrite(const void *restrict octets, size_t size, size_t count, FILE *restrict stream)
{
    REAL(fwrite)
    size_t total = size * count, done = 0;
    if (!ls_on() || total < PIPE_BUF) {
        await_room(stream, total);
        return real(octets, size, count, stream);
    }
    while (done < total) {
        size_t part = total - done < PIPE_BUF / 2 ? total - done : PIPE_BUF / 2;
        await_room(stream, PIPE_BUF);
        size_t written = real((const char *)octets + done, 1, part, stream);
        done += written;
        if (written < part)
            break;
    }
    return done / size;
}

#undef fwrite_unlocked
PUBLIC size_t fwrite_unlocked(const void *restrict octets, size_t size, size_t count, FILE *restrict stream)
{
    return fwrite(octets, size, count, stream);
}

#undef fputs
PUBLIC int fputs(const char *restrict text, FILE *restrict stream)
{
    size_t length = strlen(text);
    return fwrite(text, 1, length, stream) == length ? 1 : EOF;
}

#undef fputs_unlocked
PUBLIC int fputs_unlocked(const char *restrict text, FILE *restrict stream)
{
    return fputs(text, stream);
}

#undef puts
PUBLIC int puts(const char *text)
{
    return fputs(text, stdout) == EOF || fputs("\n", stdout) == EOF ? EOF : 1;
}

static int put_octet(int octet, FILE *stream)
{
    REAL(putc_unlocked)
    await_room(stream, 1);
    return real(octet, stream);
}

#undef fputc
PUBLIC int fputc(int octet, FILE *stream)
{
    return put_octet(octet, stream);
}

#undef putc
PUBLIC int putc(int octet, FILE *stream)
{
    return put_octet(octet, stream);
}

#undef putchar
PUBLIC int putchar(int octet)
{
    return put_octet(octet, stdout);
}

// The inline forms of `putc_unlocked` call this function when the buffer is full.
PUBLIC int __overflow(FILE *stream, int octet)
{
    REAL(__overflow)
    await_room(stream, PIPE_BUF);
    return real(stream, octet);
}

// MARK: Formatted texts

PUBLIC int vfprintf(FILE *restrict stream, const char *restrict format, va_list list)
{
    REAL(vfprintf)
    await_room(stream, formatted_size);
    return real(stream, format, list);
}

#define FORMATTED(stream) \
    va_list list; \
    va_start(list, format); \
    int result = vfprintf(stream, format, list); \
    va_end(list); \
    return result;

PUBLIC int vprintf(const char *restrict format, va_list list)
{
    return vfprintf(stdout, format, list);
}

PUBLIC int printf(const char *restrict format, ...)
{
    FORMATTED(stdout)
}

PUBLIC int fprintf(FILE *restrict stream, const char *restrict format, ...)
{
    FORMATTED(stream)
}

PUBLIC int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list list)
{
    (void)flag;
    return vfprintf(stream, format, list);
}

PUBLIC int __vprintf_chk(int flag, const char *format, va_list list)
{
    (void)flag;
    return vfprintf(stdout, format, list);
}

PUBLIC int __printf_chk(int flag, const char *format, ...)
{
    (void)flag;
    FORMATTED(stdout)
}

PUBLIC int __fprintf_chk(FILE *stream, int flag, const char *format, ...)
{
    (void)flag;
    FORMATTED(stream)
}

PUBLIC int vdprintf(int descriptor, const char *restrict format, va_list list)
{
    char *text = NULL;
    int length = vasprintf(&text, format, list);
    if (length < 0)
        return -1;
    ssize_t written = write(descriptor, text, (size_t)length);
    free(text);
    return (int)written;
}

int __dprintf_chk(int descriptor, int flag, const char *format, ...);
int __vdprintf_chk(int descriptor, int flag, const char *format, va_list list);

PUBLIC int __vdprintf_chk(int descriptor, int flag, const char *format, va_list list)
{
    (void)flag;
    return vdprintf(descriptor, format, list);
}

#define DESCRIBED \
    va_list list; \
    va_start(list, format); \
    int result = vdprintf(descriptor, format, list); \
    va_end(list); \
    return result;

PUBLIC int dprintf(int descriptor, const char *restrict format, ...)
{
    DESCRIBED
}

PUBLIC int __dprintf_chk(int descriptor, int flag, const char *format, ...)
{
    (void)flag;
    DESCRIBED
}

// MARK: Flushing

PUBLIC int fflush(FILE *stream)
{
    REAL(fflush)
    if (stream != NULL)
        await_room(stream, SIZE_MAX);
    return real(stream);
}

#undef fflush_unlocked
PUBLIC int fflush_unlocked(FILE *stream)
{
    return fflush(stream);
}

PUBLIC int fclose(FILE *stream)
{
    REAL(fclose)
    int descriptor = fileno_unlocked(stream);
    if (__fpending(stream) > 0)
        await_room(stream, SIZE_MAX);
    ls_set_kind(descriptor, ls_plain);
    return real(stream);
}
