import BluetoothCrypto
import BluetoothWire

/// What became of private addresses that were tried with the keys of all bonds: an address is tried once, as long as it is
/// remembered · Vol 3, Part C, 10.8.2.3. Looking an address up allocates nothing.
struct AddressResolver {
  /// Of more addresses, those that were tried first are forgotten.
  static let limit = 512

  /// Whose they are; nil: nobody's.
  private var outcomes: [UInt64: DeviceAddress?] = [:]
  /// In the order in which they were tried, from `oldest` on.
  private var tried: [UInt64] = []
  private var oldest = 0

  var count: Int { outcomes.count }

  /// Whose an address is; the outer nil: it was not tried.
  subscript(address: UInt64) -> DeviceAddress?? { outcomes[address] }

  mutating func remember(_ address: UInt64, of identity: DeviceAddress?) {
    if tried.isEmpty {
      tried.reserveCapacity(Self.limit)
      outcomes.reserveCapacity(Self.limit)
    }
    if tried.count < Self.limit {
      tried.append(address)
    } else {
      outcomes.removeValue(forKey: tried[oldest])
      tried[oldest] = address
      oldest = (oldest + 1) % Self.limit
    }
    outcomes.updateValue(identity, forKey: address)
  }

  /// The keys are others.
  mutating func removeAll() {
    guard !tried.isEmpty else { return }
    outcomes.removeAll(keepingCapacity: true)
    tried.removeAll(keepingCapacity: true)
    oldest = 0
  }
}
