import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothExtras

/// A characteristic of a connected peripheral whose values have this type.
///
/// ```swift
/// let level = ProfileCharacteristic<BatteryLevel>(characteristic)
/// print(try await level.read())
/// ```
public struct ProfileCharacteristic<Value: CharacteristicValue>: Hashable, Sendable {
  /// The characteristic of the asynchronous API.
  public let characteristic: RemoteCharacteristic

  /// Creates a characteristic whose values are decoded as `Value`. The UUID of `characteristic` is not checked.
  public init(_ characteristic: RemoteCharacteristic) { self.characteristic = characteristic }

  /// Reads the value.
  ///
  /// - Throws: `ProfileError.malformedValue` if the octets are no value of the type.
  public func read(within limit: TimeLimit? = nil) async throws -> Value {
    try Self.decode(await characteristic.read(within: limit))
  }

  /// Writes the value, and waits for the response of the peripheral.
  public func write(_ value: Value, within limit: TimeLimit? = nil) async throws {
    try await characteristic.write(Data(value.octets), within: limit)
  }

  /// Writes the value without response if the characteristic permits it, else with response.
  public func send(_ value: Value, within limit: TimeLimit? = nil) async throws {
    guard characteristic.properties.contains(.writeWithoutResponse) else {
      return try await write(value, within: limit)
    }
    try await characteristic.writeWithoutResponse(Data(value.octets), within: limit)
  }

  /// The values that the peripheral notifies or indicates.
  public var measurements: Measurements<Value> { Measurements(characteristic) }

  static func decode(_ octets: Data) throws(ProfileError) -> Value {
    do throws(ValueError) { return try Value(octets) } catch { throw .malformedValue(of: Value.uuid, error) }
  }
}
