#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "CBluetoothCrypto.h"

static struct library functions;
static char failure[512];
static pthread_once_t loading = PTHREAD_ONCE_INIT;

/// OPENSSL_INIT_NO_ATEXIT. Without it, libcrypto frees its tables when the process calls `exit`, while other threads
/// may still encrypt.
static const uint64_t without_exit_handler = 0x00080000;

/// Looks up all functions. Returns the name of the first that the library does not have, or null.
static const char *look_up(void *library) {
#define LOOK_UP(result, name, parameters) \
  if ((*(void **)&functions.name = dlsym(library, #name)) == NULL) return #name;
  LIBRARY_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
  return NULL;
}

static void load(void) {
  // The last name is that of a package for development, for versions that are not known here.
  static const char *const names[] = {"libcrypto.so.3", "libcrypto.so.1.1", "libcrypto.so"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    const char *missing = library == NULL ? NULL : look_up(library);
    if (library != NULL && missing == NULL) {
      functions.OPENSSL_init_crypto(without_exit_handler, NULL);
      failure[0] = 0;
      return;
    }
    // The first reason is that of the version that should be there.
    if (failure[0] == 0) {
      snprintf(
        failure, sizeof failure, "no usable libcrypto: %s%s", library == NULL ? "" : "it has no ",
        library == NULL ? dlerror() : missing);
    }
    if (library != NULL) dlclose(library);
  }
}

const char *bluetooth_crypto_failure(void) {
  pthread_once(&loading, load);
  return failure[0] == 0 ? NULL : failure;
}

const char *bluetooth_crypto_version(void) {
  return bluetooth_crypto_failure() == NULL ? functions.OpenSSL_version(0) : NULL;
}

const struct library *bluetooth_crypto_library(void) {
  const char *reason = bluetooth_crypto_failure();
  if (reason == NULL) return &functions;
  fprintf(stderr, "Bluetooth: %s; %s\n", reason, BLUETOOTH_CRYPTO_REMEDY);
  abort();
}

void bluetooth_crypto_stop(const char *function) {
  fprintf(stderr, "Bluetooth: %s of OpenSSL's libcrypto failed\n", function);
  abort();
}

void bluetooth_crypto_cleanse(void *octets, size_t count) {
  bluetooth_crypto_library()->OPENSSL_cleanse(octets, count);
}
