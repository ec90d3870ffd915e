import BluetoothWire
import Testing

@testable import BluetoothRadio

/// Records the transmissions on the air.
private final class Observer: AirObserver {
  var records: [TransmissionRecord] = []
  var receptions: [[Reception]] = []
  /// The transmissions on the air when the observer was released.
  var unfinished: [TransmissionRecord] = []

  func transmissionEnded(_ record: TransmissionRecord, receptions: [Reception]) {
    records.append(record)
    self.receptions.append(receptions)
  }

  func observationEnds(during record: TransmissionRecord) { unfinished.append(record) }
}

@Suite("Injected packets and muted radios")
struct InjectionTests {
  private let scene = Scene()
  private let observer = Observer()

  init() {
    scene.engine.observer = observer
  }

  private func receiver(packets: Int64) -> Scripted {
    Scripted((0..<packets).map { (.microseconds(1_000 * $0), listen(until: 1_000 * $0 + 900)) })
  }

  private func sender(packets: Int64) -> Scripted {
    Scripted((0..<packets).map { (.microseconds(1_000 * $0 + 100), send()) })
  }

  @Test("An injected packet begins at its instant, arrives from its place, and has no radio as its sender")
  func injection() throws {
    let receiver = receiver(packets: 2)
    scene.add(receiver)
    for time: Int64 in [1_200, 150] {
      scene.engine.inject(
        Injection(
          packet, on: RadioChannel(7), modulation: .le1M, power: Decibel(4), from: GridPosition(x: 10_000)),
        at: .microseconds(time))
    }
    scene.run()
    #expect(receiver.outcomes == [.intact, .intact])
    let times = receiver.heard.map(\.0)
    #expect(times == [.microseconds(278), .microseconds(1_328)])
    #expect(receiver.levels.map(\.rounded) == [-61, -61])
    #expect(observer.records.map(\.radio) == [RadioID.none, .none])
  }

  @Test("A packet on the air when the observer changes is reported once, to the observer that saw it begin")
  func changingObservers() throws {
    let (first, second) = (observer, Observer())
    scene.add(receiver(packets: 3))
    scene.add(sender(packets: 3))
    scene.run(until: .microseconds(150))
    #expect(first.records.isEmpty)
    scene.engine.observer = second
    #expect(first.unfinished.map(\.start) == [.microseconds(100)])
    #expect(first.unfinished.map(\.packet) == [packet])
    scene.run(until: .microseconds(1_150))
    scene.engine.observer = nil
    scene.run()
    #expect(first.records.isEmpty)
    #expect(first.unfinished.count == 1)
    #expect(second.records.isEmpty)
    #expect(second.unfinished.map(\.start) == [.microseconds(1_100)])
  }

  @Test("Injected packets may overlap, and then disturb each other")
  func overlappingInjections() {
    let receiver = receiver(packets: 1)
    scene.add(receiver)
    for time: Int64 in [150, 200] {
      scene.engine.inject(
        Injection(packet, on: RadioChannel(7), modulation: .le1M, power: Decibel(0), from: GridPosition(x: 10_000)),
        at: .microseconds(time))
    }
    scene.run()
    #expect(receiver.outcomes == [.corrupt])
    #expect(observer.records.count == 2)
  }

  @Test("A muted radio neither sends nor receives, still completes its commands, and works again once unmuted")
  func mute() {
    let (first, second) = (receiver(packets: 3), receiver(packets: 3))
    let sending = sender(packets: 3)
    let radio = scene.add(sending)
    scene.add(first, metres: 1)
    let deaf = scene.add(second, metres: 1)
    scene.run(until: .microseconds(950))
    scene.engine.setMuted(true, radio)
    scene.run(until: .microseconds(1_950))
    scene.engine.setMuted(false, radio)
    scene.engine.setMuted(true, deaf)
    scene.run()
    #expect(sending.outcomes == [.sent, .sent, .sent])
    #expect(first.outcomes == [.intact, .nothing, .intact])
    #expect(second.outcomes == [.intact, .nothing, .nothing])
  }

  @Test("Muting a radio within a packet breaks the packet off")
  func muteWithinPacket() {
    let receiver = receiver(packets: 1)
    let sending = sender(packets: 1)
    let radio = scene.add(sending)
    scene.add(receiver, metres: 1)
    scene.run(until: .microseconds(150))
    scene.engine.setMuted(true, radio)
    scene.run()
    #expect(receiver.outcomes == [.nothing])
    let end = sending.heard.map(\.0)
    #expect(end == [.microseconds(228)])
  }
}
