/// What is known of the formats that beacons put into manufacturer data and service data.
package enum Beacon: Hashable, Sendable {
  /// Apple's Proximity Beacon: an identifier, a group, a number in it, and dBm at one metre.
  case iBeacon(BluetoothUUID, major: UInt16, minor: UInt16, measuredPower: Int8)
  /// AltBeacon 1.0: 20 octets of identifier, dBm at one metre, and one octet for the manufacturer.
  case altBeacon(company: UInt16, ByteSlice, referenceRSSI: Int8, reserved: UInt8)
  /// Eddystone-UID: dBm at no distance, 10 octets of name space, 6 of instance.
  case eddystoneUID(power: Int8, namespace: ByteSlice, instance: ByteSlice)
  /// Eddystone-URL: dBm at no distance.
  case eddystoneURL(power: Int8, String)
  /// Eddystone-TLM, not encrypted.
  case eddystoneTelemetry(Telemetry)
  /// Eddystone-EID: dBm at no distance, 8 octets that change.
  case eddystoneEID(power: Int8, ByteSlice)

  package struct Telemetry: Hashable, Sendable {
    package var version: UInt8
    /// Millivolts; 0: it has none to tell of.
    package var battery: UInt16
    /// Units of 1/256 °C.
    package var temperature: Int16
    /// Advertisements since the start.
    package var advertisements: UInt32
    /// Units of 0.1 s since the start.
    package var uptime: UInt32
  }

  /// The beacon in one of these structures; nil: none of them is one.
  package init?(_ data: AdvertisingData) {
    for structure in data {
      switch structure.field {
      case .manufacturerData(let company, let data)?:
        guard let beacon = Self.manufacturer(company, data) else { continue }
        self = beacon
        return
      case .serviceData(Self.eddystone, let data)?:
        guard let beacon = Self.frame(data) else { continue }
        self = beacon
        return
      default: continue
      }
    }
    return nil
  }

  /// Google's member UUID.
  private static let eddystone: BluetoothUUID = 0xFEAA
  /// Type and length that stand before Apple's 21 octets.
  private static let appleCode: [UInt8] = [0x02, 0x15]
  private static let altBeaconCode: [UInt8] = [0xBE, 0xAC]

  private static func manufacturer(_ company: UInt16, _ data: ByteSlice) -> Beacon? {
    let octets = data.bytes
    if company == OverflowArea.company, octets.count == 23, octets.starts(with: appleCode) {
      return .iBeacon(
        BluetoothUUID(high: big(octets[2..<10]), low: big(octets[10..<18])), major: UInt16(big(octets[18..<20])),
        minor: UInt16(big(octets[20..<22])), measuredPower: Int8(bitPattern: octets[22]))
    }
    if octets.count == 24, octets.starts(with: altBeaconCode) {
      return .altBeacon(
        company: company, data[2..<22], referenceRSSI: Int8(bitPattern: octets[22]), reserved: octets[23])
    }
    return nil
  }

  private static func frame(_ data: ByteSlice) -> Beacon? {
    let octets = data.bytes
    guard octets.count >= 2 else { return nil }
    let power = Int8(bitPattern: octets[1])
    switch (octets[0], octets.count) {
    // Two reserved octets may be left out.
    case (0x00, 18...20): return .eddystoneUID(power: power, namespace: data[2..<12], instance: data[12..<18])
    case (0x10, 3...20): return url(octets.dropFirst(2)).map { .eddystoneURL(power: power, $0) }
    case (0x20, 14) where octets[1] == 0:
      return .eddystoneTelemetry(
        Telemetry(
          version: octets[1], battery: UInt16(big(octets[2..<4])),
          temperature: Int16(bitPattern: UInt16(big(octets[4..<6]))), advertisements: UInt32(big(octets[6..<10])),
          uptime: UInt32(big(octets[10..<14]))))
    case (0x30, 10): return .eddystoneEID(power: power, data[2..<10])
    default: return nil
    }
  }

  private static let schemes = ["http://www.", "https://www.", "http://", "https://"]
  /// What octets 0x00 to 0x0D stand for: each with a slash, then each without.
  private static let endings = [".com", ".org", ".edu", ".net", ".info", ".biz", ".gov"]

  private static func url(_ octets: ArraySlice<UInt8>) -> String? {
    guard let first = octets.first, Int(first) < schemes.count else { return nil }
    var text = schemes[Int(first)]
    for octet in octets.dropFirst() {
      switch octet {
      case 0x00...0x06: text += endings[Int(octet)] + "/"
      case 0x07...0x0D: text += endings[Int(octet) - endings.count]
      case 0x21...0x7E: text.unicodeScalars.append(Unicode.Scalar(octet))
      default: return nil
      }
    }
    return text
  }

  /// The octets as a number, most significant first: these formats are not written in Bluetooth's order.
  private static func big(_ octets: ArraySlice<UInt8>) -> UInt64 { octets.reduce(0) { $0 << 8 | UInt64($1) } }
}
