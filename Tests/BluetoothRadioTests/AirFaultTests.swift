import BluetoothWire
import Testing

@testable import BluetoothRadio

/// A radio that carries out one command and records what it hears.
private final class OneShot: SimulatedDevice {
  private var command: RadioCommand?
  private(set) var heard: [RadioEvent] = []
  private(set) var deadline: Instant? = .zero + .microseconds(100)

  init(_ command: RadioCommand) { self.command = command }

  func timeReached(_ now: Instant) { deadline = nil }
  func radio(_ event: RadioEvent, at now: Instant) { heard.append(event) }
  func takeRadioCommand() -> RadioCommand? {
    guard deadline == nil else { return nil }
    defer { command = nil }
    return command
  }
}

/// Applies the same fault to every transmission.
private final class Saboteur: AirFaults {
  var outcome: ReceptionOutcome?
  var begins: (inout TransmissionRecord) -> Void = { _ in }
  private(set) var ended = 0

  func transmissionBegins(_ record: inout TransmissionRecord) { begins(&record) }
  func change(_ reception: inout Reception, of record: TransmissionRecord) {
    if let outcome { reception.outcome = outcome }
  }
  func transmissionEnded(_ record: TransmissionRecord) { ended += 1 }
}

/// Returns the events at a radio 2 m away from the sender of `packet`.
private func hear(with saboteur: Saboteur) -> [RadioEvent] {
  let engine = WorldEngine(seed: 1)
  engine.airFaults = saboteur
  let receiver = OneShot(
    .receive(
      on: RadioChannel(7), phy: .le1M, accessAddress: packet.accessAddress, crcInit: packet.crcInit,
      until: .zero + .milliseconds(1)))
  engine.add(receiver, radio: RadioProperties(position: GridPosition(x: 0)))
  engine.add(
    OneShot(.transmit(packet, on: RadioChannel(7), modulation: .le1M, power: Decibel(0))),
    radio: RadioProperties(position: GridPosition(x: 2_000)))
  while engine.step(until: .zero + .seconds(1)) {}
  #expect(saboteur.ended == 1)
  return receiver.heard
}

@Suite("Faults on the air")
struct AirFaultTests {
  @Test("A lost transmission leaves the receiver listening to the end of its time")
  func lost() {
    let saboteur = Saboteur()
    saboteur.outcome = .missed
    let heard = hear(with: saboteur)
    guard case .nothingReceived? = heard.first, heard.count == 1 else {
      Issue.record("\(heard)")
      return
    }
  }

  @Test("A corrupted transmission arrives with a wrong CRC")
  func corrupted() {
    let saboteur = Saboteur()
    saboteur.outcome = .corrupt
    guard case .received(_, modulation: _, start: _, _, isIntact: false)? = hear(with: saboteur).first else {
      Issue.record("it arrived intact, or not at all")
      return
    }
  }

  @Test("A replaced packet arrives instead of the original")
  func exchanged() {
    let saboteur = Saboteur()
    saboteur.begins = { $0.packet.payload = [9, 9] }
    guard case .received(let heard, modulation: _, start: _, _, isIntact: true)? = hear(with: saboteur).first else {
      Issue.record("it did not arrive")
      return
    }
    #expect(heard.payload == [9, 9])
  }

  @Test("Operations happen at their instants, in order, and never in the past")
  func schedule() {
    let engine = WorldEngine(seed: 1)
    nonisolated(unsafe) var seen: [(Int, Instant)] = []
    let second = Instant.zero + .seconds(1)
    engine.schedule(at: second) { engine in
      seen.append((1, engine.now))
      engine.schedule(at: .zero) { seen.append((2, $0.now)) }
    }
    engine.schedule(at: second) { seen.append((3, $0.now)) }
    engine.schedule(at: .zero + .milliseconds(1)) { seen.append((0, $0.now)) }
    while engine.step(until: .zero + .seconds(10)) {}
    #expect(seen.map(\.0) == [0, 1, 3, 2])
    #expect(seen.map(\.1) == [.zero + .milliseconds(1), second, second, second])
  }

  @Test("A cancelled operation does not happen, and the time of the next event is that of the next operation")
  func cancel() {
    let engine = WorldEngine(seed: 1)
    // The operations run on the thread of the test, which calls `step`.
    nonisolated(unsafe) var seen: [Int] = []
    let second = Instant.zero + .seconds(1)
    let first = engine.schedule(at: .zero + .milliseconds(1)) { _ in seen.append(0) }
    engine.schedule(at: second) { _ in seen.append(1) }
    let last = engine.schedule(at: second) { _ in seen.append(2) }
    engine.cancel(first)
    #expect(engine.nextEvent == second)
    engine.cancel(last)
    while engine.step(until: .zero + .seconds(10)) {}
    #expect(seen == [1])
    #expect(engine.isIdle)
    let again = engine.schedule(at: second) { _ in seen.append(3) }
    engine.cancel(last)
    #expect(engine.nextEvent == second)
    engine.cancel(again)
    #expect(engine.isIdle)
  }
}
