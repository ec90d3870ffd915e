import BluetoothRadio
import BluetoothWire
import DequeModule

/// The HCI link between a host and its controller in one process. It passes packets to captures and applies faults.
struct HCIWire: ~Copyable {
  private let environment: DeviceEnvironment
  private let device: RadioID
  var capture: DeviceCapture?
  /// The packets that a fault delays; nil: none, as for most devices.
  private var delayed: Delayed?

  private final class Delayed {
    struct Waiting {
      var due: Instant
      var packet: HCI.Packet
    }
    var fromHost: Deque<Waiting> = []
    var fromController: Deque<Waiting> = []
  }

  init(of device: RadioID, in environment: DeviceEnvironment, capture: DeviceCapture?) {
    self.environment = environment
    self.device = device
    self.capture = capture
  }

  /// True if faults may change, delay or drop packets.
  var isDisturbed: Bool { environment.faults != nil || delayed != nil }

  /// The arrival time of the next delayed packet; nil: no packet is delayed.
  var deadline: Instant? {
    guard let delayed else { return nil }
    return earliest(delayed.fromHost.first?.due, delayed.fromController.first?.due)
  }

  /// Carries `packet` from one side to the other; `arrive` takes the packets that the other side receives now.
  mutating func carry(
    _ packet: HCI.Packet, isFromHost: Bool, at now: Instant, _ arrive: (HCI.Packet) -> Void
  ) {
    environment.observe(packet, isFromHost: isFromHost, on: device)
    guard isDisturbed else {
      capture?.packet(packet, isFromHost: isFromHost, at: now)
      arrive(packet)
      return
    }
    let fault = environment.faults?.decision(for: packet, isFromHost: isFromHost, on: device, at: now)
    capture?.packet(packet, isFromHost: isFromHost, at: now, fault: fault?.comment)
    switch fault?.decision {
    case .lose: break
    case .delay(let time): enqueue(packet, isFromHost, due: now + time, at: now, arrive)
    case .duplicate:
      enqueue(packet, isFromHost, due: now, at: now, arrive)
      enqueue(packet, isFromHost, due: now, at: now, arrive)
    case .replace(let other): enqueue(other, isFromHost, due: now, at: now, arrive)
    case nil: enqueue(packet, isFromHost, due: now, at: now, arrive)
    }
  }

  /// Delivers a packet at `due`, but not before the delayed packets of the same direction: HCI keeps packets in order.
  private mutating func enqueue(
    _ packet: HCI.Packet, _ isFromHost: Bool, due: Instant, at now: Instant, _ arrive: (HCI.Packet) -> Void
  ) {
    let last = isFromHost ? delayed?.fromHost.last?.due : delayed?.fromController.last?.due
    let due = max(due, last ?? due)
    guard due > now || last != nil else { return arrive(packet) }
    let delayed = self.delayed ?? Delayed()
    self.delayed = delayed
    let waiting = Delayed.Waiting(due: due, packet: packet)
    if isFromHost { delayed.fromHost.append(waiting) } else { delayed.fromController.append(waiting) }
  }

  /// Delivers the delayed packets that arrive now.
  mutating func timeReached(
    _ now: Instant, atController: (HCI.Packet) -> Void, atHost: (HCI.Packet) -> Void
  ) {
    guard let delayed else { return }
    while let first = delayed.fromHost.first, first.due <= now {
      delayed.fromHost.removeFirst()
      atController(first.packet)
    }
    while let first = delayed.fromController.first, first.due <= now {
      delayed.fromController.removeFirst()
      atHost(first.packet)
    }
    if delayed.fromHost.isEmpty && delayed.fromController.isEmpty { self.delayed = nil }
  }
}
