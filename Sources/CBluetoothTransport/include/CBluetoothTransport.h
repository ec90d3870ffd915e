// Linux functions that the C library's headers do not export to Swift.
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Switches a serial line to raw mode with 8 data bits, 1 stop bit, and RTS/CTS flow control and even parity if they are
/// wanted, at any rate that the hardware supports. Locks the line against other processes, and discards octets that are already buffered.
///
/// Returns 0 or an `errno`; `*actual` is the resulting rate in baud.
int bluetooth_serial_line_prepare(
    int descriptor, uint32_t baud, bool has_flow_control, bool has_even_parity, uint32_t *actual);

/// The system call of `bluetooth_user_channel_open` that failed.
enum bluetooth_user_channel_step { bluetooth_user_channel_socket, bluetooth_user_channel_bind };

/// Opens the HCI user channel of an adapter, which gives exclusive access to its packets.
///
/// Returns a descriptor, or a negated `errno`.
int bluetooth_user_channel_open(uint16_t adapter, enum bluetooth_user_channel_step *step);

/// Begins to open an LE credit-based channel from the adapter with the address `own` to a device. The descriptor becomes
/// writable when the attempt has ended; SO_ERROR then has its result.
///
/// Returns a descriptor with packet boundaries that does not block, or a negated `errno`.
int bluetooth_l2cap_connect(
    uint64_t own, bool is_own_random, uint64_t peer, bool is_peer_random, uint16_t psm, uint16_t mtu);

/// Listens for LE credit-based channels at a free dynamic PSM.
///
/// Returns a descriptor, or a negated `errno`.
int bluetooth_l2cap_listen(uint64_t own, bool is_own_random, bool is_encrypted, uint16_t mtu, uint16_t *psm);

/// Accepts a channel. Returns its descriptor, or a negated `errno`.
int bluetooth_l2cap_accept(int listener, uint64_t *peer, bool *is_peer_random);

/// Returns the longest packet that can be sent on an open channel; 0: unknown.
uint16_t bluetooth_l2cap_send_mtu(int descriptor);
