// The public vocabulary is a part of this module's interface.
@_exported import BluetoothTypes
