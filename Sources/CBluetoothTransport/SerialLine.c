#include "CBluetoothTransport.h"

#include <errno.h>

#if defined(__linux__)

// The kernel's own headers: those of the C library know a list of rates only, and can't be seen beside these.
#include <asm/termbits.h>
#include <sys/ioctl.h>

int bluetooth_serial_line_prepare(int descriptor, uint32_t baud, uint32_t *actual) {
  struct termios2 line;
  if (ioctl(descriptor, TCGETS2, &line) != 0) return errno;
  if (ioctl(descriptor, TIOCEXCL) != 0) return errno;
  line.c_iflag = 0;
  line.c_oflag = 0;
  line.c_lflag = 0;
  // Both rates, as numbers: the input's stands in the upper half of the flags.
  line.c_cflag &= ~(CSIZE | CSTOPB | PARENB | CBAUD | (CBAUD << IBSHIFT));
  line.c_cflag |= CS8 | CREAD | CLOCAL | CRTSCTS | BOTHER | (BOTHER << IBSHIFT);
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

int bluetooth_serial_line_prepare(int descriptor, uint32_t baud, uint32_t *actual) { return ENOSYS; }

#endif
