// AES-128, P-256 and SHA-256 of OpenSSL's libcrypto, which is loaded when it is first needed. Every thread may call
// every function. A function that needs the library and does not find it prints one line and ends the process.
#pragma once

#include <stdbool.h>
#include <stddef.h>

/// Loads the library. Returns null, or the reason why there is none that can be used.
const char *_Nullable bluetooth_crypto_failure(void);

/// The action by which a user provides the library.
#define BLUETOOTH_CRYPTO_REMEDY "install OpenSSL's libcrypto, on Debian and Ubuntu: apt install libssl3"

/// Returns the version of the library, such as "OpenSSL 3.0.19 27 Jan 2026"; null without a library.
const char *_Nullable bluetooth_crypto_version(void);

/// Overwrites key material, such that the compiler does not omit it.
void bluetooth_crypto_cleanse(void *_Nonnull octets, size_t count);

/// Encrypts a block of 16 octets in place with a key of 16 octets. Allocates no memory, and keeps no copy of the key.
void bluetooth_aes_encrypt(const void *_Nonnull key, void *_Nonnull block);

/// Computes the AES-CMAC of a message, 16 octets. Allocates no memory, and keeps no copy of the key.
void bluetooth_aes_cmac(
  const void *_Nonnull key, const void *_Nullable message, size_t count, void *_Nonnull result);

/// An AES-128 key for many packets. Each use locks it.
struct bluetooth_aes_key;

/// Returns the state for a key of 16 octets.
struct bluetooth_aes_key *_Nonnull bluetooth_aes_key_create(const void *_Nonnull octets);

/// Overwrites the key and frees its state.
void bluetooth_aes_key_free(struct bluetooth_aes_key *_Nonnull key);

/// Encrypts `count` blocks of 16 octets in place, independently of each other. Allocates no memory.
void bluetooth_aes_key_encrypt(struct bluetooth_aes_key *_Nonnull key, void *_Nonnull blocks, size_t count);

/// Encrypts `count` blocks of 16 octets in place with cipher block chaining that begins with a block of zeros, so that
/// the last block becomes the CBC-MAC of all. Allocates no memory.
void bluetooth_aes_key_chain(struct bluetooth_aes_key *_Nonnull key, void *_Nonnull blocks, size_t count);

/// Computes the public key of a private key: 32 octets of X and 32 of Y. All integers are most significant octet first.
/// Returns false if the private key of 32 octets is 0 or not below the order of the curve.
bool bluetooth_p256_public_key(const void *_Nonnull private_key, void *_Nonnull public_key);

/// Computes the X coordinate, 32 octets, that the owners of both keys share. Returns false if the private key is
/// invalid, or the public key is not a point of the curve.
bool bluetooth_p256_shared_secret(
  const void *_Nonnull private_key, const void *_Nonnull public_key, void *_Nonnull secret);

/// A SHA-256 digest in progress.
struct bluetooth_sha256;

struct bluetooth_sha256 *_Nonnull bluetooth_sha256_create(void);
void bluetooth_sha256_update(struct bluetooth_sha256 *_Nonnull digest, const void *_Nullable octets, size_t count);
/// Writes the 32 octets of the digest. Afterwards it may only be freed.
void bluetooth_sha256_finish(struct bluetooth_sha256 *_Nonnull digest, void *_Nonnull result);
void bluetooth_sha256_free(struct bluetooth_sha256 *_Nonnull digest);
