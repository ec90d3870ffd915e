import BluetoothLab
import Foundation

/// A schedule of every kind of fault, at rates that leave most of the traffic unaffected.
struct FaultSchedule {
  private var random: SeededGenerator
  private let devices: [String]

  init(seed: UInt64, devices: [String]) {
    random = SeededGenerator(seed: seed)
    self.devices = devices
  }

  /// The packet faults for the whole world.
  static let packets: FaultPlan = [
    .air(.lose, .anything, .percent(3)),
    .air(.corrupt, .anything, .percent(2)),
    .air(.inject([0x00, 0x5A, 0x01, 0x02]), AirMatch(.advertising()), .percent(0.01)),
    .hci(.lose, HCIMatch(.data), .percent(0.1)),
    .hci(.lose, HCIMatch(.event()), .percent(0.02)),
    .hci(.delay(.milliseconds(50)), .anything, .percent(1)),
    .hci(.duplicate, HCIMatch(.data), .percent(0.1)),
    .hci(.duplicate, HCIMatch(.event()), .percent(0.02)),
    .hci(.corrupt, HCIMatch(.data), .percent(0.1)),
  ]

  /// Returns device faults for the next minute: one of each kind, on a random device.
  mutating func deviceFaults(from now: Duration) -> FaultPlan {
    let actions: [DeviceFault.Action] = [
      .mute(for: .seconds(20)), .refuseConnections(for: .seconds(30)), .stopAnswering(for: .seconds(40)),
      .driftClock(partsPerMillion: Double.random(in: -40...40, using: &random)), .resetController,
    ]
    return FaultPlan(
      actions.map { action -> Fault in
        let name = devices.randomElement(using: &random)
        return .device(action, name, when: .at(now + .seconds(Double.random(in: 0..<60, using: &random))))
      })
  }
}

/// The SplitMix64 generator: the same seed gives the same faults.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return value ^ value >> 31
  }
}
