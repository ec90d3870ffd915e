// Addresses and error codes are a part of this module's interface.
@_exported import BluetoothTypes
