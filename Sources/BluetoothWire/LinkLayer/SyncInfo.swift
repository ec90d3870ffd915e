extension LL {
  /// The SyncInfo field, which locates the packets of a periodic advertising train. It occurs in AUX_ADV_IND and in
  /// LL_PERIODIC_SYNC_IND · Vol 6, Part B, 2.3.4.6.
  package struct SyncInfo: Hashable, Sendable {
    /// The encoded length in octets.
    package static let size = 18
    /// The time that Offset Adjust adds.
    private static let adjustment = TimeSpan.microseconds(2_457_600)
    /// The exclusive upper bound of the offsets that the field can express: 4.9152 s.
    package static let reach = adjustment * 2
    /// The unit of Interval.
    package static let intervalUnit = TimeSpan.microseconds(1_250)

    /// Offset Base and Offset Units.
    package var offset: PacketOffset
    /// Offset Adjust: true if the packet is 2.4576 s later than `offset`.
    package var isAdjusted: Bool
    /// Units of 1.25 ms, 6 to 65,535.
    package var interval: UInt16
    package var channelMap: ChannelMap
    /// The advertiser's sleep clock accuracy.
    package var sleepClockAccuracy: SleepClockAccuracy
    package var accessAddress: UInt32
    /// The initial value of the CRC, 24 bits.
    package var crcInit: UInt32
    /// paEventCounter of the AUX_SYNC_IND to which the offset points.
    package var eventCounter: UInt16

    package init(
      offset: PacketOffset, isAdjusted: Bool, interval: UInt16, channelMap: ChannelMap,
      sleepClockAccuracy: SleepClockAccuracy, accessAddress: UInt32, crcInit: UInt32, eventCounter: UInt16
    ) {
      self.offset = offset
      self.isAdjusted = isAdjusted
      self.interval = interval
      self.channelMap = channelMap
      self.sleepClockAccuracy = sleepClockAccuracy
      self.accessAddress = accessAddress
      self.crcInit = crcInit & 0xFF_FFFF
      self.eventCounter = eventCounter
    }

    /// The minimum time to the AUX_SYNC_IND, which starts at most one unit of `offset` later. Setting a value of
    /// `reach` or more sets the offset 0, which announces no packet.
    package var span: TimeSpan {
      get { isAdjusted ? offset.span + Self.adjustment : offset.span }
      set {
        isAdjusted = newValue >= Self.adjustment && newValue < Self.reach
        // The remainder after the adjustment is always in large units, even if it is small.
        offset =
          isAdjusted
          ? PacketOffset(newValue - Self.adjustment, isInLargeUnits: true) : PacketOffset(newValue)
      }
    }

    /// True if a scanner can synchronize to the train · 2.3.4.6, 4.4.3.4.
    package var isValid: Bool {
      interval >= 6 && channelMap.isValid && LL.isValidAccessAddress(accessAddress)
        && (offset.value > 0 || isAdjusted)
    }

    init(from reader: inout ByteReader) throws(DecodingError) {
      let first = try reader.uint16()
      offset = PacketOffset(value: first & PacketOffset.maximum, isInLargeUnits: first >> 13 & 1 == 1)
      isAdjusted = first >> 14 & 1 == 1
      interval = try reader.uint16()
      let low = try reader.uint32()
      let high = try reader.uint8()
      channelMap = ChannelMap(bits: UInt64(low) | UInt64(high & 0x1F) << 32)
      sleepClockAccuracy = SleepClockAccuracy(rawValue: high >> 5) ?? .upTo500
      accessAddress = try reader.uint32()
      crcInit = try reader.uint24()
      eventCounter = try reader.uint16()
    }

    func encode(into writer: inout ByteWriter) {
      writer.append(offset.value | (offset.isInLargeUnits ? 1 << 13 : 0) | (isAdjusted ? 1 << 14 : 0))
      writer.append(interval)
      writer.append(UInt32(truncatingIfNeeded: channelMap.bits))
      writer.append(UInt8(truncatingIfNeeded: channelMap.bits >> 32) | sleepClockAccuracy.rawValue << 5)
      writer.append(accessAddress)
      writer.append24(crcInit)
      writer.append(eventCounter)
    }
  }
}

extension LL.PacketOffset {
  fileprivate init(_ span: TimeSpan, isInLargeUnits: Bool) {
    let unit = LL.PacketOffset(value: 0, isInLargeUnits: isInLargeUnits).unit
    let count = span.nanoseconds / unit.nanoseconds
    self.init(
      value: 0...Int64(Self.maximum) ~= count ? UInt16(truncatingIfNeeded: count) : 0, isInLargeUnits: isInLargeUnits)
  }
}
