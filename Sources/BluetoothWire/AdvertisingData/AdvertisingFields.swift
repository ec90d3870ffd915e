// Design: fields of advertising data
//
// An AD structure has one `AdvertisingData.Field`, or none; `AdvertisingFields` collects the fields that apps get. Both
// decode in place.

/// The contents of an advertiser's AD structures, of one packet or merged from several packets.
///
/// Malformed fields are ignored.
package struct AdvertisingFields: Hashable, Sendable {
  package struct ServiceData: Hashable, Sendable {
    package let service: BluetoothUUID
    package fileprivate(set) var data: ByteSlice
  }

  /// Flags · CSS, Part A, 1.3.
  package private(set) var flags: UInt8?
  /// The complete name if one was received, else the shortened one.
  package private(set) var localName: String?
  package private(set) var isLocalNameComplete = false
  /// The TX Power Level in dBm.
  package private(set) var txPowerLevel: Int8?
  /// Each service once, in the order received.
  package private(set) var services: [BluetoothUUID] = []
  package private(set) var solicitedServices: [BluetoothUUID] = []
  /// One element for each service, with the data of the last packet that has data of the service.
  package private(set) var serviceData: [ServiceData] = []
  /// The manufacturer specific data of the last packet that has some, Company Identifier first, as on the air. An
  /// overflow area is not stored here.
  package private(set) var manufacturerData: ByteSlice?
  package private(set) var overflowArea: OverflowArea?

  package init() {}

  /// Decodes the octets of one packet. The fields refer to their storage.
  ///
  /// A packet may have several structures with manufacturer specific data, or with data of one service. Their data are
  /// joined, because users of the fields expect one value: the later data follow without the Company Identifier, unless
  /// it is another one, and without the UUID · CSS, Part A, 1.4, 1.11.
  package init(_ octets: ByteSlice) {
    for structure in AdvertisingData(octets) { add(structure) }
  }

  /// Merges the fields of another packet of the advertiser. Its values replace those of earlier packets.
  package mutating func merge(_ packet: AdvertisingFields) {
    flags = packet.flags ?? flags
    if let name = packet.localName, packet.isLocalNameComplete || !isLocalNameComplete {
      (localName, isLocalNameComplete) = (name, packet.isLocalNameComplete)
    }
    txPowerLevel = packet.txPowerLevel ?? txPowerLevel
    Self.add(packet.services, to: &services)
    Self.add(packet.solicitedServices, to: &solicitedServices)
    for element in packet.serviceData {
      if let index = serviceData.firstIndex(where: { $0.service == element.service }) {
        serviceData[index] = element
      } else {
        serviceData.append(element)
      }
    }
    manufacturerData = packet.manufacturerData ?? manufacturerData
    overflowArea = packet.overflowArea ?? overflowArea
  }

  /// Removes the overflow area, which is not reported to every app.
  package mutating func hideOverflowArea() { overflowArea = nil }

  private mutating func add(_ structure: AdvertisingData.Structure) {
    if let list = structure.services {
      Self.add(list, to: &services)
    } else if let list = structure.solicitedServices {
      Self.add(list, to: &solicitedServices)
    } else if let (service, data) = structure.serviceData {
      if let index = serviceData.firstIndex(where: { $0.service == service }) {
        serviceData[index].data = ByteSlice(serviceData[index].data.bytes + data.bytes)
      } else {
        serviceData.append(ServiceData(service: service, data: data))
      }
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
      localName = String(received: data)
      isLocalNameComplete = true
    case .shortenedLocalName where !isLocalNameComplete: localName = String(received: data)
    case .manufacturerData where data.count >= 2:
      if let area = OverflowArea(manufacturerData: data) {
        overflowArea = area
      } else if let first = manufacturerData {
        let isOfSameCompany = data.prefix(2) == first.prefix(2)
        manufacturerData = ByteSlice(first.bytes + (isOfSameCompany ? data.dropFirst(2) : data).bytes)
      } else {
        manufacturerData = data
      }
    default: break
    }
  }

  private static func add(_ list: some Sequence<BluetoothUUID>, to services: inout [BluetoothUUID]) {
    for service in list where !services.contains(service) { services.append(service) }
  }
}

extension String {
  /// Creates the text that a device has sent as UTF-8, as from the octets.
  package init(received octets: ByteSlice) { self = octets.withUnsafeBytes { String(received: $0) } }

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
