// The functions of libcrypto that this module calls. They are declared here, so that a build needs no headers of
// OpenSSL. All of them exist in OpenSSL 1.1.1 and 3, and none of them is deprecated.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct evp_cipher_ctx_st EVP_CIPHER_CTX;
typedef struct evp_cipher_st EVP_CIPHER;
typedef struct evp_md_ctx_st EVP_MD_CTX;
typedef struct evp_md_st EVP_MD;
typedef struct engine_st ENGINE;
typedef struct ec_group_st EC_GROUP;
typedef struct ec_point_st EC_POINT;
typedef struct bignum_st BIGNUM;
typedef struct bignum_ctx BN_CTX;

/// The functions: result, name, parameters.
#define LIBRARY_FUNCTIONS(F) \
  F(int, OPENSSL_init_crypto, (uint64_t options, const void *settings)) \
  F(const char *, OpenSSL_version, (int part)) \
  F(void, OPENSSL_cleanse, (void *octets, size_t count)) \
  F(int, ERR_set_mark, (void)) \
  F(int, ERR_pop_to_mark, (void)) \
  F(const EVP_CIPHER *, EVP_aes_128_ecb, (void)) \
  F(const EVP_CIPHER *, EVP_aes_128_cbc, (void)) \
  F(EVP_CIPHER_CTX *, EVP_CIPHER_CTX_new, (void)) \
  F(void, EVP_CIPHER_CTX_free, (EVP_CIPHER_CTX *)) \
  F(int, EVP_EncryptInit_ex, \
   (EVP_CIPHER_CTX *, const EVP_CIPHER *, ENGINE *, const uint8_t *key, const uint8_t *vector)) \
  F(int, EVP_EncryptUpdate, (EVP_CIPHER_CTX *, uint8_t *output, int *written, const uint8_t *input, int count)) \
  F(const EVP_MD *, EVP_sha256, (void)) \
  F(EVP_MD_CTX *, EVP_MD_CTX_new, (void)) \
  F(void, EVP_MD_CTX_free, (EVP_MD_CTX *)) \
  F(int, EVP_DigestInit_ex, (EVP_MD_CTX *, const EVP_MD *, ENGINE *)) \
  F(int, EVP_DigestUpdate, (EVP_MD_CTX *, const void *octets, size_t count)) \
  F(int, EVP_DigestFinal_ex, (EVP_MD_CTX *, uint8_t *result, unsigned *count)) \
  F(EC_GROUP *, EC_GROUP_new_by_curve_name, (int curve)) \
  F(EC_POINT *, EC_POINT_new, (const EC_GROUP *)) \
  F(void, EC_POINT_clear_free, (EC_POINT *)) \
  F(int, EC_POINT_mul, \
   (const EC_GROUP *, EC_POINT *result, const BIGNUM *of_generator, const EC_POINT *, const BIGNUM *of_point, \
   BN_CTX *)) \
  F(int, EC_POINT_oct2point, (const EC_GROUP *, EC_POINT *, const uint8_t *octets, size_t count, BN_CTX *)) \
  F(size_t, EC_POINT_point2oct, \
   (const EC_GROUP *, const EC_POINT *, int form, uint8_t *octets, size_t count, BN_CTX *)) \
  F(BIGNUM *, BN_bin2bn, (const uint8_t *octets, int count, BIGNUM *)) \
  F(void, BN_set_flags, (BIGNUM *, int flags)) \
  F(void, BN_clear_free, (BIGNUM *)) \
  F(BN_CTX *, BN_CTX_new, (void)) \
  F(void, BN_CTX_free, (BN_CTX *))

/// A table of the functions.
struct library {
#define LIBRARY_MEMBER(result, name, parameters) result (*name) parameters;
  LIBRARY_FUNCTIONS(LIBRARY_MEMBER)
#undef LIBRARY_MEMBER
};

/// Returns the functions. Loads the library the first time; ends the process if there is none.
const struct library *bluetooth_crypto_library(void);

/// Ends the process: the library has failed at something that can't fail apart from a lack of memory.
_Noreturn void bluetooth_crypto_stop(const char *function);
