import BluetoothTypes
import BluetoothWire
import CoreBluetooth
import CoreBluetoothExtras

/// A frame of an Eddystone beacon: the service data of the service 0xFEAA · Eddystone protocol specification,
/// github.com/google/eddystone.
///
/// Encrypted telemetry and Eddystone-EID are not decoded.
///
/// ```swift
/// let frame = EddystoneFrame.url("https://www.example.com/", txPower: -18)
/// let data = try frame.advertisingData()
/// ```
public enum EddystoneFrame: Hashable, Sendable {
  /// Eddystone-UID: a namespace of 10 octets, an instance of 6 octets, and the signal strength at a distance of 0 m in
  /// dBm, −100 to 20. The signal strength at 1 m is 41 dB lower.
  case uid(namespace: [UInt8], instance: [UInt8], txPower: Int8)
  /// Eddystone-URL: a URL, and the signal strength at a distance of 0 m in dBm, −100 to 20. The URL begins with http://
  /// or https://, consists of printable ASCII characters without spaces, and has at most 17 octets after the scheme;
  /// www. counts as a part of the scheme, and endings such as .com and .org/ count as one octet.
  case url(String, txPower: Int8)
  /// Eddystone-TLM without encryption: the state of the beacon.
  case telemetry(Telemetry)

  /// The state of a beacon · Eddystone-TLM, unencrypted.
  public struct Telemetry: Hashable, Sendable {
    /// The battery voltage in mV; nil: not available. 0 is sent as nil.
    public var batteryVoltage: UInt16?
    /// The temperature in °C, more than −128 and less than 128, which is sent in units of 1/256 °C; nil: not available.
    public var temperature: Double?
    /// The number of advertising packets of all kinds since the start of the beacon.
    public var advertisingCount: UInt32
    /// The time since the start of the beacon, which is sent in units of 0.1 s, rounded down. The counter on the air
    /// returns to 0 after 2^32 units (13.6 years).
    public var uptime: Duration

    /// Creates a state.
    public init(
      batteryVoltage: UInt16? = nil, temperature: Double? = nil, advertisingCount: UInt32, uptime: Duration
    ) {
      self.batteryVoltage = batteryVoltage
      self.temperature = temperature
      self.advertisingCount = advertisingCount
      self.uptime = uptime
    }
  }
}

// MARK: Encoding

extension EddystoneFrame {
  /// The type of a frame: its first octet.
  private enum FrameType {
    static let uid: UInt8 = 0x00
    static let url: UInt8 = 0x10
    static let telemetry: UInt8 = 0x20
  }

  private static let namespaceLength = 10
  private static let instanceLength = 6
  /// The maximum number of octets of a URL after its scheme.
  static let maximumURLLength = 17
  /// The temperature of a beacon without a thermometer: −128 °C in units of 1/256 °C.
  private static let noTemperature: Int16 = -32_768

  /// Returns the service data of the service 0xFEAA.
  ///
  /// - Throws: `EddystoneError` if a value has no encoding.
  public func serviceData() throws(EddystoneError) -> Data { try Data(encoded()) }

  /// Returns advertising data of 31 octets or fewer, for `AdvertisingParameters` or for a `Broadcaster` of a world:
  /// Flags, the service 0xFEAA, and its service data.
  ///
  /// - Throws: `EddystoneError` if a value has no encoding.
  public func advertisingData() throws(EddystoneError) -> [ADStructure] {
    let octets = try encoded()
    let service = BluetoothWire.Beacon.eddystoneService
    return [.flags(), .services([service]), .serviceData(of: service, octets)]
  }

  private func encoded() throws(EddystoneError) -> [UInt8] {
    switch self {
    case .uid(let namespace, let instance, let txPower):
      guard namespace.count == Self.namespaceLength else { throw .namespaceLength(namespace.count) }
      guard instance.count == Self.instanceLength else { throw .instanceLength(instance.count) }
      // The last two octets are reserved.
      return [FrameType.uid, UInt8(bitPattern: txPower)] + namespace + instance + [0, 0]
    case .url(let url, let txPower):
      return try [FrameType.url, UInt8(bitPattern: txPower)] + Self.compressed(url)
    case .telemetry(let state): return try [FrameType.telemetry] + Self.octets(of: state)
    }
  }

