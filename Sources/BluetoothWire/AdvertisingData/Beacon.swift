/// The decoded contents of a beacon, which are carried in manufacturer specific data or service data.
package enum Beacon: Hashable, Sendable {
  /// Apple's Proximity Beacon: an identifier, a group (major), a number within the group (minor), and the power at
  /// one metre in dBm.
  case iBeacon(BluetoothUUID, major: UInt16, minor: UInt16, measuredPower: Int8)
  /// AltBeacon 1.0: an identifier of 20 octets, the power at one metre in dBm, and one octet for the manufacturer.
  case altBeacon(company: UInt16, ByteSlice, referenceRSSI: Int8, reserved: UInt8)
  /// Eddystone-UID: the power at a distance of 0 m in dBm, a namespace of 10 octets, and an instance of 6 octets.
  case eddystoneUID(power: Int8, namespace: ByteSlice, instance: ByteSlice)
  /// Eddystone-URL: the power at a distance of 0 m in dBm, and the URL.
  case eddystoneURL(power: Int8, String)
  /// Eddystone-TLM, unencrypted.
  case eddystoneTelemetry(Telemetry)
  /// Eddystone-EID: the power at a distance of 0 m in dBm, and an ephemeral identifier of 8 octets.
  case eddystoneEID(power: Int8, ByteSlice)

  package struct Telemetry: Hashable, Sendable {
    package var version: UInt8
    /// The battery voltage in mV; 0 if it is not available.
    package var battery: UInt16
    /// The temperature in units of 1/256 °C.
    package var temperature: Int16
    /// The number of advertisements since the start.
    package var advertisements: UInt32
    /// The time since the start in units of 0.1 s.
    package var uptime: UInt32
  }

  /// Decodes the first beacon in these structures. Returns nil if there is none.
  package init?(_ data: AdvertisingData) {
    for structure in data {
      switch structure.field {
      case .manufacturerData(let company, let data)?:
        guard let beacon = Self.manufacturer(company, data) else { continue }
        self = beacon
        return
      case .serviceData(Self.eddystoneService, let data)?:
        guard let beacon = Self.eddystoneFrame(data) else { continue }
        self = beacon
        return
      default: continue
      }
    }
    return nil
  }

  /// The member UUID of Google that Eddystone uses.
  package static let eddystoneService: BluetoothUUID = 0xFEAA
  /// The type and the length that precede Apple's 21 octets.
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

  /// Decodes the service data of Eddystone. Returns nil if the octets are no frame of a known type.
  package static func eddystoneFrame(_ data: ByteSlice) -> Beacon? {
    let octets = data.bytes
    guard octets.count >= 2 else { return nil }
    let power = Int8(bitPattern: octets[1])
    switch (octets[0], octets.count) {
    // Two reserved octets may be omitted.
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

  /// The expansions of the first octet of an Eddystone-URL.
  package static let urlSchemes = ["http://www.", "https://www.", "http://", "https://"]
  /// The expansions of octets 0x00 to 0x0D: first each with a slash, then each without.
  package static let urlEndings = [".com", ".org", ".edu", ".net", ".info", ".biz", ".gov"]

  private static func url(_ octets: ArraySlice<UInt8>) -> String? {
    guard let first = octets.first, Int(first) < urlSchemes.count else { return nil }
    var text = urlSchemes[Int(first)]
    for octet in octets.dropFirst() {
      switch octet {
      case 0x00...0x06: text += urlEndings[Int(octet)] + "/"
      case 0x07...0x0D: text += urlEndings[Int(octet) - urlEndings.count]
      case 0x21...0x7E: text.unicodeScalars.append(Unicode.Scalar(octet))
      default: return nil
      }
    }
    return text
  }

  /// Returns the octets as an integer, most significant first: these formats are big-endian, unlike Bluetooth.
  private static func big(_ octets: ArraySlice<UInt8>) -> UInt64 { octets.reduce(0) { $0 << 8 | UInt64($1) } }
}
