import BluetoothAir
import BluetoothLab
import BluetoothProfiles
import BluetoothTypes
import CoreBluetooth
import CoreBluetoothExtras
import Foundation

/// The form in which a described peripheral is published by an app.
enum PublishedForm {
  /// Returns the UUID for Apple's API.
  static func uuid(_ uuid: BluetoothUUID) -> CBUUID { CBUUID(string: "\(uuid)") }

  /// Returns the UUID of a service with all its digits.
  ///
  /// In the short form, apps may not publish the services that belong to the system on Apple's platforms, such as the
  /// Battery service. This system has none of them. On the air, both forms are one.
  static func serviceUUID(_ uuid: BluetoothUUID) -> CBUUID {
    CBUUID(string: "\(BluetoothUUID(high: uuid.high, low: uuid.low))")
  }

  /// Returns a characteristic whose requests `LocalPeripheral.requests` reports.
  static func characteristic(_ description: PeripheralDescription.Characteristic) -> LocalCharacteristic {
    let declared = description.properties.subtracting([.broadcast, .extendedProperties])
    var properties = CBCharacteristicProperties(rawValue: UInt(declared.rawValue))
    var permissions: CBAttributePermissions = []
    if declared.contains(.read) { permissions.insert(.readable) }
    if !declared.isDisjoint(with: [.write, .writeWithoutResponse]) { permissions.insert(.writeable) }
    if description.protection == .encrypted {
      if permissions.contains(.readable) { permissions.insert(.readEncryptionRequired) }
      if permissions.contains(.writeable) { permissions.insert(.writeEncryptionRequired) }
      if declared.contains(.notify) { properties.insert(.notifyEncryptionRequired) }
      if declared.contains(.indicate) { properties.insert(.indicateEncryptionRequired) }
    }
    return LocalCharacteristic(
      uuid(description.uuid), properties, permissions: permissions,
      descriptors: description.descriptors.compactMap { descriptor(of: $0) })
  }

  private static func descriptor(of descriptor: AccessoryDescriptor) -> LocalDescriptor? {
    switch descriptor {
    case .userDescription(let text, _): .userDescription(text)
    case .presentationFormat(let format): .presentationFormat(Data(format.octets))
    case .aggregateFormat, .other: nil
    }
  }

  /// Returns the parameters of a phase of advertising.
  static func parameters(_ advertising: Advertising, _ phase: Advertising.Phase) -> AdvertisingParameters {
    var parameters = AdvertisingParameters(
      advertising.payload.structures, scanResponse: advertising.scanResponse.structures)
    switch advertising.kind {
    case .connectable, .directed: parameters.kind = .connectable
    case .scannable: parameters.kind = .scannable
    case .broadcast: parameters.kind = .broadcast
    }
    parameters.interval = phase.interval
    parameters.txPower = advertising.transmitPower
    return parameters
  }

  /// Returns what an app can't publish, one line for each kind.
  static func notes(about description: PeripheralDescription) -> [String] {
    var notes: [String] = []
    let advertising = description.advertising
    if advertising.kind == .directed { notes.append("an app can't advertise to one device: it advertises to all") }
    if advertising.channels.intersection(.all) != .all, !advertising.channels.isEmpty {
      notes.append("an app can't choose the advertising channels: it uses all")
    }
    let all = description.services.flatMap(\.characteristics)
    func note(_ what: String, _ isLost: (PeripheralDescription.Characteristic) -> Bool) {
      let lost = all.filter(isLost).map { "\($0.uuid)" }
      if !lost.isEmpty { notes.append("an app can't publish \(what): left out at \(lost.joined(separator: ", "))") }
    }
    note("descriptors other than 2901 and 2904") { $0.descriptors.contains { descriptor(of: $0) == nil } }
    note("the property \"broadcast\"") { $0.properties.contains(.broadcast) }
    note("reliable writes") { $0.hasReliableWrite }
    return notes
  }
}
