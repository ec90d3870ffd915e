#include "CCoreBluetoothWorld.h"

// Runs before main, so that a program needs no code to read world files.
__attribute__((constructor)) static void programStarts(void) { coreBluetoothWorldRegister(); }
