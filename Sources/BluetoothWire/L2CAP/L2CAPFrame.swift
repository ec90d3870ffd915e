/// The Logical Link Control and Adaptation Protocol · Vol 3, Part A.
package enum L2CAP {
  /// The octets of a B-frame before its payload · 3.1.
  package static let headerLength = 4
  /// The longest C-frame payload of LE-U before anything else is agreed · 4.
  package static let signallingMTU = 23

  /// One end of a channel · 2.1.
  package struct ChannelID: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// No channel.
    package static let none = ChannelID(rawValue: 0x0000)
    /// The Attribute Protocol.
    package static let attribute = ChannelID(rawValue: 0x0004)
    /// LE signalling.
    package static let signalling = ChannelID(rawValue: 0x0005)
    /// The Security Manager Protocol.
    package static let securityManager = ChannelID(rawValue: 0x0006)

    /// Whether it is one of those that LE credit based channels get · 2.1, table 2.3.
    package var isDynamic: Bool { 0x0040...0x007F ~= rawValue }
  }

  /// A basic frame: what a channel carries in one piece · 3.1.
  package struct Frame: Hashable, Sendable {
    package var channel: ChannelID
    package var payload: ByteSlice

    package init(channel: ChannelID, payload: ByteSlice) {
      self.channel = channel
      self.payload = payload
    }

    /// The frame that `octets` are from the first to the last.
    package init(_ octets: ByteSlice) throws(DecodingError) {
      var reader = ByteReader(octets)
      let length = Int(try reader.uint16())
      channel = ChannelID(rawValue: try reader.uint16())
      payload = try reader.take(length)
      try reader.end()
    }
  }

  /// The length that a frame's header announces for the whole frame, header included. nil: the header is not there yet.
  package static func frameLength(_ octets: ByteSlice) -> Int? {
    var reader = ByteReader(octets)
    guard octets.count >= headerLength, let length = try? reader.uint16() else { return nil }
    return headerLength + Int(length)
  }
}

extension ByteWriter {
  /// Puts the header of a B-frame before the payload that was written; the result is the frame.
  package consuming func finishFrame(on channel: L2CAP.ChannelID) -> ByteSlice {
    let length = UInt16(truncatingIfNeeded: count)
    prepend(channel.rawValue)
    prepend(length)
    return finish()
  }
}
