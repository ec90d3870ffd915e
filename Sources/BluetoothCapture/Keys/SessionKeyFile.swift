import BluetoothWire

/// A JSON file with the keys of encrypted sessions, for its owner's eyes. It is whole JSON after each session.
///
/// `{"sessions": […]}`; each session is an object of
/// - `time`: when a device had its keys, in nanoseconds on the capture's time line: what is encrypted with them comes later;
/// - `accessAddress`: 8 digits;
/// - `central`, `peripheral`: addresses, with ` (random)` behind those that are not public, as the device knows them that was
///   the first to tell: its own as on the air, the peer's identity address where it has one;
/// - `LTK` (32 digits), `SKDm`, `SKDs` (16), `IVm`, `IVs` (8).
///
/// Everything in hexadecimal is a number as the Core Specification prints it, its most significant octet first: on the air
/// the octets are the other way round.
package final class SessionKeyFile {
  private static let end = Array("\n  ]\n}\n".utf8)

  private let file: CaptureFile
  private var isEmpty = true

  /// Makes the file. It takes the place of one with that name, or of a link, so that no other name leads to the keys.
  package init(path: String) throws(CaptureFile.Failure) {
    file = try CaptureFile(path: path, isPrivate: true, isNew: true)
    try file.append(Array("{\n  \"sessions\": [".utf8) + Self.end)
  }

  package func append(_ session: LL.SessionRecord, at time: Instant) throws(CaptureFile.Failure) {
    let text = (isEmpty ? "\n" : ",\n") + Self.text(session, at: time)
    try file.append(Array(text.utf8) + Self.end, over: Self.end.count)
    isEmpty = false
  }

  private static func text(_ session: LL.SessionRecord, at time: Instant) -> String {
    let keys = session.keys
    return """
          {
            "time": \(time.nanoseconds),
            "accessAddress": "\(session.accessAddress.hexadecimal)",
            "central": "\(session.central)",
            "peripheral": "\(session.peripheral)",
            "LTK": "\(keys.longTermKey.value.hexadecimal)",
            "SKDm": "\(keys.central.diversifier.hexadecimal)",
            "SKDs": "\(keys.peripheral.diversifier.hexadecimal)",
            "IVm": "\(keys.central.initializationVector.hexadecimal)",
            "IVs": "\(keys.peripheral.initializationVector.hexadecimal)"
          }
      """
  }
}
