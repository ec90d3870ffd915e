import Foundation
import Testing

@testable import BluetoothWire
@testable import CoreBluetooth

/// The check whether `CBUUID(string:)` accepts a text.
enum CBUUIDText {
  static func isValid(_ text: String) -> Bool { BluetoothUUID(text) != nil }
}

extension ExitTest.Result {
  /// The text that the process wrote before it ended.
  var reason: String { String(decoding: standardErrorContent, as: UTF8.self) }
}
