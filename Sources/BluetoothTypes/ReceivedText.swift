extension String {
  /// Creates the text that a device has sent as UTF-8.
  ///
  /// - The text ends before the first zero: devices send fields of a fixed size, which zeros pad.
  /// - An incomplete character at the end is dropped: devices truncate text to a number of octets.
  /// - Any other invalid UTF-8 becomes U+FFFD, so that the text behind it is not lost.
  package init(received octets: some BidirectionalCollection<UInt8>) {
    let text = octets.prefix { $0 != 0 }
    self.init(decoding: text.dropLast(Self.incompleteLength(of: text)), as: UTF8.self)
  }

  /// Returns the length of the incomplete character at the end of a text in octets; 0: there is none.
  private static func incompleteLength(of text: some BidirectionalCollection<UInt8>) -> Int {
    let end = text.suffix(3)
    guard let lead = end.lastIndex(where: { $0 & 0xC0 != 0x80 }) else { return 0 }
    let width =
      switch end[lead] {
      case 0xC2...0xDF: 2
      case 0xE0...0xEF: 3
      case 0xF0...0xF4: 4
      default: 1
      }
    let length = end[lead...].count
    return length < width ? length : 0
  }
}
