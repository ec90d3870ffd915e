#include <pthread.h>
#include <string.h>

#include "CBluetoothCrypto.h"
#include "library.h"

enum {
  coordinate_length = 32,
  /// NID_X9_62_prime256v1
  curve_p256 = 415,
  /// POINT_CONVERSION_UNCOMPRESSED, which is also the first octet of a point in this form: X and Y follow.
  uncompressed = 4,
  point_length = 1 + 2 * coordinate_length,
  /// BN_FLG_CONSTTIME
  constant_time = 0x04,
};

static const uint8_t order[coordinate_length] = {
  0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
  0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
};

static EC_GROUP *curve;
static pthread_once_t making = PTHREAD_ONCE_INIT;

static void make_curve(void) {
  curve = bluetooth_crypto_library()->EC_GROUP_new_by_curve_name(curve_p256);
  if (curve == NULL) bluetooth_crypto_stop("EC_GROUP_new_by_curve_name");
}

static bool is_private_key(const uint8_t *octets) {
  static const uint8_t zero[coordinate_length];
  return memcmp(octets, zero, sizeof zero) != 0 && memcmp(octets, order, sizeof order) < 0;
}

/// Multiplies a point, or the generator if `factor` is null, by a private key. Both points have `point_length` octets.
/// Returns false if a factor is invalid: `EC_POINT_oct2point` checks that a point is on the curve, and the octets of a
/// point at infinity have another first octet. The curve's order is prime, so the product is no point at infinity.
static bool multiply(const uint8_t *private_key, const uint8_t *factor, uint8_t *product) {
  if (!is_private_key(private_key)) return false;
  const struct library *library = bluetooth_crypto_library();
  pthread_once(&making, make_curve);
  // An error is no business of others that use libcrypto on this thread.
  library->ERR_set_mark();
  BN_CTX *scratch = library->BN_CTX_new();
  BIGNUM *number = library->BN_bin2bn(private_key, coordinate_length, NULL);
  EC_POINT *point = library->EC_POINT_new(curve);
  EC_POINT *result = library->EC_POINT_new(curve);
  if (scratch == NULL || number == NULL || point == NULL || result == NULL) bluetooth_crypto_stop("EC_POINT_new");
  library->BN_set_flags(number, constant_time);
  bool is_valid;
  if (factor == NULL) {
    is_valid = library->EC_POINT_mul(curve, result, number, NULL, NULL, scratch) == 1;
  } else {
    is_valid = library->EC_POINT_oct2point(curve, point, factor, point_length, scratch) == 1
      && library->EC_POINT_mul(curve, result, NULL, point, number, scratch) == 1;
  }
  is_valid = is_valid
    && library->EC_POINT_point2oct(curve, result, uncompressed, product, point_length, scratch) == point_length;
  library->EC_POINT_clear_free(result);
  library->EC_POINT_clear_free(point);
  library->BN_clear_free(number);
  library->BN_CTX_free(scratch);
  library->ERR_pop_to_mark();
  return is_valid;
}

bool bluetooth_p256_public_key(const void *private_key, void *public_key) {
  uint8_t product[point_length];
  if (!multiply(private_key, NULL, product)) return false;
  memcpy(public_key, product + 1, 2 * coordinate_length);
  return true;
}

bool bluetooth_p256_shared_secret(const void *private_key, const void *public_key, void *secret) {
  uint8_t factor[point_length] = {uncompressed};
  uint8_t product[point_length];
  memcpy(factor + 1, public_key, 2 * coordinate_length);
  if (!multiply(private_key, factor, product)) return false;
  memcpy(secret, product + 1, coordinate_length);
  bluetooth_crypto_cleanse(product, sizeof product);
  return true;
}
