import BeaconLocation
import BluetoothAir
import BluetoothDissection
import BluetoothLab
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
  /// True if the device accepts connections; nil: no packet has told yet, because a scan response does not.
  private(set) var isConnectable: Bool?
  /// The last manufacturer specific data of each company, in the order in which the companies were received.
  private var companyData: [(company: UInt16, data: [UInt8])] = []
  /// The last Eddystone frame that identifies the device; its telemetry if there is none.
  private(set) var eddystone: EddystoneFrame?
  /// The signal strength in dBm, smoothed over the last packets; nil: not available.
  private(set) var level: Double?
  private(set) var lastSeen = Duration.zero
  /// The level that the device has told last; a beacon's own level precedes the transmit power.
  private var reference: PowerReference?

  /// The weight of a new packet in the smoothed signal strength.
  private static let weight = 0.25

  init(_ sighting: AdvertiserReport) {
    peripheral = sighting.peripheral
    address = sighting.address
  }

  mutating func add(_ sighting: AdvertiserReport, at time: Duration) {
    let octets = ByteSlice(sighting.data)
    let content = AdvertisingFields(octets)
    fields.merge(content)
    if let isConnectable = sighting.isConnectable { self.isConnectable = isConnectable }
    if let company = content.company, let data = content.manufacturerData.map({ Array($0.bytes.dropFirst(2)) }) {
      if let index = companies.firstIndex(of: company) {
        companyData[index].data = data
      } else {
        companyData.append((company, data))
      }
    }
    if let frame = sighting.eddystone, frame.isIdentity || eddystone?.isIdentity != true { eddystone = frame }
    if let told = sighting.reference {
      switch (told, reference) {
      case (.transmitPower, .levelAtOneMetre?): break
      default: reference = told
      }
    }
    lastSeen = time
    guard let rssi = sighting.rssi else { return }
    level = level.map { $0 + (Double(rssi) - $0) * Self.weight } ?? Double(rssi)
  }

  /// The name as advertised, or as known from an earlier link.
  var name: String? { fields.localName ?? peripheral.name }

  /// The companies of the manufacturer specific data, in the order in which they were received.
  var companies: [UInt16] { companyData.map(\.company) }

  /// The manufacturer specific data by company, for a record; nil: there are none.
  var manufacturerData: JSONText? {
    companyData.isEmpty ? nil : .object(companyData.map { (Self.digits(of: $0.company), .text("0x" + $0.data.digits)) })
  }

  /// The service data by the UUID of their service, for a record; nil: there are none.
  var serviceData: JSONText? {
    fields.serviceData.isEmpty
      ? nil : .object(fields.serviceData.map { ("\($0.service)", .text("0x" + $0.data.bytes.digits)) })
  }

  /// Returns the number of a company: "0x004C".
  private static func digits(of company: UInt16) -> String {
    "0x" + [UInt8(company >> 8), UInt8(company & 0xFF)].digits
  }

  /// The company of the latest manufacturer specific data.
  var company: UInt16? { fields.company }

  /// The companies, or the content of an Eddystone frame, which has no manufacturer specific data.
  var companyText: String? {
    guard !companies.isEmpty else { return eddystone?.summary }
    return companies.map { AssignedNumbers.companyName($0) ?? Self.digits(of: $0) }.joined(separator: ", ")
  }

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

  /// Returns an estimate of the distance; nil: the signal strength is not available.
  func distance(_ model: DistanceModel) -> (estimate: DistanceEstimate, basis: Basis)? {
    level.flatMap { model.estimate(level: $0, reference ?? .transmitPower(0)) }
      .map { ($0, reference == nil ? .assumed : .advertised) }
  }

  /// The estimate and its interval as text: "2.0 m (0.6–7.1)", or "~2.0 m (0.6–7.1)" if the power is assumed.
  func distanceText(_ model: DistanceModel) -> String? {
    func text(_ metres: Double) -> String { metres.fixed(metres < 1 ? 2 : metres < 10 ? 1 : 0) }
    return distance(model).map { estimate, basis in
      let interval = "\(text(estimate.interval.lowerBound))–\(text(estimate.interval.upperBound))"
      return (basis == .assumed ? "~" : "") + "\(text(estimate.metres)) m (\(interval))"
    }
  }
}

extension DistanceModel {
  /// The model of a world, as a measurement of the place would give it: the loss of its environment, without a deviation
  /// between products.
  init(_ environment: Environment) {
    self.init(
      lossAtOneMetre: environment.reference + environment.margin, lossDeviation: 0, exponent: environment.exponent)
  }
}

extension AdvertisingFields {
  /// The company of the manufacturer specific data.
  fileprivate var company: UInt16? {
    manufacturerData.map { data in UInt16(data[0]) | UInt16(data[1]) << 8 }
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
    if let companies, companies.isDisjoint(with: device.companies) { return false }
    if let rssi, device.level.map({ $0 < Double(rssi) }) != false { return false }
    return true
  }
}
