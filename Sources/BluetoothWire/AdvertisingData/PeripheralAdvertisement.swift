/// The advertising data and scan response that `CBPeripheralManager.startAdvertising` transmits for a name and
/// services.
///
/// Apple's rule: 28 octets of the advertisement, headers included, hold the services and the name; the scan response
/// has space for 10 octets of name; services that do not fit go to the overflow area. This project adds:
/// - Services precede the name, in one list for each UUID width. They are added in the given order; a service that does
///   not fit goes to the overflow area.
/// - The overflow area is in the scan response, where it leaves 8 octets for a name.
/// - A name that fits completely is placed in the advertisement, else in the scan response. A name that fits in
///   neither is shortened and placed where more of it fits.
package struct PeripheralAdvertisement: Hashable, Sendable {
  /// The advertising data, at most 31 octets, Flags first.
  package let advertisingData: ByteSlice
  /// The scan response data, at most 31 octets; empty if there is nothing for it.
  package let scanResponse: ByteSlice

  /// The maximum length of a name in the scan response, in octets.
  static let scanResponseNameLength = 10

  /// Creates the advertisement.
  ///
  /// - Parameters:
  ///   - localName: the name; nil: none.
  ///   - services: the services, which go to the overflow area if they do not fit.
  ///   - overflowServices: the services of apps in the background, which are in the overflow area only.
  package init(localName: String?, services: [BluetoothUUID], overflowServices: [BluetoothUUID] = []) {
    var advertisement = AdvertisingDataBuilder()
    advertisement.appendFlags()
    var response = AdvertisingDataBuilder()

    let (fitting, rest) = Self.split(services, room: advertisement.capacity - advertisement.octets.count)
    for width in [BluetoothUUID.Width.bits16, .bits32, .bits128] {
      let isComplete = !rest.contains { $0.advertisedWidth == width }
      advertisement.appendServices(fitting.filter { $0.advertisedWidth == width }, isComplete: isComplete)
    }
    if !rest.isEmpty || !overflowServices.isEmpty {
      var area = OverflowArea()
      for service in rest + overflowServices { area.insert(service) }
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

  /// Returns the services whose lists fit in `room` octets, and the remaining services. Duplicates are removed.
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
