import BluetoothAir
import CoreBluetooth

/// The permissions of attributes for a file, as far as the answers of a peer show them.
enum RecordedPermissions {
  /// Returns the permissions of a value; nil: the properties and the protection tell them.
  static func words(of characteristic: GATTTree.Characteristic) -> JSONText? {
    let (reading, writing) = (characteristic.value.refusal, characteristic.writeProbe?.refusal)
    guard need(reading) != nil || need(writing) != nil else { return nil }
    let properties = characteristic.properties
    let writes: CBCharacteristicProperties = [.write, .writeWithoutResponse, .authenticatedSignedWrites]
    let isEncrypted = characteristic.needsEncryption
    let words =
      (properties.contains(.read) ? words("read", "readable", reading, isEncrypted) : [])
      + (properties.isDisjoint(with: writes) ? [] : words("write", "writeable", writing, isEncrypted))
    return .list(words.map { .text($0) })
  }

  /// Returns the permissions of a descriptor; nil: clients can read it, and are not known to write it.
  static func words(of descriptor: GATTTree.Descriptor) -> JSONText? {
    let reading = words("read", "readable", descriptor.value.refusal, descriptor.needsEncryption)
    let writing: [String] =
      switch descriptor.writeProbe {
      case .taken?: ["writeable"]
      case .refused(let code)? where need(code) != nil: words("write", "writeable", code, false)
      case .refused?, nil: []
      }
    return reading + writing == ["readable"] ? nil : .list((reading + writing).map { .text($0) })
  }

  private static func words(
    _ access: String, _ word: String, _ refusal: CBATTError.Code?, _ isEncrypted: Bool
  ) -> [String] {
    switch need(refusal) {
    case .noAccess?: []
    case .security(let security)?: [word, "\(access)\(security)Required"]
    case nil: isEncrypted ? [word, "\(access)EncryptionRequired"] : [word]
    }
  }

  /// The reason of a refusal.
  private enum Need {
    case noAccess
    /// The word for the security that an access needs.
    case security(String)
  }

  /// Returns what an access needs after a refusal; nil: the error is not about permissions.
  private static func need(_ refusal: CBATTError.Code?) -> Need? {
    switch refusal {
    case .readNotPermitted?, .writeNotPermitted?: .noAccess
    case .insufficientAuthentication?: .security("Authentication")
    case .insufficientAuthorization?: .security("Authorization")
    case .insufficientEncryption?, .insufficientEncryptionKeySize?: .security("Encryption")
    default: nil
    }
  }
}
