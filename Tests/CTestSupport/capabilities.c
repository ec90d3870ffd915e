#define _GNU_SOURCE
#include "CTestSupport.h"

#include <errno.h>

#if defined(__linux__)

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int test_raise_ambient_capability(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {{0}};
  if (syscall(SYS_capget, &header, sets) != 0) return errno;
  sets[0].inheritable |= 1u << CAP_NET_BIND_SERVICE;
  if (syscall(SYS_capset, &header, sets) != 0) return errno;
  return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_BIND_SERVICE, 0, 0) == 0 ? 0 : errno;
}

bool test_can_raise_ambient_capability(void) {
  if (test_raise_ambient_capability() != 0) return false;
  return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == 0;
}

#else

int test_raise_ambient_capability(void) { return ENOTSUP; }
bool test_can_raise_ambient_capability(void) { return false; }

#endif
