import BluetoothDissection
import BluetoothNumbers
import BluetoothTypes
import BluetoothWire

/// The latest advertising of a device, as its packets on the air show it.
struct SeenAdvertising {
  /// The time after which a device that sends no advertising packet counts as silent.
  static let lifetime = TimeSpan.seconds(5)

  private var packet: PacketDescription.Advertisement
  private var scanResponse: [UInt8] = []
  /// The start of the latest advertising packet.
  var latest: Instant

  init(_ packet: PacketDescription.Advertisement, at time: Instant) { (self.packet, latest) = (packet, time) }

  /// The address of the advertiser, which may be private.
  var address: DeviceAddress { packet.address }

  /// Takes over a packet. Returns true if its content is new.
  mutating func update(_ new: PacketDescription.Advertisement) -> Bool {
    if new.type == .scanRsp || new.type == .auxScanRsp {
      guard new.address == packet.address, scanResponse != new.data else { return false }
      scanResponse = new.data
      return true
    }
    guard (new.address, new.type, new.data) != (packet.address, packet.type, packet.data) else { return false }
    if new.address != packet.address { scanResponse = [] }
    packet = new
    return true
  }

  var pageText: JSONText {
    var fields = PageFields()
    fields.add("type", packet.type.rawValue)
    fields.add("address", packet.address.octetsText)
    fields.add("connectable", packet.isConnectable)
    fields.add("time", .time(latest))
    // The fields of both packets: those of the advertising packet come first.
    let own = AdvertisingFields(ByteSlice(packet.data))
    let response = AdvertisingFields(ByteSlice(scanResponse))
    let named = own.localName == nil ? response : own
    fields.add("name", named.localName)
    if named.localName != nil, !named.isLocalNameComplete { fields.add("shortened", true) }
    fields.add("flags", own.flags.map { .whole($0) })
    if let appearance = Self.appearance(packet.data) ?? Self.appearance(scanResponse) {
      fields.add("appearance", .whole(appearance))
      fields.add("appearanceName", AssignedNumbers.appearanceName(appearance))
    }
    fields.add("txPower", (own.txPowerLevel ?? response.txPowerLevel).map { .whole($0) })
    fields.add("services", .list((own.services + response.services).map { Self.text($0, []) }))
    fields.add(
      "serviceData",
      .list(
        (own.serviceData + response.serviceData).map { entry in
          Self.text(entry.service, [("data", .hexadecimal(entry.data.bytes))])
        }))
    fields.add(
      "manufacturer",
      .list((Self.manufacturers(packet.data) + Self.manufacturers(scanResponse)).map(Self.manufacturer)))
    fields.add("octets", .hexadecimal(packet.data))
    if !scanResponse.isEmpty { fields.add("scanResponse", .hexadecimal(scanResponse)) }
    return fields.object
  }

  private static func text(_ uuid: BluetoothUUID, _ more: [(String, JSONText)]) -> JSONText {
    var fields = PageFields()
    fields.add("uuid", "\(uuid)")
    fields.add("name", SpecificationNames.name(of: uuid))
    for (name, value) in more { fields.add(name, value) }
    return fields.object
  }

  private static func manufacturers(_ data: [UInt8]) -> [[UInt8]] {
    AdvertisingData(ByteSlice(data)).filter { $0.type == .manufacturerData && $0.data.count >= 2 }.map(\.data.bytes)
  }

  private static func manufacturer(_ data: [UInt8]) -> JSONText {
    let company = UInt16(data[0]) | UInt16(data[1]) << 8
    var fields = PageFields()
    fields.add("company", .whole(company))
    fields.add("name", AssignedNumbers.companyName(company))
    fields.add("data", .hexadecimal(data.dropFirst(2)))
    return fields.object
  }

  private static func appearance(_ data: [UInt8]) -> UInt16? {
    AdvertisingData(ByteSlice(data)).first { $0.type == .appearance && $0.data.count == 2 }.map {
      UInt16($0.data[0]) | UInt16($0.data[1]) << 8
    }
  }
}
