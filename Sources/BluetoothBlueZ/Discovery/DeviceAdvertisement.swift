import BluetoothDBus
import BluetoothWire

/// The contents of an advertisement, or of an advertisement with its scan response, as `Device1` has them
/// · src/eir.c of BlueZ.
struct DeviceAdvertisement: Hashable {
  private(set) var flags: UInt8?
  private(set) var name: String?
  private(set) var isNameComplete = false
  private(set) var services: [BluetoothUUID] = []
  private(set) var txPower: Int8?
  private(set) var appearance: UInt16?
  /// The data of each company, without the company identifier.
  private(set) var manufacturerData: [UInt16: [UInt8]] = [:]
  private(set) var serviceData: [BluetoothUUID: [UInt8]] = [:]
  /// The data of the AD types that no other property has.
  private(set) var otherData: [UInt8: [UInt8]] = [:]

  init(_ octets: [UInt8]) {
    for structure in AdvertisingData(ByteSlice(octets)) { add(structure) }
  }

  private mutating func add(_ structure: AdvertisingData.Structure) {
    let data = structure.data
    if let list = structure.services {
      for service in list where !services.contains(service) { services.append(service) }
      return
    }
    if let (service, data) = structure.serviceData {
      serviceData[service] = data.bytes
      return
    }
    switch structure.type {
    case .flags: if !data.isEmpty { flags = data[0] }
    case .txPowerLevel: if data.count == 1 { txPower = Int8(bitPattern: data[0]) }
    case .completeLocalName: (name, isNameComplete) = (String(received: data), true)
    case .shortenedLocalName: if !isNameComplete { name = String(received: data) }
    case .appearance: if data.count == 2 { appearance = UInt16(data[0]) | UInt16(data[1]) << 8 }
    case .manufacturerData:
      if data.count >= 2 { manufacturerData[UInt16(data[0]) | UInt16(data[1]) << 8] = data.dropFirst(2).bytes }
    default: otherData[structure.type.rawValue] = data.bytes
    }
  }

  var manufacturerValue: DBusValue? {
    guard !manufacturerData.isEmpty else { return nil }
    var entries: [DBusValue: DBusValue] = [:]
    for (company, data) in manufacturerData { entries[.uint16(company)] = .variant(.bytes(data)) }
    return .dictionary(entries, key: "q", value: "v")
  }

  var serviceValue: DBusValue? {
    guard !serviceData.isEmpty else { return nil }
    var entries: [String: DBusValue] = [:]
    for (service, data) in serviceData { entries[service.busText] = .bytes(data) }
    return .properties(entries)
  }

  var otherValue: DBusValue? {
    guard !otherData.isEmpty else { return nil }
    var entries: [DBusValue: DBusValue] = [:]
    for (type, data) in otherData { entries[.byte(type)] = .variant(.bytes(data)) }
    return .dictionary(entries, key: "y", value: "v")
  }
}
