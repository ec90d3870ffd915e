#ifndef CCOREBLUETOOTHWORLD_H
#define CCOREBLUETOOTHWORLD_H

/// Lets managers read the world file that COREBLUETOOTH_WORLD names. Defined in the module CoreBluetoothWorld.
void coreBluetoothWorldRegister(void);

#endif
