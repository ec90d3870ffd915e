import BluetoothNumbers
import BluetoothTypes
import BluetoothWire

/// Advertising data in words.
enum AdvertisingText {
  /// Returns the name, the services and the companies of advertising data: `"Strap", Heart Rate`.
  static func words(_ data: ByteSlice) -> [String] {
    let fields = AdvertisingFields(data)
    var words: [String] = []
    if let name = fields.localName { words.append(name.debugDescription) }
    for service in fields.services { words.append(SpecificationNames.name(of: service) ?? "\(service)") }
    for entry in fields.serviceData {
      words.append("\(SpecificationNames.name(of: entry.service) ?? "\(entry.service)"): 0x\(entry.data.bytes.digits)")
    }
    for structure in AdvertisingData(data) where structure.type == .manufacturerData && structure.data.count >= 2 {
      let data = structure.data
      guard OverflowArea(manufacturerData: data) == nil else { continue }
      let company = UInt16(data[0]) | UInt16(data[1]) << 8
      words.append(
        "\(AssignedNumbers.companyName(company) ?? "company 0x\(company.hexadecimal)"): "
          + "0x\(data.dropFirst(2).bytes.digits)")
    }
    if let power = fields.txPowerLevel { words.append("TX power \(power) dBm") }
    return words
  }
}
