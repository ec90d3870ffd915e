import BeaconLocation
import BluetoothDissection
import BluetoothNumbers
import BluetoothTypes
import BluetoothWire
import CoreBluetooth
import CoreBluetoothExtras
import Foundation

/// An advertiser, with the information from its packets so far.
struct SightedDevice: Sendable {
  let peripheral: Peripheral
  let address: DeviceAddress
  private(set) var fields = AdvertisingFields()
  private(set) var beacon: Beacon?
  /// The last Eddystone frame that identifies the device; its telemetry if there is none.
  private(set) var eddystone: EddystoneFrame?
  /// The signal strength in dBm, smoothed over the last packets; nil: not available.
  private(set) var level: Double?
  private(set) var lastSeen = Duration.zero
  private var headerPower: Int?

  /// The weight of a new packet in the smoothed signal strength.
  private static let weight = 0.25

  init(_ packet: AdvertisingPacket) {
    peripheral = packet.peripheral
    address = packet.address
  }

  mutating func add(_ packet: AdvertisingPacket, at time: Duration) {
    let octets = ByteSlice(packet.data)
    fields.add(octets)
    beacon = Beacon(AdvertisingData(octets)) ?? beacon
    if let frame = EddystoneFrame(packet), frame.isIdentity || eddystone?.isIdentity != true { eddystone = frame }
    headerPower = packet.txPower ?? headerPower
    lastSeen = time
    guard let rssi = packet.rssi else { return }
    level = level.map { $0 + (Double(rssi) - $0) * Self.weight } ?? Double(rssi)
  }

  /// The name as advertised, or as known from an earlier link.
  var name: String? { fields.localName ?? peripheral.name }

  /// The company of the manufacturer specific data.
  var company: UInt16? {
    fields.manufacturerData.map { data in UInt16(data[0]) | UInt16(data[1]) << 8 }
  }

  var companyName: String? {
    company.map { AssignedNumbers.companyName($0) ?? "0x" + [UInt8($0 >> 8), UInt8($0 & 0xFF)].digits }
  }

  /// The company, or the content of an Eddystone frame, which has no manufacturer specific data.
  var companyText: String? { companyName ?? eddystone?.summary }

  /// The advertised services, and those with service data.
  var services: [BluetoothUUID] {
    fields.services + fields.serviceData.map(\.service).filter { !fields.services.contains($0) }
  }

  var serviceNames: [String] { services.map { KnownNames.name(of: $0) ?? "\($0)" } }

  // MARK: Distance

  /// The source of the transmit power in an estimate.
  enum Basis: String, Sendable {
    /// The device tells its power.
    case advertised
    /// The power is assumed to be 0 dBm.
    case assumed
  }

  /// An estimate of the distance in metres, in free space; nil: the signal strength is not available. Walls, bodies and
  /// antennas make it wrong by a factor of two and more.
  var distance: (metres: Double, basis: Basis)? {
    guard let level else { return nil }
    let (power, basis) = powerAtOneMetre
    // 20 dB for each factor of ten.
    return (pow(10, (Double(power) - level) / 20), basis)
  }

  /// The level at a distance of one metre in dBm. In free space, 2.4 GHz lose 40 dB in the first metre.
  private var powerAtOneMetre: (Int, Basis) {
    switch beacon {
    case .iBeacon(_, _, _, let power)?, .altBeacon(_, _, let power, _)?: return (Int(power), .advertised)
    case .eddystoneUID(let power, _, _)?, .eddystoneURL(let power, _)?, .eddystoneEID(let power, _)?:
      // At 0 m in the terms of Eddystone, which takes 41 dB for the first metre.
      return (Int(power) - 41, .advertised)
    default:
      guard let power = fields.txPowerLevel.map(Int.init) ?? headerPower else { return (-40, .assumed) }
      return (power - 40, .advertised)
    }
  }

  /// The estimate as text: "2.0 m", or "~2.0 m" if the power is assumed.
  var distanceText: String? {
    distance.map { metres, basis in
      (basis == .assumed ? "~" : "") + (metres < 10 ? metres.fixed(1) : "\(Int(metres.rounded()))") + " m"
    }
  }
}

/// The advertisers that a scan shows.
struct ScanFilter: Sendable {
  var name: String?
  var services: [BluetoothUUID] = []
  var companies: Set<UInt16>?
  /// The least smoothed signal strength in dBm.
  var rssi: Int?

  func admits(_ device: SightedDevice) -> Bool {
    if let name, device.name?.lowercased().contains(name.lowercased()) != true { return false }
    if !services.isEmpty, !services.contains(where: device.services.contains) { return false }
    if let companies, device.company.map(companies.contains) != true { return false }
    if let rssi, device.level.map({ $0 < Double(rssi) }) != false { return false }
    return true
  }
}
