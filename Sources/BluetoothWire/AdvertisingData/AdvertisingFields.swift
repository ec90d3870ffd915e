/// The contents of an advertiser's AD structures, merged from its advertising packets and scan responses.
///
/// Malformed fields are ignored.
package struct AdvertisingFields: Hashable, Sendable {
  package struct ServiceData: Hashable, Sendable {
    package let service: BluetoothUUID
    package let data: ByteSlice
  }

  /// Flags · CSS, Part A, 1.3.
  package private(set) var flags: UInt8?
  /// The complete name if one was received, else the shortened one. Octets from the first invalid UTF-8 sequence on
  /// are dropped, because names are often truncated within a character.
  package private(set) var localName: String?
  package private(set) var isLocalNameComplete = false
  /// The TX Power Level in dBm.
  package private(set) var txPowerLevel: Int8?
  /// Each service once, in the order received.
  package private(set) var services: [BluetoothUUID] = []
  package private(set) var solicitedServices: [BluetoothUUID] = []
  /// One element for each service, with the latest data received.
  package private(set) var serviceData: [ServiceData] = []
  /// The latest manufacturer specific data received, Company Identifier first, as on the air. An overflow area is not
  /// stored here.
  package private(set) var manufacturerData: ByteSlice?
  package private(set) var overflowArea: OverflowArea?

  package init() {}

  /// Decodes `octets`. The fields refer to their storage.
  package init(_ octets: ByteSlice) { add(octets) }

  /// Merges the fields of `octets`, for example of the scan response.
  package mutating func add(_ octets: ByteSlice) {
    for structure in AdvertisingData(octets) { add(structure) }
  }

  /// Removes the overflow area, which is not reported to every app.
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
  /// The longest prefix that is valid UTF-8.
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
  /// Returns the longest prefix of complete Unicode scalars that has at most `limit` octets in UTF-8.
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
