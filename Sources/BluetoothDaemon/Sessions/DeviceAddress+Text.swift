import BluetoothWire

extension DeviceAddress {
  /// The bits of an address in the form of `description`, with or without its type; nil: the text has another form.
  static func value(_ text: String) -> UInt64? {
    let type = " (random)"
    let parts = (text.hasSuffix(type) ? text.dropLast(type.count) : text[...]).split(separator: ":")
    guard parts.count == 6, parts.allSatisfy({ $0.utf8.count == 2 }) else { return nil }
    return UInt64(parts.joined(), radix: 16)
  }
}
