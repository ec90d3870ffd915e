import BluetoothWire

/// A private JSON file with the keys of encrypted sessions. It is valid JSON after each session.
///
/// `{"sessions": […]}`; each session is an object of
/// - `time`: the time at which a device had its keys, in nanoseconds on the capture's time line: all packets encrypted
///   with the keys come later;
/// - `accessAddress`: 8 digits;
/// - `central`, `peripheral`: addresses, followed by ` (random)` if not public, as known by the device that was the
///   first to report the session: its own address as on the air, and the peer's identity address if there is one;
/// - `LTK` (32 digits), `SKDm`, `SKDs` (16), `IVm`, `IVs` (8).
///
/// Hexadecimal values are numbers as the Core Specification prints them, most significant octet first; on the air, the
/// octets are in reverse order.
package final class SessionKeyFile {
  private static let end = Array("\n  ]\n}\n".utf8)

  private let file: CaptureFile
  private var isEmpty = true

  /// Creates the file. It replaces an existing file or link at `path`, so that the keys can't be read through another
  /// link.
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
