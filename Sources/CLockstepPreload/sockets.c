// Sockets of the Internet protocols, inside the lockstep.
//
// A TCP socket of a program is a Unix socket: a port of the local host is a file in the lockstep's folder. So octets
// are never in flight, a port is never in use by a former run, and nothing leaves the lockstep. Other addresses can't
// be reached.

#include "internal.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

uint8_t ls_kinds[ls_max_descriptors];

static int domain_of(int descriptor)
{
    int domain = 0;
    socklen_t size = sizeof domain;
    return SYS5(SYS_getsockopt, descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 ? domain : -1;
}

static bool is_internet(int descriptor)
{
    int kind = ls_kind(descriptor);
    return kind == ls_inet4 || kind == ls_inet6;
}

// MARK: Addresses

/// The port of an address of this host; -1 if it is another host's.
static int local_port(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *inet = (const struct sockaddr_in *)address;
        uint32_t number = ntohl(inet->sin_addr.s_addr);
        return number == 0 || number >> 24 == 127 ? ntohs(inet->sin_port) : -1;
    }
    const struct sockaddr_in6 *inet = (const struct sockaddr_in6 *)address;
    bool is_mapped = IN6_IS_ADDR_V4MAPPED(&inet->sin6_addr) && inet->sin6_addr.s6_addr[12] == 127;
    bool is_local = IN6_IS_ADDR_LOOPBACK(&inet->sin6_addr) || IN6_IS_ADDR_UNSPECIFIED(&inet->sin6_addr);
    return is_local || is_mapped ? ntohs(inet->sin6_port) : -1;
}

static void set_path(struct sockaddr_un *path, int port)
{
    memset(path, 0, sizeof *path);
    path->sun_family = AF_UNIX;
    snprintf(path->sun_path, sizeof path->sun_path, "%.90s/%d", ls_folder(), port);
}

/// The port of a socket's file; 0 if it has none; -1 if it is another Unix socket.
static int port_of(const struct sockaddr_un *path, socklen_t size)
{
    if (size <= offsetof(struct sockaddr_un, sun_path))
        return 0;
    size_t length = strlen(ls_folder());
    if (strncmp(path->sun_path, ls_folder(), length) != 0 || path->sun_path[length] != '/')
        return -1;
    char *end;
    long port = strtol(path->sun_path + length + 1, &end, 10);
    return *end == 0 && port > 0 && port < 65536 ? (int)port : -1;
}

/// Writes the address of a port for a program.
static void put_address(int port, bool is_inet6, struct sockaddr *address, socklen_t *size)
{
    if (address == NULL || size == NULL)
        return;
    struct sockaddr_in6 inet6 = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    struct sockaddr_in inet4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    if (port != 0) {
        inet6.sin6_addr = in6addr_loopback;
        inet4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    }
    const void *from = is_inet6 ? (const void *)&inet6 : (const void *)&inet4;
    socklen_t full = is_inet6 ? sizeof inet6 : sizeof inet4;
    memcpy(address, from, full < *size ? full : *size);
    *size = full;
}

static int new_port(void)
{
    ls_state->next_port++;
    return 49152 + (int)(ls_state->next_port % 16384);
}

