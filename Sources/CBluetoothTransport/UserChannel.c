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
#define PROTOCOL_HCI 1
#define CHANNEL_USER 1

struct hci_address {
  sa_family_t family;
  uint16_t adapter;
  uint16_t channel;
};

int bluetooth_user_channel_open(uint16_t adapter, enum bluetooth_user_channel_step *step) {
  *step = bluetooth_user_channel_socket;
  int descriptor = socket(AF_BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, PROTOCOL_HCI);
  if (descriptor < 0) return -errno;
  *step = bluetooth_user_channel_bind;
  struct hci_address address;
  memset(&address, 0, sizeof address);
  address.family = AF_BLUETOOTH;
  address.adapter = adapter;
  address.channel = CHANNEL_USER;
  if (bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
  int error = errno;
  close(descriptor);
  return -error;
}

#else

int bluetooth_user_channel_open(uint16_t adapter, enum bluetooth_user_channel_step *step) {
  *step = bluetooth_user_channel_socket;
  return -EAFNOSUPPORT;
}

#endif
