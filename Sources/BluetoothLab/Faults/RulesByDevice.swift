import BluetoothRadio

/// Which rules may be about a device's packets, by number and in the order in which they were given: most are about one
/// device or two, and a packet of others need not be held against them.
struct RulesByDevice {
  private var ofWorld: [Int] = []
  /// Of devices that have rules of their own, with those of the world.
  private var ofDevices: [RadioID: [Int]] = [:]

  /// Rules are added in the order of their numbers.
  mutating func add(_ rule: Int, to scope: FaultScope) {
    switch scope {
    case .world:
      ofWorld.append(rule)
      for device in ofDevices.keys { ofDevices[device]?.append(rule) }
    case .device(let device): add(rule, to: device)
    case .link(let one, let other):
      add(rule, to: one)
      if other != one { add(rule, to: other) }
    }
  }

  private mutating func add(_ rule: Int, to device: RadioID) { ofDevices[device, default: ofWorld].append(rule) }

  mutating func removeAll() { self = RulesByDevice() }

  /// Those that may be about what this device does.
  func about(_ device: RadioID) -> [Int] { ofDevices[device] ?? ofWorld }

  /// Those that may be about what passes between two devices.
  func about(_ one: RadioID, _ other: RadioID) -> [Int] {
    guard let first = ofDevices[one] else { return about(other) }
    guard let second = ofDevices[other] else { return first }
    return Set(first).union(second).sorted()
  }
}