static int bind_port(int descriptor, int port)
{
    struct sockaddr_un path;
    bool is_free = port == 0;
    long result = 0;
    for (int i = 0; i < 16384; i++) {
        set_path(&path, is_free ? new_port() : port);
        result = SYS3(SYS_bind, descriptor, &path, sizeof path);
        if (result != -EADDRINUSE)
            return (int)result;
        // The file of a socket that no longer exists.
        int probe = (int)SYS3(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        bool is_stale = SYS3(SYS_connect, probe, &path, sizeof path) == -ECONNREFUSED && !is_free;
        SYS1(SYS_close, probe);
        if (is_stale) {
            SYS3(SYS_unlinkat, AT_FDCWD, path.sun_path, 0);
            result = SYS3(SYS_bind, descriptor, &path, sizeof path);
        }
        if (!is_free)
            return (int)result;
    }
    return (int)result;
}

// MARK: Calls

PUBLIC int socket(int domain, int type, int protocol)
{
    bool is_stream = (type & 0xF) == SOCK_STREAM && (protocol == 0 || protocol == IPPROTO_TCP);
    bool is_replaced = ls_on() && (domain == AF_INET || domain == AF_INET6) && is_stream;
    if (ls_on() && (domain == AF_INET || domain == AF_INET6) && !is_stream)
        MESSAGE_ONCE("a socket of type %d is the system's: its octets do not hold the time", type & 0xF);
    int descriptor = (int)ls_result(
        SYS3(SYS_socket, is_replaced ? AF_UNIX : domain, type, is_replaced ? 0 : protocol));
    if (descriptor >= 0)
        ls_set_kind(descriptor, !is_replaced ? ls_plain : domain == AF_INET ? ls_inet4 : ls_inet6);
    return descriptor;
}

PUBLIC int bind(int descriptor, const struct sockaddr *address, socklen_t size)
{
    if (!ls_on() || !is_internet(descriptor))
        return (int)ls_result(SYS3(SYS_bind, descriptor, address, size));
    int port = local_port(address);
    return (int)ls_result(port < 0 ? -EADDRNOTAVAIL : bind_port(descriptor, port));
}

PUBLIC int listen(int descriptor, int backlog)
{
    if (ls_on() && is_internet(descriptor)) {
        struct sockaddr_un path;
        socklen_t size = sizeof path;
        if (SYS3(SYS_getsockname, descriptor, &path, &size) == 0 && port_of(&path, size) == 0)
            bind_port(descriptor, 0);
    }
    return (int)ls_result(SYS2(SYS_listen, descriptor, backlog));
}

/// Says once that a program wants to reach another host.
static void note_elsewhere(const struct sockaddr *address)
{
    char text[INET6_ADDRSTRLEN] = "?";
    if (address->sa_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)address)->sin_addr, text, sizeof text);
    else
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)address)->sin6_addr, text, sizeof text);
    ls_message("can't connect to %s: only this host can be reached in a lockstep", text);
}

static long connect_unix(int descriptor, const void *path, socklen_t size)
{
    struct ls_wait wait = {"connect", LOCKSTEP_NEVER, true, false};
    for (;;) {
        // A full backlog makes the call wait, or fail with EAGAIN if the socket does not wait.
        long flags = SYS3(SYS_fcntl, descriptor, F_GETFL, 0);
        bool blocks = flags >= 0 && !(flags & O_NONBLOCK);
        if (blocks)
            SYS3(SYS_fcntl, descriptor, F_SETFL, flags | O_NONBLOCK);
        long result = SYS3(SYS_connect, descriptor, path, size);
        if (blocks)
            SYS3(SYS_fcntl, descriptor, F_SETFL, flags);
        if (result != -EAGAIN || !blocks)
            return result;
        if (ls_wait_again(&wait) == ls_interrupted)
            return -EINTR;
    }
}

PUBLIC int connect(int descriptor, const struct sockaddr *address, socklen_t size)
{
    if (!ls_on())
        return (int)ls_result(SYS3(SYS_connect, descriptor, address, size));
    if (!is_internet(descriptor)) {
        bool is_unix = address->sa_family == AF_UNIX && domain_of(descriptor) == AF_UNIX;
        return (int)ls_result(
            is_unix ? connect_unix(descriptor, address, size) : SYS3(SYS_connect, descriptor, address, size));
    }
    if (address->sa_family != AF_INET && address->sa_family != AF_INET6)
        return (int)ls_result(-EAFNOSUPPORT);
    int port = local_port(address);
    if (port < 0) {
        note_elsewhere(address);
        return (int)ls_result(-ENETUNREACH);
    }
    struct sockaddr_un path;
    socklen_t own = sizeof path;
    if (SYS3(SYS_getsockname, descriptor, &path, &own) == 0 && port_of(&path, own) == 0)
        bind_port(descriptor, 0);
    set_path(&path, port);
    long result = connect_unix(descriptor, &path, sizeof path);
    return (int)ls_result(result == -ENOENT ? -ECONNREFUSED : result);
}

PUBLIC int accept4(int descriptor, struct sockaddr *restrict address, socklen_t *restrict size, int flags)
{
    if (!ls_on())
        return (int)ls_result(SYS4(SYS_accept4, descriptor, address, size, flags));
    int problem = ls_await_descriptor(descriptor, POLLIN, "accept");
    if (problem != 0)
        return (int)ls_result(problem);
    if (!is_internet(descriptor))
        return (int)ls_result(SYS4(SYS_accept4, descriptor, address, size, flags));
    struct sockaddr_un path;
    socklen_t own = sizeof path;
    int result = (int)ls_result(SYS4(SYS_accept4, descriptor, &path, &own, flags));
    if (result < 0)
        return result;
    int port = port_of(&path, own);
    put_address(port < 0 ? 0 : port, ls_kind(descriptor) == ls_inet6, address, size);
    ls_set_kind(result, ls_kind(descriptor));
    return result;
}

