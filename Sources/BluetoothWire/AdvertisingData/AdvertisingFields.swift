/// What the AD structures of an advertiser say, gathered from its advertising packets and scan responses.
///
/// Fields that break their format are left out; the others are kept.
package struct AdvertisingFields: Hashable, Sendable {
  package struct ServiceData: Hashable, Sendable {
    package let service: BluetoothUUID
    package let data: ByteSlice
  }

  /// Flags · CSS, Part A, 1.3.
  package private(set) var flags: UInt8?
  /// The complete name if one was received, else the shortened one. Of octets that are not UTF-8 the valid beginning is
  /// taken: a name is often cut within a character.
  package private(set) var localName: String?
  package private(set) var isLocalNameComplete = false
  /// dBm.
  package private(set) var txPowerLevel: Int8?
  /// Each service once, in the order in which they came.
  package private(set) var services: [BluetoothUUID] = []
  package private(set) var solicitedServices: [BluetoothUUID] = []
  /// One for each service: the last one.
  package private(set) var serviceData: [ServiceData] = []
  /// Company identifier first, as on the air; the last one. An overflow area is not among it.
  package private(set) var manufacturerData: ByteSlice?
  package private(set) var overflowArea: OverflowArea?

  package init() {}

  /// The fields in `octets`, to which they refer.
  package init(_ octets: ByteSlice) { add(octets) }

  /// Adds what `octets` say, for example those of the scan response.
  package mutating func add(_ octets: ByteSlice) {
    for structure in AdvertisingData(octets) { add(structure) }
  }

  /// Leaves what apps are told of everybody.
  package mutating func hideOverflowArea() { overflowArea = nil }

  private mutating func add(_ structure: AdvertisingData.Structure) {
    if let list = structure.services {
      Self.add(list, to: &services)
    } else if let list = structure.solicitedServices {
      Self.add(list, to: &solicitedServices)
    } else if let (service, data) = structure.serviceData {
      serviceData.removeAll { $0.service == service }
      serviceData.append(ServiceData(service: service, data: data))
    } else {
      addSingle(structure)
    }
  }

  private mutating func addSingle(_ structure: AdvertisingData.Structure) {
    let data = structure.data
    switch structure.type {
    case .flags where !data.isEmpty: flags = data[0]
    case .txPowerLevel where data.count == 1: txPowerLevel = Int8(bitPattern: data[0])
    case .completeLocalName:
      localName = data.validUTF8Prefix
      isLocalNameComplete = true
    case .shortenedLocalName where !isLocalNameComplete: localName = data.validUTF8Prefix
    case .manufacturerData where data.count >= 2:
      if let area = OverflowArea(manufacturerData: data) { overflowArea = area } else { manufacturerData = data }
    default: break
    }
  }

  private static func add(_ list: UUIDList, to services: inout [BluetoothUUID]) {
    for service in list where !services.contains(service) { services.append(service) }
  }
}

extension ByteSlice {
  /// The longest beginning that is UTF-8.
  package var validUTF8Prefix: String {
    withUnsafeBytes { octets in
      var text = String.UnicodeScalarView()
      var decoder = UTF8()
      var iterator = octets.makeIterator()
      while case .scalarValue(let scalar) = decoder.decode(&iterator) { text.append(scalar) }
      return String(text)
    }
  }
}

extension String {
  /// The longest beginning, of whole Unicode scalars, that has at most `limit` octets in UTF-8.
  package func utf8Prefix(_ limit: Int) -> ByteSlice {
    guard utf8.count > limit else { return ByteSlice(utf8) }
    var length = 0
    for scalar in unicodeScalars {
      let width = UTF8.width(scalar)
      guard length + width <= limit else { break }
      length += width
    }
    return ByteSlice(utf8.prefix(length))
  }
}
