#include "CBluetoothTransport.h"

#include <errno.h>

#if defined(__linux__)

// The kernel's headers, because those of the C library support only a fixed list of rates. The two sets of headers
// conflict, so this file does not include the C library's.
#include <asm/termbits.h>
#include <sys/ioctl.h>

int bluetooth_serial_line_prepare(
    int descriptor, uint32_t baud, bool has_flow_control, bool has_even_parity, uint32_t *actual) {
  struct termios2 line;
  if (ioctl(descriptor, TCGETS2, &line) != 0) return errno;
  if (ioctl(descriptor, TIOCEXCL) != 0) return errno;
  line.c_iflag = 0;
  line.c_oflag = 0;
  line.c_lflag = 0;
  // BOTHER selects numeric rates for both directions. The flags of the input rate are in the upper
  // half (IBSHIFT).
  line.c_cflag &= ~(CSIZE | CSTOPB | PARENB | PARODD | CRTSCTS | CBAUD | (CBAUD << IBSHIFT));
  line.c_cflag |= CS8 | CREAD | CLOCAL | BOTHER | (BOTHER << IBSHIFT);
  if (has_flow_control) line.c_cflag |= CRTSCTS;
  if (has_even_parity) line.c_cflag |= PARENB;
  line.c_ispeed = baud;
  line.c_ospeed = baud;
  line.c_cc[VMIN] = 1;
  line.c_cc[VTIME] = 0;
  if (ioctl(descriptor, TCSETS2, &line) != 0) return errno;
  if (ioctl(descriptor, TCGETS2, &line) != 0) return errno;
  *actual = line.c_ospeed;
  return ioctl(descriptor, TCFLSH, TCIOFLUSH) == 0 ? 0 : errno;
}

#else

int bluetooth_serial_line_prepare(
    int descriptor, uint32_t baud, bool has_flow_control, bool has_even_parity, uint32_t *actual) {
  return ENOSYS;
}

#endif
