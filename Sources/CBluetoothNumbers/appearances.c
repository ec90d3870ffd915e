#include "CBluetoothNumbers.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char octets[] = {
#embed "Tables/appearances.txt"
};

struct bluetooth_names bluetooth_appearance_names(void) {
  return (struct bluetooth_names){octets, sizeof octets};
}
