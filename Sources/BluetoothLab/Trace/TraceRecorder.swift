import BluetoothRadio
import BluetoothSimulation
import BluetoothWire
import DequeModule

/// Records the latest calls, callbacks and packets of a world. Unchecked, because it is confined to the world: requests
/// to the world carry the reference from the thread of a test.
final class TraceRecorder: @unchecked Sendable {
  /// A packet, in the form that is cheapest to keep.
  private struct Packet {
    var sequence: UInt64
    var time: Instant
    var radio: RadioID
    var content: AirContent
    var receivers: [(radio: RadioID, outcome: ReceptionOutcome)]
  }

  private struct Event {
    var sequence: UInt64
    var time: Instant
    var radio: RadioID
    var kind: WorldTrace.Entry.Kind
    var text: String
  }

  /// The maximum numbers of elements. Advertising has its own list, so that it does not displace the packets of links.
  private static let limits = (events: 2_000, packets: 1_000, advertising: 200)

  // Unchecked: confined to the world, which makes no calls while a property is being accessed.
  @exclusivity(unchecked) private var events: Deque<Event> = []
  @exclusivity(unchecked) private var packets: Deque<Packet> = []
  @exclusivity(unchecked) private var advertising: Deque<Packet> = []
  @exclusivity(unchecked) private var sequence: UInt64 = 0
  private let bound: WorldBound

  init(in bound: WorldBound) { self.bound = bound }

  private func nextSequence() -> UInt64 {
    bound.check()
    sequence += 1
    return sequence
  }

  private static func append<Element>(_ element: Element, to list: inout Deque<Element>, limit: Int) {
    if list.count == limit { list.removeFirst() }
    list.append(element)
  }

  private func note(_ kind: WorldTrace.Entry.Kind, _ text: String, _ radio: RadioID, _ now: Instant) {
    let event = Event(sequence: nextSequence(), time: now, radio: radio, kind: kind, text: text)
    Self.append(event, to: &events, limit: Self.limits.events)
  }

  /// Returns the entries in the order of time.
  ///
  /// - Parameter name: returns the name of the device with a radio.
  func entries(name: (RadioID) -> String) -> [WorldTrace.Entry] {
    bound.check()
    var all: [(sequence: UInt64, entry: WorldTrace.Entry)] = events.map { event in
      (
        event.sequence,
        WorldTrace.Entry(
          time: event.time.sinceZero.duration, device: name(event.radio), kind: event.kind, text: event.text)
      )
    }
    for packet in packets { all.append((packet.sequence, entry(packet, name))) }
    for packet in advertising { all.append((packet.sequence, entry(packet, name))) }
    return all.sorted { $0.sequence < $1.sequence }.map(\.entry)
  }

  private func entry(_ packet: Packet, _ name: (RadioID) -> String) -> WorldTrace.Entry {
    let receivers = packet.receivers.map { receiver in
      switch receiver.outcome {
      case .intact: name(receiver.radio)
      case .corrupt: "\(name(receiver.radio)) (CRC error)"
      case .missed: "\(name(receiver.radio)) (missed)"
      }
    }
    return WorldTrace.Entry(
      time: packet.time.sinceZero.duration, device: name(packet.radio), kind: .packet,
      text: "\(packet.content.description) → \(receivers.isEmpty ? "nobody" : receivers.joined(separator: ", "))")
  }
}

extension TraceRecorder: CallObserver {
  func call(_ text: String, on device: RadioID, at now: Instant) { note(.call, text, device, now) }
  func callback(_ text: String, on device: RadioID, at now: Instant) { note(.callback, text, device, now) }
}

extension TraceRecorder: AirObserver {
  func transmissionEnded(_ record: TransmissionRecord, receptions: [Reception]) {
    let content = AirContent(record.packet)
    guard content.kind != .empty else { return }
    let packet = Packet(
      sequence: nextSequence(), time: record.end, radio: record.radio, content: content,
      receivers: receptions.map { ($0.radio, $0.outcome) })
    if record.packet.isAdvertising, !content.beginsConnection {
      Self.append(packet, to: &advertising, limit: Self.limits.advertising)
    } else {
      Self.append(packet, to: &packets, limit: Self.limits.packets)
    }
  }
}

extension AirContent {
  /// True for CONNECT_IND and AUX_CONNECT_REQ, which have one PDU type · Vol 6, Part B, 2.3.
  fileprivate var beginsConnection: Bool { kind == .advertising(LL.AdvertisingPDUType.connectInd.rawValue) }
}
