// The Clang half of the module CoreBluetooth holds nothing.
