import BluetoothRadio
import BluetoothWire

/// A packet to inject into a world from a transmitter that is not one of its devices · Vol 6, Part B, 2.1.
///
/// ```swift
/// // ADV_NONCONN_IND of C0:00:00:00:00:07, a random address, with the name "Hi".
/// let packet = InjectedPacket([0x42, 0x0A, 7, 0, 0, 0, 0, 0xC0, 3, 9, 0x48, 0x69], channel: 0)
/// world.inject(packet, at: .seconds(2))
/// ```
public struct InjectedPacket: Hashable, Sendable {
  /// The PHY and its coding · Vol 6, Part B, 2.2.
  public enum PHY: Hashable, Sendable, CaseIterable {
    /// LE 1M: 1 Mbit/s.
    case le1M
    /// LE 2M: 2 Mbit/s.
    case le2M
    /// LE Coded, S = 2: 500 kbit/s.
    case codedS2
    /// LE Coded, S = 8: 125 kbit/s.
    case codedS8
  }

  /// The PDU: a header of two octets and a payload of at most 255 octets. The CRC is valid. The second octet of the
  /// header is replaced by the payload's length.
  public var pdu: [UInt8]
  /// The radio channel, 0 to 39, at 2402 + 2k MHz; other values are clamped. The advertising channels with index 37,
  /// 38 and 39 are the radio channels 0, 12 and 39.
  public var channel: Int
  /// The access address; by default that of the advertising physical channels · Vol 6, Part B, 2.1.2.
  public var accessAddress: UInt32 = 0x8E89_BED6
  /// The 24-bit initial value of the CRC; by default that of advertising · Vol 6, Part B, 3.1.1.
  public var crcInit: UInt32 = 0x555555
  /// The PHY and its coding.
  public var phy = PHY.le1M
  /// The transmit power in dBm.
  public var transmitPower = 0.0
  /// The position of the transmitter.
  public var position = Position.origin

  /// Creates a packet with the access address of advertising, on LE 1M, sent with 0 dBm.
  public init(_ pdu: [UInt8], channel: Int) {
    self.pdu = pdu
    self.channel = channel
  }

  var injection: Injection {
    let header = pdu.count >= 1 ? UInt16(pdu[0]) : 0
    let payload = ByteSlice(pdu.dropFirst(2).prefix(255))
    let modulation: Modulation =
      switch phy {
      case .le1M: .le1M
      case .le2M: .le2M
      case .codedS2: .codedS2
      case .codedS8: .codedS8
      }
    return Injection(
      AirPacket(
        accessAddress: accessAddress, crcInit: crcInit & 0xFF_FFFF, header: header | UInt16(payload.count) << 8,
        payload: payload),
      on: RadioChannel(UInt8(min(max(channel, 0), 39))), modulation: modulation,
      power: Decibel(rounding: transmitPower), from: position.grid)
  }
}

extension World {
  /// Transmits a packet that comes from no device, even if it collides with other transmissions.
  ///
  /// The packet appears in `faultEvents`, and in captures with a comment that begins with `fault: injected`.
  ///
  /// - Parameters:
  ///   - packet: the packet, its channel and its transmitter.
  ///   - time: the world's radio time; nil, or a time in the past, means now.
  public func inject(_ packet: InjectedPacket, at time: Duration? = nil) {
    let (faults, injection) = (faults, packet.injection)
    requestQueue.perform { engine in
      let instant = time.map { max(engine.now, Instant.zero + TimeSpan($0)) } ?? engine.now
      engine.schedule(at: instant) { engine in faults.inject(injection, in: engine) }
    }
  }
}

extension FaultInjector {
  fileprivate func inject(_ injection: Injection, in engine: WorldEngine) {
    note(.air, .none, "transmitted by no device: \(AirContent(injection.packet).description)", at: engine.now)
    engine.inject(injection, at: engine.now)
  }
}
