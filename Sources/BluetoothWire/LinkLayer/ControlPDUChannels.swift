extension LL {
  /// The minimum number of channels that the peripheral requires the central to use on some PHYs · Vol 6, Part B,
  /// 2.4.2.24.
  package struct MinimumUsedChannels: Hashable, Sendable {
    package var phys: HCI.PHYs
    /// The minimum number of used channels, 2 to 37.
    package var count: UInt8

    package init(phys: HCI.PHYs, count: UInt8) {
      self.phys = phys
      self.count = count
    }

    package var isValid: Bool { 2...37 ~= count }

    init(from reader: inout ByteReader) throws(DecodingError) {
      phys = HCI.PHYs(rawValue: try reader.uint8())
      count = try reader.uint8()
    }

    func encode(into writer: inout ByteWriter) {
      writer.append(phys.rawValue)
      writer.append(count)
    }
  }

  /// The central's settings for channel status reports of the peripheral · Vol 6, Part B, 2.4.2.39.
  package struct ChannelReporting: Hashable, Sendable {
    /// The unit of `minimumSpacing` and `maximumDelay`.
    package static let unit = TimeSpan.milliseconds(200)

    package var isEnabled: Bool
    /// The minimum time between two reports in units of 200 ms, 5 to 150.
    package var minimumSpacing: UInt8
    /// The maximum time from a change to its report in units of 200 ms, 5 to 150.
    package var maximumDelay: UInt8

    package init(isEnabled: Bool, minimumSpacing: UInt8, maximumDelay: UInt8) {
      self.isEnabled = isEnabled
      self.minimumSpacing = minimumSpacing
      self.maximumDelay = maximumDelay
    }

    package var isValid: Bool { 5...150 ~= minimumSpacing && 5...150 ~= maximumDelay }

    init(from reader: inout ByteReader) throws(DecodingError) {
      isEnabled = try reader.uint8() == 1
      minimumSpacing = try reader.uint8()
      maximumDelay = try reader.uint8()
    }

    func encode(into writer: inout ByteWriter) {
      writer.append(UInt8(isEnabled ? 1 : 0))
      writer.append(minimumSpacing)
      writer.append(maximumDelay)
    }
  }

  /// The peripheral's classification of the 37 data channels, two bits each · Vol 6, Part B, 2.4.2.40.
  package struct ChannelStatus: Hashable, Sendable {
    package enum Quality: UInt8, Hashable, Sendable {
      case unknown = 0
      case good = 1
      case reserved = 2
      case bad = 3
    }

    /// The bits of channels 0 to 31, the first in the lowest bits.
    private var low: UInt64
    /// The bits of channels 32 to 36.
    private var high: UInt16

    /// Creates a status in which every channel is unknown.
    package init() { (low, high) = (0, 0) }

    /// Creates a status in which the channels of `bad` are bad, the other channels of `good` are good, and the rest
    /// are unknown.
    package init(good: ChannelMap, bad: ChannelMap) {
      self.init()
      for channel in UInt8(0)..<37 {
        self[channel] = bad.contains(channel) ? .bad : good.contains(channel) ? .good : .unknown
      }
    }

    /// The classification of a data channel, 0 to 36; other channels are unknown.
    package subscript(_ channel: UInt8) -> Quality {
      get {
        switch channel {
        case 0..<32: Quality(rawValue: UInt8(low >> (2 * UInt64(channel)) & 0b11)) ?? .unknown
        case 32..<37: Quality(rawValue: UInt8(high >> (2 * UInt16(channel - 32)) & 0b11)) ?? .unknown
        default: .unknown
        }
      }
      set {
        switch channel {
        case 0..<32:
          let shift = 2 * UInt64(channel)
          low = low & ~(0b11 << shift) | UInt64(newValue.rawValue) << shift
        case 32..<37:
          let shift = 2 * UInt16(channel - 32)
          high = high & ~(0b11 << shift) | UInt16(newValue.rawValue) << shift
        default: break
        }
      }
    }

    /// Returns the channels with this classification.
    package func channels(_ quality: Quality) -> ChannelMap {
      var bits: UInt64 = 0
      for channel in UInt8(0)..<37 where self[channel] == quality { bits |= 1 << UInt64(channel) }
      return ChannelMap(bits: bits)
    }

    init(from reader: inout ByteReader) throws(DecodingError) {
      low = try reader.uint64()
      high = try reader.uint16() & 0x3FF
    }

    func encode(into writer: inout ByteWriter) {
      writer.append(low)
      writer.append(high)
    }
  }
}

extension LL.SleepClockAccuracy {
  /// Decodes the SCA field in a separate octet, whose upper five bits are reserved · Vol 6, Part B, 2.4.2.28.
  init(octet: UInt8) { self = Self(rawValue: octet & 0b111) ?? .upTo500 }
}