  /// Returns the octet of the scheme, and the rest of the URL with the shortest encoding.
  private static func compressed(_ url: String) throws(EddystoneError) -> [UInt8] {
    guard let scheme = BluetoothWire.Beacon.urlSchemes.firstIndex(where: { url.hasPrefix($0) }) else {
      throw .unknownScheme
    }
    var rest = url.dropFirst(BluetoothWire.Beacon.urlSchemes[scheme].count)
    var octets: [UInt8] = []
    // The endings with a slash have the first numbers, and are the longer ones.
    let expansions = BluetoothWire.Beacon.urlEndings.map { $0 + "/" } + BluetoothWire.Beacon.urlEndings
    while let first = rest.first {
      if let index = expansions.firstIndex(where: { rest.hasPrefix($0) }) {
        octets.append(UInt8(index))
        rest = rest.dropFirst(expansions[index].count)
      } else if let ascii = first.asciiValue, 0x21...0x7E ~= ascii {
        octets.append(ascii)
        rest = rest.dropFirst()
      } else {
        throw .invalidCharacter(first)
      }
    }
    guard octets.count <= maximumURLLength else { throw .urlLength(octets.count) }
    return [UInt8(scheme)] + octets
  }

  /// Returns the version and the fields of Eddystone-TLM.
  private static func octets(of state: Telemetry) throws(EddystoneError) -> [UInt8] {
    var temperature = noTemperature
    if let degrees = state.temperature {
      guard degrees > -128, degrees < 128 else { throw .temperature(degrees) }
      temperature = Int16(max(-32_767, min(32_767, (degrees * 256).rounded())))
    }
    guard state.uptime >= .zero else { throw .negativeUptime(state.uptime) }
    let (seconds, attoseconds) = state.uptime.components
    let tenths = UInt32(truncatingIfNeeded: seconds &* 10 &+ attoseconds / 100_000_000_000_000_000)
    let version: UInt8 = 0x00
    var octets = [version]
    octets += big(state.batteryVoltage ?? 0)
    octets += big(UInt16(bitPattern: temperature))
    octets += big(state.advertisingCount)
    octets += big(tenths)
    return octets
  }

  /// Returns the octets of an integer, most significant first: Eddystone is big-endian, unlike Bluetooth.
  private static func big(_ number: some FixedWidthInteger & UnsignedInteger) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { Array($0) }
  }
}

// MARK: Decoding

extension EddystoneFrame {
  private static let service = CBUUID(string: "FEAA")

  /// Decodes the service data of the service 0xFEAA. Returns nil if the octets are not a frame of a type that
  /// `EddystoneFrame` has.
  public init?(serviceData: Data) { self.init(ByteSlice([UInt8](serviceData))) }

  /// Decodes the advertisement data of `centralManager(_:didDiscover:advertisementData:rssi:)`. Returns nil if
  /// `CBAdvertisementDataServiceDataKey` has no frame of the service 0xFEAA.
  public init?(advertisementData: [String: Any]) {
    guard let services = advertisementData[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data],
      let data = services[Self.service]
    else { return nil }
    self.init(serviceData: data)
  }

  /// Decodes the first frame in an advertising packet. Returns nil if there is none.
  public init?(_ packet: AdvertisingPacket) {
    for structure in AdvertisingData(ByteSlice([UInt8](packet.data))) {
      guard let content = structure.serviceData, content.service == BluetoothWire.Beacon.eddystoneService,
        let frame = EddystoneFrame(content.data)
      else { continue }
      self = frame
      return
    }
    return nil
  }

  private init?(_ octets: ByteSlice) {
    switch BluetoothWire.Beacon.eddystoneFrame(octets) {
    case .eddystoneUID(let power, let namespace, let instance)?:
      self = .uid(namespace: namespace.bytes, instance: instance.bytes, txPower: power)
    case .eddystoneURL(let power, let url)?: self = .url(url, txPower: power)
    case .eddystoneTelemetry(let state)?:
      self = .telemetry(
        Telemetry(
          batteryVoltage: state.battery == 0 ? nil : state.battery,
          temperature: state.temperature == Self.noTemperature ? nil : Double(state.temperature) / 256,
          advertisingCount: state.advertisements, uptime: .milliseconds(100 * Int64(state.uptime))))
    case .iBeacon?, .altBeacon?, .eddystoneEID?, nil: return nil
    }
  }
}
