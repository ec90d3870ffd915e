// The PDUs consist of the public vocabulary's types, so every module that imports this one sees them too.
@_exported import BluetoothTypes
