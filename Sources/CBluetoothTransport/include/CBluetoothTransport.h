// What of Linux the C library's headers do not show to Swift.
#pragma once

#include <stdint.h>

/// Has a serial line pass octets as they are: 8 data bits, no parity, 1 stop bit, RTS and CTS, at any rate that the hardware
/// has, and nobody else may open it. What had come before is thrown away.
///
/// Returns 0 or an `errno`; `*actual` is the rate that the line has then.
int bluetooth_serial_line_prepare(int descriptor, uint32_t baud, uint32_t *actual);

/// Which call of `bluetooth_user_channel_open` was refused.
enum bluetooth_user_channel_step { bluetooth_user_channel_socket, bluetooth_user_channel_bind };

/// Opens the HCI user channel of an adapter: its packets, and nobody else's.
///
/// Returns a descriptor, or an `errno` below zero.
int bluetooth_user_channel_open(uint16_t adapter, enum bluetooth_user_channel_step *step);
