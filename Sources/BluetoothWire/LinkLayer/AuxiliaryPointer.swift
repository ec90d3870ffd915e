extension LL {
  /// The offset from the start of a packet to the start of the packet that it announces: the 13 bits and the unit in
  /// the AuxPtr and SyncInfo fields · Vol 6, Part B, 2.3.4.5, 2.3.4.6. The announced packet starts at `span` at the
  /// earliest and one `unit` after that at the latest.
  package struct PacketOffset: Hashable, Sendable {
    /// The maximum number of units.
    package static let maximum: UInt16 = 0x1FFF
    /// The smallest offset that is expressed in units of 300 µs.
    package static let firstInLargeUnits = TimeSpan.microseconds(245_700)
    private static let smallUnit = TimeSpan.microseconds(30)
    private static let largeUnit = TimeSpan.microseconds(300)

    /// The number of units, 0 to 8,191. 0 means that there is no packet, or that its offset is too large to be
    /// expressed.
    package let value: UInt16
    /// The Offset Units bit.
    package let isInLargeUnits: Bool

    /// The offset that announces no packet.
    package static let none = PacketOffset(value: 0, isInLargeUnits: false)

    package init(value: UInt16, isInLargeUnits: Bool) {
      self.value = value & Self.maximum
      self.isInLargeUnits = isInLargeUnits
    }

    /// Creates the offset of a packet that starts exactly `span` later; `none` for 2.4576 s or more.
    package init(_ span: TimeSpan) {
      let isInLargeUnits = span >= Self.firstInLargeUnits
      let count = span.nanoseconds / (isInLargeUnits ? Self.largeUnit : Self.smallUnit).nanoseconds
      if count < 0 || count > Int64(Self.maximum) {
        self = .none
      } else {
        self.init(value: UInt16(truncatingIfNeeded: count), isInLargeUnits: isInLargeUnits)
      }
    }

    package var unit: TimeSpan { isInLargeUnits ? Self.largeUnit : Self.smallUnit }
    package var span: TimeSpan { unit * Int64(value) }
  }

  /// The AuxPtr field, which points to the next packet of an advertising event · Vol 6, Part B, 2.3.4.5.
  package struct AuxiliaryPointer: Hashable, Sendable {
    /// The encoded length in octets.
    package static let size = 3
    /// The advertiser's clock accuracy in parts per million for the two values of CA.
    private static let accurate: Int64 = 50
    private static let inaccurate: Int64 = 500

    /// The secondary advertising channel, 0 to 36.
    package let channel: ChannelIndex
    /// CA: true if the advertiser's clock accuracy is 50 ppm or better.
    package let isClockAccurate: Bool
    /// The offset from the start of the packet with this field.
    package let offset: PacketOffset
    package let phy: RadioPHY

    package init(channel: ChannelIndex, isClockAccurate: Bool, offset: PacketOffset, phy: RadioPHY) {
      self.channel = channel
      self.isClockAccurate = isClockAccurate
      self.offset = offset
      self.phy = phy
    }

    /// The advertiser's clock accuracy in parts per million.
    package var partsPerMillion: Int64 { isClockAccurate ? Self.accurate : Self.inaccurate }

    init(from reader: inout ByteReader) throws(DecodingError) {
      let bits = try reader.uint24()
      let number = UInt8(truncatingIfNeeded: bits & 0x3F)
      guard number < 37 else { throw .invalid(field: "Channel Index") }
      channel = ChannelIndex(number)
      isClockAccurate = bits >> 6 & 1 == 1
      offset = PacketOffset(value: UInt16(truncatingIfNeeded: bits >> 8 & 0x1FFF), isInLargeUnits: bits >> 7 & 1 == 1)
      guard let phy = RadioPHY(auxiliary: UInt8(truncatingIfNeeded: bits >> 21)) else {
        throw .invalid(field: "AUX PHY")
      }
      self.phy = phy
    }

    func encode(into writer: inout ByteWriter) {
      let first = UInt32(channel.number) | (isClockAccurate ? 1 << 6 : 0) | (offset.isInLargeUnits ? 1 << 7 : 0)
      writer.append24(first | UInt32(offset.value) << 8 | UInt32(phy.rawValue - 1) << 21)
    }
  }
}

extension RadioPHY {
  /// Decodes the AUX PHY field, which counts from 0 in the order of HCI.
  fileprivate init?(auxiliary: UInt8) { self.init(rawValue: auxiliary + 1) }
}
