import Foundation

/// What shall go wrong, as data: a list of faults that a world, a link or a device is given.
///
/// A plan is made in Swift, or read from JSON, which has one flat object for each fault:
///
/// ```json
/// { "faults": [
///   { "layer": "air", "fault": "lose", "attribute": "0x1B", "from": "strap", "number": 3 },
///   { "layer": "hci", "fault": "delay", "by": 0.02, "event": "0x0E", "device": "phone", "percent": 10 },
///   { "layer": "device", "fault": "mute", "device": "strap", "at": 5, "for": 1.5 }
/// ] }
/// ```
///
/// All chance comes from the world's seed: one seed, one course of events.
public struct FaultPlan: Hashable, Sendable, Codable {
  /// In the order in which they are asked; the first that strikes a packet decides what becomes of it.
  public var faults: [Fault]

  /// A plan with these faults.
  public init(_ faults: [Fault] = []) { self.faults = faults }

  /// Reads a plan from JSON.
  ///
  /// - Throws: `DecodingError` with the place and the reason: keys that a fault does not have are refused, too, so that a
  ///   misspelt one is not taken for one that was left out.
  public init(json: String) throws {
    self = try JSONDecoder().decode(FaultPlan.self, from: Data(json.utf8))
  }

  /// The plan as JSON with sorted keys: the same text for the same plan.
  public var json: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    // A plan holds numbers and texts only, so that nothing in it can't be written.
    guard let data = try? encoder.encode(self) else { return "{}" }
    return String(decoding: data, as: UTF8.self)
  }
}

extension FaultPlan: ExpressibleByArrayLiteral {
  /// A plan with these faults.
  public init(arrayLiteral elements: Fault...) { self.init(elements) }
}

/// One thing that shall go wrong, by the layer at which it does.
public enum Fault: Hashable, Sendable {
  /// A transmission on the air fails. The link layer sends again, as it would.
  case air(AirFault.Action, AirMatch = .anything, Occurrence = .every)
  /// A packet between a host and its controller does not arrive as it was sent.
  case hci(HCIFault.Action, HCIMatch = .anything, Occurrence = .every)
  /// A whole device does what it should not. Without a name: each device that the plan was given to.
  case device(DeviceFault.Action, String? = nil, when: DeviceFault.Trigger)
}

/// Which of the packets that match are struck.
public enum Occurrence: Hashable, Sendable {
  /// Each.
  case every
  /// The one with this number; the first has the number 1.
  case number(Int)
  /// Those with numbers in this range.
  case numbers(ClosedRange<Int>)
  /// Each with this probability, 0 to 100 %.
  case percent(Double)
}

/// What becomes of a transmission.
public enum AirFault {
  /// What becomes of it.
  public enum Action: Hashable, Sendable {
    /// Nobody hears it.
    case lose
    /// It is heard with a wrong CRC.
    case corrupt
    /// In its place the receivers hear a PDU with this payload, at most 255 octets, and a right CRC: what somebody sends who
    /// drowns the original. The header is that of the original but for the length; on an encrypted link the octets take
    /// the place of the encrypted ones.
    case inject([UInt8])
  }
}

/// What becomes of a packet between host and controller.
public enum HCIFault {
  /// What becomes of it.
  public enum Action: Hashable, Sendable {
    /// It does not arrive.
    case lose
    /// It arrives so much later, and what was sent behind it in the same direction not before it.
    case delay(Duration)
    /// It arrives twice.
    case duplicate
    /// One bit of its parameters or its data is another one; which, the world's seed decides.
    case corrupt
  }
}

/// What a device does that it should not.
public enum DeviceFault {
  /// What it does.
  public enum Action: Hashable, Sendable {
    /// Its radio sends and hears nothing, for this time or (nil) for ever, and nobody is told.
    case mute(for: Duration? = nil)
    /// The seconds of its sleep clock are longer by this from now on: parts per million; negative: shorter.
    case driftClock(partsPerMillion: Double)
    /// The controller loses everything that it had and tells its host so (Hardware Error), as after a failure of its power.
    case resetController
    /// It ignores everybody who wants to connect, for this time or (nil) for ever.
    case refuseConnections(for: Duration? = nil)
    /// Its host takes no data any more, for this time or (nil) for ever: the links hold, but nothing is answered.
    case stopAnswering(for: Duration? = nil)
  }

  /// When it does it.
  public enum Trigger: Hashable, Sendable {
    /// At this radio time of the world; at once when that is over.
    case at(Duration)
    /// When a transmission that matches has ended, whether it was heard or not.
    case afterAir(AirMatch, Occurrence)
    /// When a packet that matches passes between host and controller.
    case afterHCI(HCIMatch, Occurrence)
  }
}
