import BluetoothDBus
import BluetoothHost
import BluetoothTypes
import BluetoothWire

/// The properties of an advertisement that BlueZ sends. BlueZ chooses which of the data are in the scan response.
struct BlueZAdvertisement {
  private(set) var properties: [String: DBusValue]

  /// The advertising of Apple's API.
  init(localName: String?, services: [BluetoothUUID]) {
    // Without Discoverable, the Flags say that the device is not discoverable, and other BlueZ hosts ignore it.
    properties = [
      "Type": .string("peripheral"), "ServiceUUIDs": .strings(services.map(\.longText)), "Discoverable": .bool(true),
    ]
    if let localName { properties["LocalName"] = .string(localName) }
  }

  /// Returns nil for advertising that BlueZ has no properties for: extended and directed PDUs, periodic trains, a choice
  /// of channels or power, limited discoverable mode, and several data of one company or service.
  init?(_ advertising: HostAdvertising) {
    let shape = advertising.shape
    guard advertising.limit == nil, advertising.train == nil, shape.extended == nil, shape.channelMap == 0b111,
      shape.transmitPower == nil
    else { return nil }
    switch shape.type {
    case .connectableScannableUndirected: properties = ["Type": .string("peripheral")]
    case .scannableUndirected, .nonConnectableUndirected: properties = ["Type": .string("broadcast")]
    case .connectableDirectedHighDutyCycle, .connectableDirectedLowDutyCycle: return nil
    }
    if let interval = shape.interval {
      let milliseconds = DBusValue.uint32(UInt32(interval) * 5 / 8)
      (properties["MinInterval"], properties["MaxInterval"]) = (milliseconds, milliseconds)
    }
    guard add(advertising.data), shape.type == .nonConnectableUndirected || add(advertising.scanResponse) else {
      return nil
    }
  }

  /// Adds the structures of a packet. Returns false if there is one that BlueZ can't send.
  private mutating func add(_ packet: ByteSlice) -> Bool {
    let content = AdvertisingData(packet)
    var company: [DBusValue: DBusValue] = properties["ManufacturerData"].flatMap(Self.entries) ?? [:]
    var service: [DBusValue: DBusValue] = properties["ServiceData"].flatMap(Self.entries) ?? [:]
    var others: [DBusValue: DBusValue] = properties["Data"].flatMap(Self.entries) ?? [:]
    for structure in content {
      let octets = structure.data.bytes
      if let services = structure.services {
        append(services.map(\.longText), to: "ServiceUUIDs")
      } else if let services = structure.solicitedServices {
        append(services.map(\.longText), to: "SolicitUUIDs")
      } else if let data = structure.serviceData {
        let value = DBusValue.variant(.bytes(data.data.bytes))
        guard service.updateValue(value, forKey: .string(data.service.longText)) == nil else { return false }
      } else {
        switch structure.type {
        case .flags: properties["Discoverable"] = .bool((octets.first ?? 0) & Self.generalDiscoverable != 0)
        case .completeLocalName, .shortenedLocalName:
          properties["LocalName"] = .string(String(decoding: octets, as: UTF8.self))
        // BlueZ fills in the level itself.
        case .txPowerLevel: append(["tx-power"], to: "Includes")
        case .manufacturerData:
          guard octets.count >= 2 else { return false }
          let number = DBusValue.uint16(UInt16(octets[0]) | UInt16(octets[1]) << 8)
          guard company.updateValue(.variant(.bytes(Array(octets.dropFirst(2)))), forKey: number) == nil else {
            return false
          }
        case .appearance:
          guard octets.count == 2 else { return false }
          properties["Appearance"] = .uint16(UInt16(octets[0]) | UInt16(octets[1]) << 8)
        default:
          guard others.updateValue(.variant(.bytes(octets)), forKey: .byte(structure.type.rawValue)) == nil else {
            return false
          }
        }
      }
    }
    if !company.isEmpty { properties["ManufacturerData"] = .dictionary(company, key: "q", value: "v") }
    if !service.isEmpty { properties["ServiceData"] = .dictionary(service, key: "s", value: "v") }
    if !others.isEmpty { properties["Data"] = .dictionary(others, key: "y", value: "v") }
    return true
  }

  /// The flag LE General Discoverable Mode · CSS, Part A, 1.3.
  private static let generalDiscoverable: UInt8 = 0x02

  private static func entries(_ value: DBusValue) -> [DBusValue: DBusValue]? {
    if case .dictionary(let entries, key: _, value: _) = value { entries } else { nil }
  }

  private mutating func append(_ texts: [String], to name: String) {
    let known = properties[name]?.texts ?? []
    properties[name] = .strings(known + texts.filter { !known.contains($0) })
  }

  /// The interface of the advertisement.
  ///
  /// - Parameter released: called when BlueZ has ended the advertising.
  func interface(released: @escaping @Sendable () -> Void) -> DBusInterface {
    let release = DBusMethod("Release", isNoReply: true) { _, responder in
      responder.reply()
      released()
    }
    return DBusInterface(
      "org.bluez.LEAdvertisement1", methods: [release],
      properties: properties.sorted { $0.key < $1.key }.map { name, value in
        DBusProperty(name, value.signature, emits: .constant, get: { value })
      })
  }
}
