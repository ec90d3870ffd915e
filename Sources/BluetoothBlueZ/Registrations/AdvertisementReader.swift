import BluetoothDBus
import BluetoothHost
import BluetoothWire

/// Reads the properties of a client's `LEAdvertisement1` · src/advertising.c of BlueZ.
struct AdvertisementReader {
  /// The reason why an advertisement can't be registered.
  struct Invalid: Error {}

  private let values: [String: DBusValue]
  /// The time after which the advertisement ends, in seconds; nil: with its client.
  private(set) var timeout: Int?

  /// The features that `Includes` names.
  static let includes = ["tx-power", "appearance", "local-name"]

  init(_ values: [String: DBusValue]) throws(Invalid) {
    self.values = values
    let seconds = try integer("Timeout", 0...0xFFFF)
    timeout = seconds == 0 ? nil : seconds
  }

  private func integer(_ name: String, _ range: ClosedRange<Int>) throws(Invalid) -> Int? {
    guard let value = values[name] else { return nil }
    guard let number = value.integer, range.contains(number) else { throw Invalid() }
    return number
  }

  private func uuids(_ name: String) throws(Invalid) -> [BluetoothUUID] {
    guard let value = values[name] else { return [] }
    guard let texts = value.texts else { throw Invalid() }
    var uuids: [BluetoothUUID] = []
    for text in texts {
      guard let uuid = BluetoothUUID(text) else { throw Invalid() }
      uuids.append(uuid)
    }
    return uuids
  }

  /// Returns the entries of a dictionary, in the order of their keys.
  private func entries<Key: Comparable>(
    _ name: String, _ key: (DBusValue) -> Key?
  ) throws(Invalid) -> [(key: Key, data: [UInt8])] {
    guard let value = values[name] else { return [] }
    guard let entries = value.entries else { throw Invalid() }
    var result: [(key: Key, data: [UInt8])] = []
    for (item, data) in entries {
      guard let item = key(item), let data = data.octets else { throw Invalid() }
      result.append((item, data))
    }
    return result.sorted { $0.key < $1.key }
  }

  /// Returns the advertising.
  ///
  /// - Parameters:
  ///   - isDiscoverable: true if the adapter is discoverable.
  ///   - name: the name of the adapter.
  func advertising(isDiscoverable: Bool, name: String) throws(Invalid) -> HostAdvertising {
    guard let type = values["Type"]?.string, ["broadcast", "peripheral"].contains(type) else { throw Invalid() }
    let isPeripheral = type == "peripheral"
    let channel = values["SecondaryChannel"]?.string
    let capacity = channel == nil ? AdvertisingData.maximumLegacyLength : 251
    var (data, scan) = (AdvertisingDataBuilder(capacity: capacity), AdvertisingDataBuilder(capacity: capacity))
    var fits = true
    /// Adds to the advertisement or, without room there, to the scan response.
    func add(_ append: (inout AdvertisingDataBuilder) -> Bool) {
      if !append(&data), channel != nil || !append(&scan) { fits = false }
    }
    if isPeripheral {
      let flags: UInt8 = values["Discoverable"]?.bool ?? isDiscoverable ? 0x06 : 0x04
      add { $0.appendFlags(flags) }
    }
    let services = try uuids("ServiceUUIDs")
    if !services.isEmpty { add { $0.appendServices(services) } }
    let solicited = try uuids("SolicitUUIDs")
    if !solicited.isEmpty { add { $0.appendSolicitedServices(solicited) } }
    for (company, octets) in try entries("ManufacturerData", { $0.integer.flatMap { UInt16(exactly: $0) } }) {
      add { $0.appendManufacturerData(company: company, octets) }
    }
    for (text, octets) in try entries("ServiceData", \.string) {
      guard let service = BluetoothUUID(text) else { throw Invalid() }
      add { $0.appendServiceData(service, octets) }
    }
    for (type, octets) in try entries("Data", { $0.integer.flatMap { UInt8(exactly: $0) } }) {
      add { $0.append(ADType(rawValue: type), octets) }
    }
    let included = values["Includes"]?.texts ?? []
    let power = try integer("TxPower", -127...20)
    if included.contains("tx-power") { add { $0.appendTxPowerLevel(Int8(power ?? 0)) } }
    if let appearance = try integer("Appearance", 0...0xFFFF) {
      add { $0.append(.appearance, [UInt8(appearance & 0xFF), UInt8(appearance >> 8)]) }
    }
    if let localName = values["LocalName"]?.string ?? (included.contains("local-name") ? name : nil) {
      // A name that does not fit is cut, in the scan response, which it has for itself in most cases.
      if channel != nil || !scan.appendLocalName(localName), !data.appendLocalName(localName) { fits = false }
    }
    guard fits else { throw Invalid() }
    var advertising = HostAdvertising(data: data.data, scanResponse: scan.data)
    if !isPeripheral {
      advertising.shape.type = scan.octets.isEmpty ? .nonConnectableUndirected : .scannableUndirected
    }
    try setParameters(&advertising.shape, channel: channel, power: power)
    return advertising
  }

  private func setParameters(
    _ shape: inout HostAdvertising.Shape, channel: String?, power: Int?
  ) throws(Invalid) {
    let shortest = try integer("MinInterval", 20...10_485)
    let longest = try integer("MaxInterval", 20...10_485)
    if let shortest, let longest, shortest > longest { throw Invalid() }
    if let interval = longest ?? shortest { shape.interval = UInt16(min(0x4000, interval * 8 / 5)) }
    shape.transmitPower = power.map { Int8($0) }
    guard let channel else { return }
    var extended = HostAdvertising.ExtendedPDUs()
    switch channel {
    case "1M": break
    case "2M": extended.secondaryPHY = .le2M
    case "Coded": (extended.primaryPHY, extended.secondaryPHY) = (.leCoded, .leCoded)
    default: throw Invalid()
    }
    shape.extended = extended
  }
}
