import Foundation
import Testing

@testable import BluetoothWire
@testable import CoreBluetooth

/// Whether `CBUUID(string:)` would take a text.
enum CBUUIDText {
  static func isValid(_ text: String) -> Bool { BluetoothUUID(text: text) != nil }
}

extension ExitTest.Result {
  /// What the process wrote before it ended.
  var reason: String { String(decoding: standardErrorContent, as: UTF8.self) }
}
