import BluetoothWire

@testable import BluetoothRadio

/// A device that follows a script and records what it hears.
final class Scripted: SimulatedDevice {
  var script: [(Instant, RadioCommand)]
  var heard: [(Instant, RadioEvent)] = []
  private var command: RadioCommand?

  init(_ script: [(Instant, RadioCommand)]) { self.script = script }

  var deadline: Instant? { script.first?.0 }
  func timeReached(_ now: Instant) { command = script.removeFirst().1 }
  func radio(_ event: RadioEvent, at now: Instant) { heard.append((now, event)) }
  func takeRadioCommand() -> RadioCommand? {
    defer { command = nil }
    return command
  }
}

extension Instant {
  static func microseconds(_ value: Int64) -> Instant { .zero + .microseconds(value) }
}

let packet = AirPacket(accessAddress: 0x1234_5678, crcInit: 0x55, header: 0x0601, payload: [1, 2, 3, 4, 5, 6])

func send(
  _ packet: AirPacket = packet, channel: UInt8 = 7, modulation: Modulation = .le1M, power: Int = 0
) -> RadioCommand {
  .transmit(packet, on: RadioChannel(channel), modulation: modulation, power: Decibel(power))
}

func listen(
  channel: UInt8 = 7, phy: RadioPHY = .le1M, accessAddress: UInt32 = 0x1234_5678, crcInit: UInt32 = 0x55,
  until: Int64? = nil
) -> RadioCommand {
  .receive(
    on: RadioChannel(channel), phy: phy, accessAddress: accessAddress, crcInit: crcInit,
    until: until.map { .microseconds($0) })
}

/// A world whose devices run to the end of their scripts.
struct Scene {
  let engine: WorldEngine

  init(seed: UInt64 = 1) { engine = WorldEngine(seed: seed) }

  /// Puts a device `metres` from the origin along the x axis.
  @discardableResult
  func add(_ device: Scripted, metres: Double = 0, _ change: (inout RadioProperties) -> Void = { _ in }) -> RadioID {
    var properties = RadioProperties(position: GridPosition(metresX: metres, y: 0, z: 0))
    change(&properties)
    engine.add(device, radio: properties)
    return RadioID(index: engine.deviceCount - 1)
  }

  func run(until end: Instant = .zero + .seconds(10)) {
    while engine.step(until: end) {}
    engine.passTime(to: end)
  }
}

/// Runs devices, which stand on a line at distances in metres, to the end of their scripts.
func run(_ devices: [(Scripted, metres: Int64)], seed: UInt64 = 1) {
  let scene = Scene(seed: seed)
  for (device, metres) in devices { scene.add(device, metres: Double(metres)) }
  scene.run()
}

extension Scripted {
  enum Outcome: Equatable { case intact, corrupt, nothing, sent }

  /// The outcomes of its receptions and transmissions, in order.
  var outcomes: [Outcome] {
    heard.map { _, event in
      switch event {
      case .transmitted: .sent
      case .received(_, _, _, _, let isIntact): isIntact ? .intact : .corrupt
      case .nothingReceived: .nothing
      }
    }
  }

  /// The modulations of the received packets.
  var modulations: [Modulation] {
    heard.compactMap { if case .received(_, let modulation, _, _, _) = $0.1 { modulation } else { nil } }
  }

  /// The levels of the received packets.
  var levels: [Decibel] {
    heard.compactMap { if case .received(_, _, _, let level, _) = $0.1 { level } else { nil } }
  }
}

/// Returns the share of `count` worlds, each with its own seed, for which `isSo` returns true.
func share(of count: UInt64, _ isSo: (UInt64) -> Bool) -> Double {
  Double((1...count).count { isSo($0) }) / Double(count)
}
