#define _GNU_SOURCE
#include "CBluetoothTransport.h"

#include <errno.h>

#if defined(__linux__)

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// Constants of the BlueZ headers, which may not be installed.
#ifndef AF_BLUETOOTH
#define AF_BLUETOOTH 31
#endif
#define PROTOCOL_L2CAP 0
#define SOL_BLUETOOTH 274
#define BT_SECURITY 4
#define BT_SNDMTU 12
#define BT_RCVMTU 13
#define SECURITY_MEDIUM 2
#define LE_PUBLIC 1
#define LE_RANDOM 2

struct l2cap_address {
  sa_family_t family;
  // Little-endian, as the address.
  uint8_t psm[2];
  uint8_t device[6];
  uint16_t channel;
  uint8_t type;
};

struct security {
  uint8_t level;
  uint8_t key_size;
};

static struct l2cap_address address_of(uint64_t device, bool is_random, uint16_t psm) {
  struct l2cap_address address;
  memset(&address, 0, sizeof address);
  address.family = AF_BLUETOOTH;
  address.psm[0] = (uint8_t)psm;
  address.psm[1] = (uint8_t)(psm >> 8);
  for (int i = 0; i < 6; i++) address.device[i] = (uint8_t)(device >> (8 * i));
  address.type = is_random ? LE_RANDOM : LE_PUBLIC;
  return address;
}

/// Creates a socket of the adapter with this address. Returns a descriptor, or a negated `errno`.
static int bound_socket(uint64_t own, bool is_own_random, uint16_t mtu) {
  int descriptor = socket(AF_BLUETOOTH, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, PROTOCOL_L2CAP);
  if (descriptor < 0) return -errno;
  struct l2cap_address address = address_of(own, is_own_random, 0);
  if (
    bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0
    && setsockopt(descriptor, SOL_BLUETOOTH, BT_RCVMTU, &mtu, sizeof mtu) == 0)
    return descriptor;
  int error = errno;
  close(descriptor);
  return -error;
}

int bluetooth_l2cap_connect(
    uint64_t own, bool is_own_random, uint64_t peer, bool is_peer_random, uint16_t psm, uint16_t mtu) {
  int descriptor = bound_socket(own, is_own_random, mtu);
  if (descriptor < 0) return descriptor;
  struct l2cap_address address = address_of(peer, is_peer_random, psm);
  if (connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0 || errno == EINPROGRESS) return descriptor;
  int error = errno;
  close(descriptor);
  return -error;
}

int bluetooth_l2cap_listen(uint64_t own, bool is_own_random, bool is_encrypted, uint16_t mtu, uint16_t *psm) {
  int descriptor = bound_socket(own, is_own_random, mtu);
  if (descriptor < 0) return descriptor;
  struct security security = {SECURITY_MEDIUM, 0};
  struct l2cap_address address;
  socklen_t length = sizeof address;
  // A socket that is bound to no PSM gets a free dynamic one when it listens.
  if (
    (!is_encrypted || setsockopt(descriptor, SOL_BLUETOOTH, BT_SECURITY, &security, sizeof security) == 0)
    && listen(descriptor, 8) == 0 && getsockname(descriptor, (struct sockaddr *)&address, &length) == 0) {
    *psm = (uint16_t)(address.psm[0] | address.psm[1] << 8);
    return descriptor;
  }
  int error = errno;
  close(descriptor);
  return -error;
}

int bluetooth_l2cap_accept(int listener, uint64_t *peer, bool *is_peer_random) {
  struct l2cap_address address;
  memset(&address, 0, sizeof address);
  socklen_t length = sizeof address;
  int descriptor = accept4(listener, (struct sockaddr *)&address, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (descriptor < 0) return -errno;
  *peer = 0;
  for (int i = 5; i >= 0; i--) *peer = *peer << 8 | address.device[i];
  *is_peer_random = address.type == LE_RANDOM;
  return descriptor;
}

uint16_t bluetooth_l2cap_send_mtu(int descriptor) {
  uint16_t mtu = 0;
  socklen_t length = sizeof mtu;
  return getsockopt(descriptor, SOL_BLUETOOTH, BT_SNDMTU, &mtu, &length) == 0 ? mtu : 0;
}

#else

int bluetooth_l2cap_connect(
    uint64_t own, bool is_own_random, uint64_t peer, bool is_peer_random, uint16_t psm, uint16_t mtu) {
  return -EAFNOSUPPORT;
}

int bluetooth_l2cap_listen(uint64_t own, bool is_own_random, bool is_encrypted, uint16_t mtu, uint16_t *psm) {
  return -EAFNOSUPPORT;
}

int bluetooth_l2cap_accept(int listener, uint64_t *peer, bool *is_peer_random) { return -EAFNOSUPPORT; }

uint16_t bluetooth_l2cap_send_mtu(int descriptor) { return 0; }

#endif
