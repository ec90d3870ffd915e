// Overview
//
// An accessory that was written for the lab should also run on a real radio. AccessoryPlayer plays an `Accessory` of
// BluetoothLab as an app: it publishes the services with CoreBluetoothExtras' `LocalPeripheral`, on any adapter.
//
// The idea: the accessory is a value that gets events and gives effects. In the lab a host carries them
// (`HostedAccessory`); here the API of an app does. What a device decides in a world (name, addresses, channels), the
// system decides here.
//
// Callers: apps, `ble serve` and `ble replay`. The module calls BluetoothLab for the accessories, and
// CoreBluetoothExtras for everything on the air. It knows no controller, and no accessory in particular.
//
// Invariants:
// - The accessory is changed under one lock, and its effects are performed one after the other, in the order in which
//   it has caused them (`Output`).
// - Time is that of the adapter: a device of a world plays in virtual time (`PlayedAccessory+Time.swift`).
// - What an app can't do has no effect; the comment of `PlayedAccessory` lists it.
//
// Where to begin: `PlayedAccessory.swift`; this file for services, `PlayedAccessory+Advertising.swift` for advertising.
//
// Specification: as the calls of LocalPeripheral.

import BluetoothHost
import BluetoothLab
import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothExtras
import Foundation

extension AttributePermissions {
  /// The permissions that an app can choose.
  package static let published: AttributePermissions = [
    .readable, .writeable, .readEncryptionRequired, .writeEncryptionRequired,
  ]
}

/// The form in which characteristics and advertising of `BluetoothLab` are published by an app.
package enum PublishedForm {
  /// The handles of the GAP and GATT services, which an app can't move.
  package static var systemHandles: ClosedRange<UInt16> { GATTDatabase.systemHandles }

  /// Returns the UUID for Apple's API.
  package static func uuid(_ uuid: BluetoothUUID) -> CBUUID { CBUUID(string: "\(uuid)") }

  /// Returns the UUID of a service with all its digits.
  ///
  /// In the short form, apps may not publish the services that belong to the system on Apple's platforms, such as the
  /// Battery service. This system has none of them. On the air, both forms are one.
  package static func serviceUUID(_ uuid: BluetoothUUID) -> CBUUID {
    CBUUID(string: "\(BluetoothUUID(high: uuid.high, low: uuid.low))")
  }

  /// Returns a characteristic whose requests `LocalPeripheral.requests` reports.
  package static func characteristic(
    _ uuid: BluetoothUUID, _ properties: CharacteristicProperties, _ protection: CharacteristicProtection,
    _ descriptors: [AccessoryDescriptor], permissions chosen: AttributePermissions? = nil, handle: UInt16? = nil
  ) -> LocalCharacteristic {
    let declared = properties.subtracting([.broadcast, .extendedProperties])
    var properties = CBCharacteristicProperties(rawValue: UInt(declared.rawValue))
    var permissions: CBAttributePermissions = []
    if declared.contains(.read) { permissions.insert(.readable) }
    if !declared.isDisjoint(with: [.write, .writeWithoutResponse, .authenticatedSignedWrites]) {
      permissions.insert(.writeable)
    }
    if protection == .encrypted {
      if permissions.contains(.readable) { permissions.insert(.readEncryptionRequired) }
      if permissions.contains(.writeable) { permissions.insert(.writeEncryptionRequired) }
      if declared.contains(.notify) { properties.insert(.notifyEncryptionRequired) }
      if declared.contains(.indicate) { properties.insert(.indicateEncryptionRequired) }
    }
    // Apple's permissions are the first four.
    if let chosen { permissions = CBAttributePermissions(rawValue: UInt(chosen.intersection(.published).rawValue)) }
    return LocalCharacteristic(
      self.uuid(uuid), properties, permissions: permissions, descriptors: descriptors.compactMap { descriptor(of: $0) },
      handle: handle)
  }

  /// Returns the published descriptor; nil: an app can't publish it.
  package static func descriptor(of descriptor: AccessoryDescriptor) -> LocalDescriptor? {
    switch descriptor {
    case .userDescription(let text, _): .userDescription(text)
    case .presentationFormat(let format): .presentationFormat(Data(format.octets))
    case .aggregateFormat: nil
    case .other(let uuid, let octets, _, let handle): .other(self.uuid(uuid), Data(octets), handle: handle)
    }
  }

  /// Returns the parameters of a phase of advertising.
  package static func parameters(_ advertising: Advertising, _ phase: Advertising.Phase) -> AdvertisingParameters {
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
}
