#include "CBluetoothNumbers.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char octets[] = {
#embed "Tables/companies.txt"
};

struct bluetooth_names bluetooth_company_names(void) {
  return (struct bluetooth_names){octets, sizeof octets};
}
