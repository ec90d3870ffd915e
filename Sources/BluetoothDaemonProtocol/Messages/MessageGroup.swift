import BluetoothWire

/// A group of messages. A new message is a row of its group, and a line in `encode(into:)`, which the compiler demands.
protocol MessageGroup: RowGroup {
  /// Writes the type and the fields of the message.
  func encode(into writer: inout MessageWriter)
}

extension MessageGroup {
  @inline(__always) static func begin(_ number: UInt16, _ writer: inout MessageWriter) { writer.begin(number) }
}
