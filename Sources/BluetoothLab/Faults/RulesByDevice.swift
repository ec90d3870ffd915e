import BluetoothRadio

/// The indices of the rules that may apply to a device's packets, in the order in which the rules were added. Most
/// rules are for one or two devices, so most packets need not be compared with them.
struct RulesByDevice {
  /// The rules for all devices.
  private var ofWorld: [Int] = []
  /// The rules for each device that has its own rules, merged with the rules for all devices.
  private var ofDevices: [RadioID: [Int]] = [:]

  /// Adds the index of a rule. Indices must be added in ascending order.
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

  /// Returns the rules that may apply to packets that this device sends on the air or exchanges over HCI.
  func about(_ device: RadioID) -> [Int] { ofDevices[device] ?? ofWorld }

  /// Returns the rules that may apply to packets between two devices.
  func about(_ one: RadioID, _ other: RadioID) -> [Int] {
    guard let first = ofDevices[one] else { return about(other) }
    guard let second = ofDevices[other] else { return first }
    return Set(first).union(second).sorted()
  }
}
