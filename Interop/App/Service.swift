import CoreBluetooth

/// The service that all servers of the suite have; `support/gatt_service.py` defines the same one for Bumble.
///
/// A value written to `control` returns as a notification of `events` and an indication of `changes`.
enum InteropService {
  static let uuid = characteristic(0)
  static let fixed = characteristic(1)
  static let control = characteristic(2)
  static let command = characteristic(3)
  static let long = characteristic(4)
  static let events = characteristic(5)
  static let changes = characteristic(6)
  static let protected = characteristic(7)
  /// A service that a peripheral adds and removes later.
  static let extra = characteristic(0x100)

  static let fixedValue = Data("fixed".utf8)
  static let description = "What never changes"
  static let protectedValue = Data("for bonded eyes".utf8)
  /// A value of the maximum length whose octets do not repeat with period 256.
  static let longValue = Data((0..<512).map { UInt8(truncatingIfNeeded: 17 * $0 + $0 / 256) })

  static func name(of uuid: CBUUID) -> String {
    let names = [
      fixed: "fixed", control: "control", command: "command", long: "long", events: "events", changes: "changes",
      protected: "protected",
    ]
    return names[uuid] ?? uuid.uuidString
  }

  private static func characteristic(_ number: Int) -> CBUUID {
    CBUUID(string: String(format: "7A1E%04X-5C6B-4E1D-9B0A-2F0D6C3B1A90", number))
  }
}

/// Prints one fact per line, without buffering.
func say(_ fact: String) {
  FileHandle.standardOutput.write(Data((fact + "\n").utf8))
}

extension Data {
  /// The octets in hexadecimal, two digits each.
  var hex: String { map { String(format: "%02x", $0) }.joined() }
}
