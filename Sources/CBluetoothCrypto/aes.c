#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "CBluetoothCrypto.h"
#include "library.h"

// libcrypto looks a cipher up, and allocates memory, when a context gets its cipher. In such a context, setting a key or
// an initialization vector and encrypting allocate nothing.

enum { block_length = 16 };

static const uint8_t zeros[block_length];

/// Returns a context for a cipher that encrypts with `key`.
static EVP_CIPHER_CTX *context(const struct library *library, const EVP_CIPHER *cipher, const uint8_t *key) {
  EVP_CIPHER_CTX *context = library->EVP_CIPHER_CTX_new();
  if (context == NULL || library->EVP_EncryptInit_ex(context, cipher, NULL, key, zeros) != 1) {
    bluetooth_crypto_stop("EVP_EncryptInit_ex");
  }
  return context;
}

/// Sets the key, if there is one, and starts a new chain of blocks.
static void start(const struct library *library, EVP_CIPHER_CTX *context, const uint8_t *key) {
  if (library->EVP_EncryptInit_ex(context, NULL, NULL, key, zeros) != 1) bluetooth_crypto_stop("EVP_EncryptInit_ex");
}

static void encrypt(
  const struct library *library, EVP_CIPHER_CTX *context, const void *input, void *output, size_t count) {
  int octets = (int)count * block_length;
  int written;
  if (library->EVP_EncryptUpdate(context, output, &written, input, octets) != 1 || written != octets) {
    bluetooth_crypto_stop("EVP_EncryptUpdate");
  }
}

// Keys that are used once share a context with cipher block chaining. The first block is encrypted
// as if it were alone, because a chain begins with zeros here.
static EVP_CIPHER_CTX *shared;
static pthread_once_t sharing = PTHREAD_ONCE_INIT;
static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;

static void share(void) {
  const struct library *library = bluetooth_crypto_library();
  shared = context(library, library->EVP_aes_128_cbc(), zeros);
}

/// Locks the shared context and sets its key.
static void take_shared(const struct library *library, const uint8_t *key) {
  pthread_once(&sharing, share);
  pthread_mutex_lock(&shared_lock);
  start(library, shared, key);
}

/// Overwrites the key of the shared context and unlocks it.
static void return_shared(const struct library *library) {
  start(library, shared, zeros);
  pthread_mutex_unlock(&shared_lock);
}

void bluetooth_aes_encrypt(const void *key, void *block) {
  const struct library *library = bluetooth_crypto_library();
  take_shared(library, key);
  encrypt(library, shared, block, block, 1);
  return_shared(library);
}

/// Multiplies a number of 128 bits, most significant octet first, by x in the field of AES-CMAC · RFC 4493, 2.3.
static void double_in_field(uint8_t *number) {
  uint8_t carry = (uint8_t)-(number[0] >> 7);
  for (int i = 0; i < block_length - 1; i++) number[i] = (uint8_t)(number[i] << 1 | number[i + 1] >> 7);
  number[block_length - 1] = (uint8_t)(number[block_length - 1] << 1 ^ (carry & 0x87));
}

void bluetooth_aes_cmac(const void *key, const void *message, size_t count, void *result) {
  const struct library *library = bluetooth_crypto_library();
  uint8_t output[16 * block_length];
  uint8_t mask[block_length] = {0};
  take_shared(library, key);
  encrypt(library, shared, mask, mask, 1);
  start(library, shared, NULL);
  // All blocks but the last.
  const uint8_t *rest = message;
  while (count > block_length) {
    size_t blocks = (count - 1) / block_length;
    if (blocks > sizeof output / block_length) blocks = sizeof output / block_length;
    encrypt(library, shared, rest, output, blocks);
    rest += blocks * block_length;
    count -= blocks * block_length;
  }
  // The last block is combined with a mask, which differs between a complete block and one that is filled up.
  double_in_field(mask);
  uint8_t last[block_length] = {0};
  if (count > 0) memcpy(last, rest, count);
  if (count < block_length) {
    double_in_field(mask);
    last[count] = 0x80;
  }
  for (int i = 0; i < block_length; i++) last[i] ^= mask[i];
  encrypt(library, shared, last, result, 1);
  return_shared(library);
  library->OPENSSL_cleanse(mask, sizeof mask);
  library->OPENSSL_cleanse(last, sizeof last);
}

struct bluetooth_aes_key {
  pthread_mutex_t lock;
  EVP_CIPHER_CTX *blocks;
  EVP_CIPHER_CTX *chain;
};

struct bluetooth_aes_key *bluetooth_aes_key_create(const void *octets) {
  const struct library *library = bluetooth_crypto_library();
  struct bluetooth_aes_key *key = malloc(sizeof *key);
  if (key == NULL) bluetooth_crypto_stop("malloc");
  pthread_mutex_init(&key->lock, NULL);
  key->blocks = context(library, library->EVP_aes_128_ecb(), octets);
  key->chain = context(library, library->EVP_aes_128_cbc(), octets);
  return key;
}

void bluetooth_aes_key_free(struct bluetooth_aes_key *key) {
  const struct library *library = bluetooth_crypto_library();
  // libcrypto overwrites what it frees here.
  library->EVP_CIPHER_CTX_free(key->blocks);
  library->EVP_CIPHER_CTX_free(key->chain);
  pthread_mutex_destroy(&key->lock);
  free(key);
}

void bluetooth_aes_key_encrypt(struct bluetooth_aes_key *key, void *blocks, size_t count) {
  const struct library *library = bluetooth_crypto_library();
  pthread_mutex_lock(&key->lock);
  encrypt(library, key->blocks, blocks, blocks, count);
  pthread_mutex_unlock(&key->lock);
}

void bluetooth_aes_key_chain(struct bluetooth_aes_key *key, void *blocks, size_t count) {
  const struct library *library = bluetooth_crypto_library();
  pthread_mutex_lock(&key->lock);
  start(library, key->chain, NULL);
  encrypt(library, key->chain, blocks, blocks, count);
  pthread_mutex_unlock(&key->lock);
}
