// Reading by stdio, whose functions call the system without the functions of this library: they wait here until the
// stream has octets.

#include "internal.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

/// True if the stream has octets that it has read and its reader has not.
static bool has_octets(FILE *stream)
{
#ifdef __GLIBC__
    return stream->_IO_read_ptr < stream->_IO_read_end;
#else
    return __freadahead(stream) > 0;
#endif
}

/// Waits until the next octet of a stream can be read.
static void await_stream(FILE *stream)
{
    if (!ls_on() || has_octets(stream) || feof_unlocked(stream))
        return;
    int descriptor = fileno_unlocked(stream);
    if (descriptor >= 0)
        ls_await_descriptor(descriptor, POLLIN, "reading a stream");
}

/// Reads one octet.
static int next_octet(FILE *stream)
{
    REAL(getc_unlocked)
    await_stream(stream);
    return real(stream);
}

#undef fgetc
PUBLIC int fgetc(FILE *stream)
{
    return next_octet(stream);
}

#undef getc
PUBLIC int getc(FILE *stream)
{
    return next_octet(stream);
}

PUBLIC int _IO_getc(FILE *stream)
{
    return next_octet(stream);
}

#undef getc_unlocked
PUBLIC int getc_unlocked(FILE *stream)
{
    return next_octet(stream);
}

#undef fgetc_unlocked
PUBLIC int fgetc_unlocked(FILE *stream)
{
    return next_octet(stream);
}

#undef getchar_unlocked
PUBLIC int getchar_unlocked(void)
{
    return next_octet(stdin);
}

#undef getchar
PUBLIC int getchar(void)
{
    return next_octet(stdin);
}

PUBLIC char *fgets(char *restrict text, int size, FILE *restrict stream)
{
    int length = 0;
    while (length < size - 1) {
        int octet = next_octet(stream);
        if (octet == EOF)
            break;
        text[length++] = (char)octet;
        if (octet == '\n')
            break;
    }
    if (size <= 0 || (length == 0 && size > 1) || ferror_unlocked(stream))
        return NULL;
    text[length] = 0;
    return text;
}

#undef fgets_unlocked
PUBLIC char *fgets_unlocked(char *restrict text, int size, FILE *restrict stream)
{
    return fgets(text, size, stream);
}

PUBLIC char *__fgets_unlocked_chk(char *restrict text, size_t limit, int size, FILE *restrict stream)
{
    (void)limit;
    return fgets(text, size, stream);
}

PUBLIC char *__fgets_chk(char *restrict text, size_t limit, int size, FILE *restrict stream)
{
    (void)limit;
    return fgets(text, size, stream);
}

PUBLIC ssize_t getdelim(char **restrict line, size_t *restrict size, int delimiter, FILE *restrict stream)
{
    size_t length = 0;
    for (;;) {
        int octet = next_octet(stream);
        if (octet == EOF)
            break;
        if (*line == NULL || length + 2 > *size) {
            size_t larger = *line == NULL || *size < 64 ? 128 : *size * 2;
            char *copy = realloc(*line, larger);
            if (copy == NULL)
                return -1;
            *line = copy;
            *size = larger;
        }
        (*line)[length++] = (char)octet;
        if (octet == delimiter)
            break;
    }
    if (length == 0)
        return -1;
    (*line)[length] = 0;
    return (ssize_t)length;
}

PUBLIC ssize_t __getdelim(char **restrict line, size_t *restrict size, int delimiter, FILE *restrict stream)
{
    return getdelim(line, size, delimiter, stream);
}

PUBLIC ssize_t getline(char **restrict line, size_t *restrict size, FILE *restrict stream)
{
    return getdelim(line, size, '\n', stream);
}

PUBLIC size_t fread(void *restrict octets, size_t size, size_t count, FILE *restrict stream)
{
    REAL(fread)
    struct pollfd event = {fileno_unlocked(stream), POLLIN, 0};
    struct timespec none = {0, 0};
    // Files, and streams whose octets are all there.
    if (!ls_on() || event.fd < 0 || (SYS5(SYS_ppoll, &event, 1, &none, NULL, 8) > 0 && !(event.revents & POLLHUP)
            && lockstep_system(SYS_lseek, event.fd, 0, 1, 0, 0, 0) >= 0))
        return real(octets, size, count, stream);
    size_t total = size * count, done = 0;
    while (done < total) {
        int octet = next_octet(stream);
        if (octet == EOF)
            break;
        ((char *)octets)[done++] = (char)octet;
    }
    return size == 0 ? 0 : done / size;
}

#undef fread_unlocked
PUBLIC size_t fread_unlocked(void *restrict octets, size_t size, size_t count, FILE *restrict stream)
{
    return fread(octets, size, count, stream);
}

PUBLIC size_t __fread_chk(void *restrict octets, size_t limit, size_t size, size_t count, FILE *restrict stream)
{
    (void)limit;
    return fread(octets, size, count, stream);
}

PUBLIC size_t __fread_unlocked_chk(
    void *restrict octets, size_t limit, size_t size, size_t count, FILE *restrict stream)
{
    (void)limit;
    return fread(octets, size, count, stream);
}

// MARK: Wide characters

static wint_t next_character(FILE *stream)
{
    REAL(fgetwc)
    await_stream(stream);
    return real(stream);
}

PUBLIC wint_t fgetwc(FILE *stream)
{
    return next_character(stream);
}

#undef getwc
PUBLIC wint_t getwc(FILE *stream)
{
    return next_character(stream);
}

#undef getwchar
PUBLIC wint_t getwchar(void)
{
    return next_character(stdin);
}

// MARK: Formatted input: a text that arrives in parts after its first octet is waited for in the system
// The headers of glibc give these functions the names of its versions for C99.

PUBLIC int vfscanf(FILE *restrict stream, const char *restrict format, va_list list)
{
    REAL(vfscanf)
    await_stream(stream);
    return real(stream, format, list);
}

#define SCAN(stream) \
    va_list list; \
    va_start(list, format); \
    int result = vfscanf(stream, format, list); \
    va_end(list); \
    return result;

PUBLIC int vscanf(const char *restrict format, va_list list)
{
    return vfscanf(stdin, format, list);
}

PUBLIC int fscanf(FILE *restrict stream, const char *restrict format, ...)
{
    SCAN(stream)
}

PUBLIC int scanf(const char *restrict format, ...)
{
    SCAN(stdin)
}
