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
