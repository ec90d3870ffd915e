// Overview
//
// Apps that use a standard profile repeat the same work: find the service, check what is mandatory, subscribe, decode,
// run the procedures of a control point. CoreBluetoothProfiles has this client side for each supported profile.
//
// The idea: a client is a value made from a connected `Peripheral`. Its initializer discovers the service and demands
// the mandatory characteristics; after that, measurements are sequences of typed values (`Measurements`), and a
// procedure is one `async` function with typed errors (`ControlPointClient`).
//
// Callers: apps, and `ble try`. The module calls CoreBluetoothExtras for the procedures and BluetoothProfiles for the
// values: it encodes nothing itself, and knows nothing of servers.
//
// Invariants:
// - A control point runs one procedure at a time, with a time limit. All clients of a characteristic share this rule,
//   because the state belongs to the characteristic (`ControlPointProcedure.swift`).
// - A task that is cancelled ends its procedure: the client unsubscribes, so that the peripheral ends it, too.
// - What a peripheral sends wrongly is an error of that call or element (`ProfileError`), never a trap.
// - A missing optional characteristic is nil, or an error when it is used, and does not hinder the rest.
//
// Where to begin: this file for discovery, `HeartRateClient.swift` as the smallest client, `GlucoseClient.swift` for
// one with a control point; `ControlPointProcedure.swift` and `Measurements.swift` for the common parts.
//
// Specification: the profiles that each client cites, in the client's role.

import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothExtras

/// A service of a peripheral with its characteristics, by their assigned numbers.
struct ProfileService: Sendable {
  let uuid: UInt16
  private let characteristics: [RemoteCharacteristic]

  /// Discovers a service and its characteristics.
  ///
  /// - Throws: `ProfileError.missingService`, beside the errors of every call.
  init(_ uuid: UInt16, of peripheral: Peripheral) async throws {
    let type = CBUUID(assigned: uuid)
    guard let service = try await peripheral.discoverServices([type]).first else {
      throw ProfileError.missingService(uuid)
    }
    try await self.init(uuid, service)
  }

  /// Discovers the characteristics of a service with this assigned number.
  init(_ uuid: UInt16, _ service: RemoteService) async throws {
    self.uuid = uuid
    characteristics = try await service.discoverCharacteristics()
  }

  /// Returns the service; nil if the peripheral does not have it.
  static func optional(_ uuid: UInt16, of peripheral: Peripheral) async throws -> ProfileService? {
    do { return try await ProfileService(uuid, of: peripheral) } catch ProfileError.missingService { return nil }
  }

  /// Returns all characteristics of this type.
  func all(_ uuid: UInt16) -> [RemoteCharacteristic] {
    let type = CBUUID(assigned: uuid)
    return characteristics.filter { $0.uuid == type }
  }

  /// Returns the characteristic with this type of value. Throws `ProfileError.missingCharacteristic` if there is none.
  func require<Value>(_ type: Value.Type = Value.self) throws -> ProfileCharacteristic<Value> {
    guard let characteristic = find(type) else {
      throw ProfileError.missingCharacteristic(Value.uuid, of: uuid)
    }
    return characteristic
  }

  /// Returns the characteristic with this type of value; nil if there is none.
  func find<Value>(_ type: Value.Type = Value.self) -> ProfileCharacteristic<Value>? {
    all(Value.uuid).first.map { ProfileCharacteristic($0) }
  }
}

extension RemoteCharacteristic {
  /// Reads the descriptor with this type of value; nil if there is none.
  ///
  /// - Throws: `ProfileError.malformedValue`, beside the errors of every call.
  func descriptor<Value: CharacteristicValue>(_ type: Value.Type = Value.self) async throws -> Value? {
    let wanted = CBUUID(assigned: Value.uuid)
    guard let descriptor = try await discoverDescriptors().first(where: { $0.uuid == wanted }) else { return nil }
    guard case .data(let octets) = try await descriptor.read() else { return nil }
    return try ProfileCharacteristic<Value>.decode(octets)
  }
}

extension CBUUID {
  /// Creates the UUID with this assigned number.
  convenience init(assigned number: UInt16) {
    self.init(data: Data([UInt8(number >> 8), UInt8(truncatingIfNeeded: number)]))
  }
}

extension Optional {
  /// Returns the characteristic. Throws `ProfileError.missingCharacteristic` if there is none.
  func required<Value>(of service: UInt16) throws -> ProfileCharacteristic<Value>
  where Wrapped == ProfileCharacteristic<Value> {
    guard let self else { throw ProfileError.missingCharacteristic(Value.uuid, of: service) }
    return self
  }
}
