import BluetoothRadio
import BluetoothWire

/// The devices that a plan applies to.
enum FaultScope: Hashable, Sendable {
  case world
  case device(RadioID)
  /// The link between these two devices.
  case link(RadioID, RadioID)

  func contains(sender: RadioID, receiver: RadioID) -> Bool {
    switch self {
    case .world: true
    case .device(let device): device == sender || device == receiver
    case .link(let first, let second):
      (sender, receiver) == (first, second) || (sender, receiver) == (second, first)
    }
  }

  func contains(_ radio: RadioID) -> Bool {
    switch self {
    case .world: true
    case .device(let device): device == radio
    case .link(let first, let second): radio == first || radio == second
    }
  }
}

/// Counts matching packets and decides which of them a fault affects.
struct PacketSelector {
  private let selection: PacketSelection
  private var count = 0
  private var random: RandomStream

  init(_ selection: PacketSelection, random: RandomStream) {
    self.selection = selection
    self.random = random
  }

  /// Counts a matching packet. Returns true if the fault affects it.
  mutating func selectsNext() -> Bool {
    count += 1
    switch selection {
    case .every: return true
    case .number(let number): return count == number
    case .numbers(let numbers): return numbers.contains(count)
    case .percent(let percent):
      // 53 random bits, which a Double represents exactly.
      return Double(random.next() >> 11) < percent / 100 * 0x1p53
    }
  }
}

/// A device fault and the devices that it affects.
struct DeviceRule: Sendable {
  let action: DeviceFault.Action
  /// The name of the affected device; nil for all in the scope.
  let name: String?
  let scope: FaultScope
}

/// A fault on the air, or the trigger of a device fault on the air.
struct AirRule {
  enum Consequence {
    case packet(AirFault.Action)
    case device(DeviceRule)
  }

  let consequence: Consequence
  let match: AirMatch
  let scope: FaultScope
  var selector: PacketSelector
}

/// A fault between host and controller, or the trigger of a device fault there.
struct HCIRule {
  enum Consequence {
    case packet(HCIFault.Action)
    case device(DeviceRule)
  }

  let consequence: Consequence
  let match: HCIMatch
  let scope: FaultScope
  var selector: PacketSelector
}
