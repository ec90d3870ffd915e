/// The Logical Link Control and Adaptation Protocol · Vol 3, Part A.
package enum L2CAP {
  /// The length of the header of a B-frame in octets · 3.1.
  package static let headerLength = 4
  /// The default MTU of the LE-U signalling channel in octets · 4.
  package static let signallingMTU = 23

  /// A channel identifier, which names one endpoint of a channel · 2.1.
  package struct ChannelID: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The null identifier, which names no channel.
    package static let none = ChannelID(rawValue: 0x0000)
    /// The channel of the Attribute Protocol.
    package static let attribute = ChannelID(rawValue: 0x0004)
    /// The LE signalling channel.
    package static let signalling = ChannelID(rawValue: 0x0005)
    /// The channel of the Security Manager Protocol.
    package static let securityManager = ChannelID(rawValue: 0x0006)

    /// True if the identifier is in the range that is dynamically allocated to LE credit based channels · 2.1, table
    /// 2.3.
    package var isDynamic: Bool { 0x0040...0x007F ~= rawValue }
  }

  /// A basic frame (B-frame), the unit of data that a channel carries · 3.1.
  package struct Frame: Hashable, Sendable {
    package var channel: ChannelID
    package var payload: ByteSlice

    package init(channel: ChannelID, payload: ByteSlice) {
      self.channel = channel
      self.payload = payload
    }

    /// Decodes `octets` as exactly one frame. Throws `truncated` or `excess` if the length field does not match.
    package init(_ octets: ByteSlice) throws(DecodingError) {
      var reader = ByteReader(octets)
      let length = Int(try reader.uint16())
      channel = ChannelID(rawValue: try reader.uint16())
      payload = try reader.take(length)
      try reader.end()
    }
  }

  /// Returns the length of the whole frame in octets, header included, as its header states it; nil until `octets`
  /// holds a complete header.
  package static func frameLength(_ octets: ByteSlice) -> Int? {
    var reader = ByteReader(octets)
    guard octets.count >= headerLength, let length = try? reader.uint16() else { return nil }
    return headerLength + Int(length)
  }
}

extension ByteWriter {
  /// Prepends the header of a B-frame to the payload that was written, and returns the frame.
  package consuming func finishFrame(on channel: L2CAP.ChannelID) -> ByteSlice {
    let length = UInt16(truncatingIfNeeded: count)
    prepend(channel.rawValue)
    prepend(length)
    return finish()
  }
}
