import BluetoothWire

/// What an app's advertising comes to on the air.
struct PackedAdvertisement {
  let data: ByteSlice
  let scanResponse: ByteSlice

  init(localName: String?, services: [BluetoothUUID], pool: PacketPool) {
    data = []
    scanResponse = []
  }
}
