import CoreBluetooth

/// A fresh UUID for a service or characteristic of your own, as text and as source code. Make it once, and keep it.
struct NewUUID {
  private let uuid = UUID()

  /// The text that `CBUUID(string:)` takes.
  var text: String { uuid.uuidString }

  /// A constant in Swift.
  func swiftSource(named name: String) -> String { "static let \(name) = CBUUID(string: \"\(text)\")" }

  /// A constant for firmware in C: the 16 octets, the most significant one first.
  func cSource(named name: String) -> String {
    let octets = CBUUID(nsuuid: uuid).data.map { octet in
      let digits = String(octet, radix: 16, uppercase: true)
      return "0x" + (digits.count == 1 ? "0" : "") + digits
    }
    return "#define \(name) " + octets.joined(separator: ", ")
  }
}
