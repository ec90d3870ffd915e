/// What `CBPeripheralManager.startAdvertising` puts on the air for a name and services.
///
/// Apple's rule: 28 octets of the advertisement, headers counted, hold the services and the name; the scan response has
/// room for 10 octets of name; services that do not fit go to the overflow area. The rest is decided here:
/// - Services come before the name, in their order; each goes where the list of its width still has room.
/// - The overflow area stands in the scan response, where it leaves 8 octets for a name.
/// - A name that fits whole goes into the advertisement, else into the scan response; one that fits neither is shortened
///   where more of it has room.
package struct PeripheralAdvertisement: Hashable, Sendable {
  /// At most 31 octets, Flags first.
  package let advertisingData: ByteSlice
  /// At most 31 octets; empty if nothing is left for it.
  package let scanResponse: ByteSlice

  /// The room for a name in the scan response.
  static let scanResponseNameLength = 10

  package init(localName: String?, services: [BluetoothUUID]) {
    var advertisement = AdvertisingDataBuilder()
    advertisement.appendFlags()
    var response = AdvertisingDataBuilder()

    let (fitting, rest) = Self.split(services, room: advertisement.capacity - advertisement.octets.count)
    for width in [BluetoothUUID.Width.bits16, .bits32, .bits128] {
      let isComplete = !rest.contains { $0.advertisedWidth == width }
      advertisement.appendServices(fitting.filter { $0.advertisedWidth == width }, isComplete: isComplete)
    }
    if !rest.isEmpty {
      var area = OverflowArea()
      for service in rest { area.insert(service) }
      response.appendOverflowArea(area)
    }
    if let localName {
      let limit = min(Self.scanResponseNameLength, response.room)
      if localName.utf8.count > advertisement.room, localName.utf8.count <= limit || advertisement.room < limit {
        response.appendLocalName(localName, limit: limit)
      } else {
        advertisement.appendLocalName(localName)
      }
    }
    advertisingData = advertisement.data
    scanResponse = response.data
  }

  /// The services whose lists fit in `room` octets, and the others; each once.
  private static func split(
    _ services: [BluetoothUUID], room: Int
  ) -> (fitting: [BluetoothUUID], rest: [BluetoothUUID]) {
    var room = room
    var fitting: [BluetoothUUID] = []
    var rest: [BluetoothUUID] = []
    for service in services where !fitting.contains(service) && !rest.contains(service) {
      let width = service.advertisedWidth
      let isFirst = !fitting.contains { $0.advertisedWidth == width }
      let size = width.rawValue + (isFirst ? AdvertisingDataBuilder.headerLength : 0)
      if size <= room {
        room -= size
        fitting.append(service)
      } else {
        rest.append(service)
      }
    }
    return (fitting, rest)
  }
}

extension PeripheralAdvertisement {
  /// What stands on the air while the app is in the background: no name, every service in the overflow area, and no scan
  /// response.
  package init(backgroundServices services: [BluetoothUUID]) {
    var advertisement = AdvertisingDataBuilder()
    advertisement.appendFlags()
    if !services.isEmpty {
      var area = OverflowArea()
      for service in services { area.insert(service) }
      advertisement.appendOverflowArea(area)
    }
    advertisingData = advertisement.data
    scanResponse = ByteSlice()
  }
}
