extension LL {
  /// How far the beginning of a packet is from that of the packet that announces it, in the 13 bits and the unit of the
  /// AuxPtr and SyncInfo fields · Vol 6, Part B, 2.3.4.5, 2.3.4.6. The packet begins not before `span` and not later than one
  /// `unit` after it.
  package struct PacketOffset: Hashable, Sendable {
    /// The greatest number of units.
    package static let maximum: UInt16 = 0x1FFF
    /// From here on offsets are given in units of 300 µs.
    package static let firstInLargeUnits = TimeSpan.microseconds(245_700)
    private static let smallUnit = TimeSpan.microseconds(30)
    private static let largeUnit = TimeSpan.microseconds(300)

    /// 0 to 8,191; 0: there is no packet, or it is too far away to be told.
    package let value: UInt16
    /// Offset Units.
    package let isInLargeUnits: Bool

    /// No packet.
    package static let none = PacketOffset(value: 0, isInLargeUnits: false)

    package init(value: UInt16, isInLargeUnits: Bool) {
      self.value = value & Self.maximum
      self.isInLargeUnits = isInLargeUnits
    }

    /// The offset of a packet that begins exactly `span` later; `none` when that is more than 2.4576 s.
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

  /// AuxPtr: where the next packet of an advertising event is · Vol 6, Part B, 2.3.4.5.
  package struct AuxiliaryPointer: Hashable, Sendable {
    /// How many octets it takes.
    package static let size = 3
    /// What CA says of the advertiser's clock, parts per million.
    private static let accurate: Int64 = 50
    private static let inaccurate: Int64 = 500

    /// A secondary advertising channel, 0 to 36.
    package let channel: ChannelIndex
    /// CA: the advertiser's clock is no more than 50 ppm wrong.
    package let isClockAccurate: Bool
    /// From the beginning of the packet with this field.
    package let offset: PacketOffset
    package let phy: PHY

    package init(channel: ChannelIndex, isClockAccurate: Bool, offset: PacketOffset, phy: PHY) {
      self.channel = channel
      self.isClockAccurate = isClockAccurate
      self.offset = offset
      self.phy = phy
    }

    /// How wrong the advertiser's clock may be, parts per million.
    package var partsPerMillion: Int64 { isClockAccurate ? Self.accurate : Self.inaccurate }

    init(from reader: inout ByteReader) throws(DecodingError) {
      let bits = try reader.uint24()
      let number = UInt8(truncatingIfNeeded: bits & 0x3F)
      guard number < 37 else { throw .invalid(field: "Channel Index") }
      channel = ChannelIndex(number)
      isClockAccurate = bits >> 6 & 1 == 1
      offset = PacketOffset(value: UInt16(truncatingIfNeeded: bits >> 8 & 0x1FFF), isInLargeUnits: bits >> 7 & 1 == 1)
      guard let phy = PHY(auxiliary: UInt8(truncatingIfNeeded: bits >> 21)) else { throw .invalid(field: "AUX PHY") }
      self.phy = phy
    }

    func encode(into writer: inout ByteWriter) {
      let first = UInt32(channel.number) | (isClockAccurate ? 1 << 6 : 0) | (offset.isInLargeUnits ? 1 << 7 : 0)
      writer.append24(first | UInt32(offset.value) << 8 | UInt32(phy.rawValue - 1) << 21)
    }
  }
}

extension PHY {
  /// AUX PHY counts from 0 in the order of HCI.
  fileprivate init?(auxiliary: UInt8) { self.init(rawValue: auxiliary + 1) }
}
