// The public vocabulary is a part of this module's interface, and so is the policy of a device's operating system.
@_exported import BluetoothTypes
@_exported import struct BluetoothDaemon.PlatformPolicy
