#include "CBluetoothCrypto.h"
#include "library.h"

// `struct bluetooth_sha256` is the context of libcrypto.
static EVP_MD_CTX *context(struct bluetooth_sha256 *digest) { return (EVP_MD_CTX *)digest; }

struct bluetooth_sha256 *bluetooth_sha256_create(void) {
  const struct library *library = bluetooth_crypto_library();
  EVP_MD_CTX *context = library->EVP_MD_CTX_new();
  if (context == NULL || library->EVP_DigestInit_ex(context, library->EVP_sha256(), NULL) != 1) {
    bluetooth_crypto_stop("EVP_DigestInit_ex");
  }
  return (struct bluetooth_sha256 *)context;
}

void bluetooth_sha256_update(struct bluetooth_sha256 *digest, const void *octets, size_t count) {
  if (bluetooth_crypto_library()->EVP_DigestUpdate(context(digest), octets, count) != 1) {
    bluetooth_crypto_stop("EVP_DigestUpdate");
  }
}

void bluetooth_sha256_finish(struct bluetooth_sha256 *digest, void *result) {
  if (bluetooth_crypto_library()->EVP_DigestFinal_ex(context(digest), result, NULL) != 1) {
    bluetooth_crypto_stop("EVP_DigestFinal_ex");
  }
}

void bluetooth_sha256_free(struct bluetooth_sha256 *digest) {
  bluetooth_crypto_library()->EVP_MD_CTX_free(context(digest));
}
