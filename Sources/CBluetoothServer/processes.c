#define _GNU_SOURCE
#include "CBluetoothServer.h"

#include <errno.h>
#include <spawn.h>

#if defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 34)
#define HAS_CLOSE_FROM 1
#endif
#endif

#if defined(HAS_CLOSE_FROM)

int bluetooth_spawn_close_from(void *actions, int first) {
  return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

#else

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>

int bluetooth_spawn_close_from(void *actions, int first) {
  DIR *folder = opendir("/dev/fd");
  if (folder == NULL) return errno;
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    int descriptor = atoi(entry->d_name);
    if (descriptor >= first) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  }
  closedir(folder);
  return 0;
}

#endif

#if defined(__linux__)

#include <sys/prctl.h>

int bluetooth_clear_ambient_capabilities(void) {
  return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == 0 ? 0 : errno;
}

#else

int bluetooth_clear_ambient_capabilities(void) { return 0; }

#endif
