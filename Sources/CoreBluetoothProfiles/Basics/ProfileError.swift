import BluetoothNumbers
import BluetoothProfiles
import CoreBluetooth

/// An error of a profile's client. Errors of the link and of the attributes are the `CBError` and `CBATTError` of the
/// asynchronous API.
public enum ProfileError: Error, Hashable, Sendable {
  /// The peripheral lacks a service that the profile requires.
  case missingService(UInt16)
  /// The service lacks a characteristic that the profile, or this call, requires.
  case missingCharacteristic(UInt16, of: UInt16)
  /// The peripheral has sent octets that are no value of the characteristic.
  case malformedValue(of: UInt16, ValueError)
  /// The server does not support the command: Control Point Not Supported · Heart Rate Service 1.0, 1.6; Command Not
  /// Supported · Alert Notification Service 1.0, 1.6.
  case commandNotSupported
  /// The server does not permit the value: Out of Range · Health Thermometer Service 1.0, 1.6.
  case outOfRange
  /// The server has ignored a field of the value: Data Field Ignored · Current Time Service 1.1, 1.5.
  case dataFieldIgnored
}

extension ProfileError: CustomStringConvertible {
  /// The error as a sentence.
  public var description: String {
    switch self {
    case .missingService(let uuid): "The peripheral has no service \(Self.name(uuid))."
    case .missingCharacteristic(let uuid, let service):
      "The service \(Self.name(service)) has no characteristic \(Self.name(uuid))."
    case .malformedValue(let uuid, let error):
      switch error {
      case .tooShort: "The value of \(Self.name(uuid)) is too short."
      case .tooLong: "The value of \(Self.name(uuid)) is too long."
      case .outOfRange(let field): "The field \(field) of \(Self.name(uuid)) is out of range."
      }
    case .commandNotSupported: "The peripheral does not support the command."
    case .outOfRange: "The peripheral does not permit the value."
    case .dataFieldIgnored: "The peripheral has ignored a field of the value."
    }
  }

  private static func name(_ uuid: UInt16) -> String {
    AssignedNumbers.name(of: uuid) ?? "0x" + String(uuid, radix: 16, uppercase: true)
  }
}

/// Runs `body`, and replaces the ATT error with this code by a `ProfileError`.
func replacing<Value: Sendable>(
  _ code: Int, with error: ProfileError, _ body: () async throws -> Value
) async throws -> Value {
  do { return try await body() } catch let cause as CBATTError where cause.errorCode == code { throw error }
}