PUBLIC int accept(int descriptor, struct sockaddr *restrict address, socklen_t *restrict size)
{
    return accept4(descriptor, address, size, 0);
}

static int get_name(long call, int descriptor, struct sockaddr *address, socklen_t *size)
{
    if (!ls_on() || !is_internet(descriptor))
        return (int)ls_result(SYS3(call, descriptor, address, size));
    struct sockaddr_un path;
    socklen_t own = sizeof path;
    int result = (int)ls_result(SYS3(call, descriptor, &path, &own));
    if (result == 0) {
        int port = port_of(&path, own);
        put_address(port < 0 ? 0 : port, ls_kind(descriptor) == ls_inet6, address, size);
    }
    return result;
}

PUBLIC int getsockname(int descriptor, struct sockaddr *restrict address, socklen_t *restrict size)
{
    return get_name(SYS_getsockname, descriptor, address, size);
}

PUBLIC int getpeername(int descriptor, struct sockaddr *restrict address, socklen_t *restrict size)
{
    return get_name(SYS_getpeername, descriptor, address, size);
}

// MARK: Names

/// The names of this host. A question to a name server would wait for it in the system.
static bool is_known(const char *node)
{
    char own[256] = "";
    gethostname(own, sizeof own - 1);
    return node == NULL || strcmp(node, "localhost") == 0 || strcmp(node, "ip6-localhost") == 0
        || strcmp(node, own) == 0;
}

PUBLIC int getaddrinfo(
    const char *restrict node, const char *restrict service, const struct addrinfo *restrict hints,
    struct addrinfo **restrict result)
{
    REAL(getaddrinfo)
    if (!ls_on() || is_known(node))
        return real(node, service, hints, result);
    struct addrinfo numeric = hints != NULL ? *hints : (struct addrinfo){0};
    numeric.ai_flags |= AI_NUMERICHOST;
    int problem = real(node, service, &numeric, result);
    if (problem == EAI_NONAME && (hints == NULL || !(hints->ai_flags & AI_NUMERICHOST)))
        ls_message("can't look up %s: only this host can be reached in a lockstep", node);
    return problem;
}

// MARK: Options

static bool is_protocol(int level)
{
    return level == IPPROTO_TCP || level == IPPROTO_IP || level == IPPROTO_IPV6;
}

PUBLIC int setsockopt(int descriptor, int level, int option, const void *value, socklen_t size)
{
    // Unix sockets have no such options, and need none.
    if (is_internet(descriptor) && is_protocol(level))
        return 0;
    return (int)ls_result(SYS5(SYS_setsockopt, descriptor, level, option, value, size));
}

PUBLIC int getsockopt(int descriptor, int level, int option, void *restrict value, socklen_t *restrict size)
{
    if (is_internet(descriptor)) {
        int answer = level == IPPROTO_TCP && option == TCP_NODELAY;
        if (level == SOL_SOCKET && option == SO_DOMAIN)
            answer = ls_kind(descriptor) == ls_inet6 ? AF_INET6 : AF_INET;
        else if (level == SOL_SOCKET && option == SO_PROTOCOL)
            answer = IPPROTO_TCP;
        else if (!is_protocol(level))
            return (int)ls_result(SYS5(SYS_getsockopt, descriptor, level, option, value, size));
        socklen_t full = sizeof answer;
        memcpy(value, &answer, full < *size ? full : *size);
        *size = full < *size ? full : *size;
        return 0;
    }
    return (int)ls_result(SYS5(SYS_getsockopt, descriptor, level, option, value, size));
}

// MARK: Copies of descriptors

PUBLIC int dup(int descriptor)
{
    int result = (int)ls_result(SYS1(SYS_dup, descriptor));
    if (result >= 0)
        ls_set_kind(result, ls_kind(descriptor));
    return result;
}

PUBLIC int dup3(int from, int to, int flags)
{
    int result = (int)ls_result(SYS3(SYS_dup3, from, to, flags));
    if (result >= 0)
        ls_set_kind(result, ls_kind(from));
    return result;
}

PUBLIC int dup2(int from, int to)
{
    if (from == to)
        return SYS3(SYS_fcntl, from, F_GETFD, 0) < 0 ? (int)ls_result(-EBADF) : to;
    return dup3(from, to, 0);
}
