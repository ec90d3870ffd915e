import Foundation

/// A list of faults to inject into a world, a link or a device.
///
/// A plan is created in Swift or read from JSON, which has one flat object for each fault:
///
/// ```json
/// { "faults": [
///   { "layer": "air", "fault": "lose", "attribute": "0x1B", "from": "strap", "number": 3 },
///   { "layer": "hci", "fault": "delay", "by": 0.02, "event": "0x0E", "device": "phone", "percent": 10 },
///   { "layer": "device", "fault": "mute", "device": "strap", "at": 5, "for": 1.5 }
/// ] }
/// ```
///
/// The world's seed determines all randomness: the same seed gives the same sequence of events.
public struct FaultPlan: Hashable, Sendable, Codable {
  /// The faults in order of priority: the first one that affects a packet decides its outcome.
  public var faults: [Fault]

  /// Creates a plan with these faults.
  public init(_ faults: [Fault] = []) { self.faults = faults }

  /// Creates a plan from JSON.
  ///
  /// - Throws: `DecodingError` with the coding path and the reason. Keys that a fault does not have are rejected, so
  ///   that a misspelt key is not mistaken for an omitted one.
  public init(json: String) throws {
    self = try JSONDecoder().decode(FaultPlan.self, from: Data(json.utf8))
  }

  /// The plan as JSON with sorted keys: equal plans give equal text.
  public var json: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    // Encoding can't fail: a plan holds only numbers and strings.
    guard let data = try? encoder.encode(self) else { return "{}" }
    return String(decoding: data, as: UTF8.self)
  }
}

extension FaultPlan: ExpressibleByArrayLiteral {
  /// Creates a plan with these faults.
  public init(arrayLiteral elements: Fault...) { self.init(elements) }
}

/// A fault at one of three layers.
public enum Fault: Hashable, Sendable {
  /// A fault of a transmission on the air. The link layer retransmits as usual.
  case air(AirFault.Action, AirMatch = .anything, PacketSelection = .every)
  /// A fault of a packet between a host and its controller.
  case hci(HCIFault.Action, HCIMatch = .anything, PacketSelection = .every)
  /// A fault of a whole device. Without a name, it affects every device in the scope of the plan.
  case device(DeviceFault.Action, String? = nil, when: DeviceFault.Trigger)

  /// The names of the devices that the fault is limited to.
  package var deviceNames: [String] {
    switch self {
    case .air(_, let match, _): [match.sender, match.receiver].compactMap(\.self)
    case .hci(_, let match, _): [match.device].compactMap(\.self)
    case .device(_, let name, _): [name].compactMap(\.self)
    }
  }
}

/// The selection of the matching packets that a fault affects.
public enum PacketSelection: Hashable, Sendable {
  /// Every packet.
  case every
  /// The packet with this number; the first has the number 1.
  case number(Int)
  /// The packets with numbers in this range.
  case numbers(ClosedRange<Int>)
  /// Each packet with this probability, 0 to 100 %.
  case percent(Double)
}

/// The faults of a transmission on the air.
public enum AirFault {
  /// The effect of the fault on the transmission.
  public enum Action: Hashable, Sendable {
    /// The transmission is not received.
    case lose
    /// The transmission is received with a wrong CRC.
    case corrupt
    /// The receivers get a PDU with this payload, at most 255 octets, and a valid CRC, as if a stronger transmitter
    /// overrode the original. The header is that of the original except for the length. On an encrypted link, the
    /// octets replace the encrypted payload.
    case inject([UInt8])
  }
}

/// The faults of a packet between host and controller.
public enum HCIFault {
  /// The effect of the fault on the packet.
  public enum Action: Hashable, Sendable {
    /// The packet is lost.
    case lose
    /// The packet is delayed by this time, together with all later packets of the same direction.
    case delay(Duration)
    /// The packet arrives twice.
    case duplicate
    /// One bit of the packet's parameters or data is inverted; the world's seed selects the bit.
    case corrupt
  }
}

/// The faults of a device.
public enum DeviceFault {
  /// The effect of the fault on the device.
  public enum Action: Hashable, Sendable {
    /// The radio neither transmits nor receives for this time, nil for ever. Neither host nor peers are notified.
    case mute(for: Duration? = nil)
    /// From the trigger on, the sleep clock runs slow by this many parts per million; a negative value makes it run
    /// fast.
    case driftClock(partsPerMillion: Double)
    /// The controller loses its entire state, as after a power failure, and reports Hardware Error to its host.
    case resetController
    /// The device ignores CONNECT_IND and AUX_CONNECT_REQ for this time, nil for ever.
    case refuseConnections(for: Duration? = nil)
    /// The host receives no ACL data for this time, nil for ever: links stay connected, but requests get no response.
    case stopAnswering(for: Duration? = nil)
  }

  /// The time or event that triggers a device fault.
  public enum Trigger: Hashable, Sendable {
    /// At this radio time of the world, or at once if it has passed.
    case at(Duration)
    /// At the start of a matching transmission, even if no device receives it; the fault can affect this transmission.
    /// If the pattern has a receiver: at the end of the transmission, if the receiver's radio locked onto it.
    case afterAir(AirMatch, PacketSelection)
    /// When a matching packet passes between host and controller.
    case afterHCI(HCIMatch, PacketSelection)
  }
}
