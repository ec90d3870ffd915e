import BluetoothRadio
import BluetoothWire

/// A packet that comes from no device: what somebody sends who is not one of the world's · Vol 6, Part B, 2.1.
///
/// ```swift
/// // ADV_NONCONN_IND of C0:00:00:00:00:07, a random address, with the name "Hi".
/// let packet = ForeignPacket([0x42, 0x0A, 7, 0, 0, 0, 0, 0xC0, 3, 9, 0x48, 0x69], channel: 0)
/// world.inject(packet, at: .seconds(2))
/// ```
public struct ForeignPacket: Hashable, Sendable {
  /// How its bits are sent · Vol 6, Part B, 2.2.
  public enum PHY: Hashable, Sendable, CaseIterable {
    /// 1 Mbit/s.
    case le1M
    /// 2 Mbit/s.
    case le2M
    /// 500 kbit/s.
    case codedS2
    /// 125 kbit/s.
    case codedS8
  }

  /// The PDU: a header of two octets and the payload, which is at most 255 octets; its CRC is right. The second octet of the
  /// header, the length, becomes that of the payload.
  public var pdu: [UInt8]
  /// Radio channel, 0 to 39: 2402 + 2k MHz. Those of advertising (37, 38, 39) are 0, 12 and 39. What is beyond is held there.
  public var channel: Int
  /// The access address; that of advertising by default · Vol 6, Part B, 2.1.2.
  public var accessAddress: UInt32 = 0x8E89_BED6
  /// What the CRC begins with, 24 bits; that of advertising by default · Vol 6, Part B, 3.1.1.
  public var crcInit: UInt32 = 0x555555
  /// How its bits are sent.
  public var phy = PHY.le1M
  /// dBm.
  public var transmitPower = 0.0
  /// Where it is sent from.
  public var position = Position.origin

  /// A packet on the advertising physical channel, on LE 1M, with 0 dBm.
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
  /// Has a packet sent that comes from no device, whatever else is on the air.
  ///
  /// It stands in `faultStrikes`, and in captures with a comment that begins with `fault: injected`.
  ///
  /// - Parameter time: the world's radio time; nil, or one that is over: now.
  public func inject(_ packet: ForeignPacket, at time: Duration? = nil) {
    let (faults, injection) = (faults, packet.injection)
    mailbox.perform { engine in
      let instant = time.map { max(engine.now, Instant.zero + TimeSpan($0)) } ?? engine.now
      engine.schedule(at: instant) { engine in faults.inject(injection, in: engine) }
    }
  }
}

extension FaultInjector {
  fileprivate func inject(_ injection: Injection, in engine: WorldEngine) {
    note(.air, .none, "sent by nobody: \(AirContent(injection.packet).description)", at: engine.now)
    engine.inject(injection, at: engine.now)
  }
}
