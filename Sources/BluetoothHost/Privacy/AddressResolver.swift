// Design: resolution of addresses
//
// The host resolves the addresses that the controller has not resolved: once with the key of each bond for each new
// address. It caches the last 512 results (`AddressResolver`). A controller that failed three times to resolve a peer
// on its list is no longer relied upon.

import BluetoothCrypto
import BluetoothWire

/// A cache of the results of address resolution with the keys of all bonds, so that each private address is tried
/// only once while it is in the cache · Vol 3, Part C, 10.8.2.3. A lookup allocates no memory.
struct AddressResolver {
  /// The maximum number of addresses; the oldest are removed first.
  static let limit = 512

  /// The identity behind each address; nil: no key resolves it.
  private var outcomes: [UInt64: DeviceAddress?] = [:]
  /// The addresses in the order in which they were added, beginning at `oldest`.
  private var tried: [UInt64] = []
  private var oldest = 0

  var count: Int { outcomes.count }

  /// The identity behind an address, or nil if no key resolves it; the outer nil: the address is not in the cache.
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

  /// Removes all results, because the keys have changed.
  mutating func removeAll() {
    guard !tried.isEmpty else { return }
    outcomes.removeAll(keepingCapacity: true)
    tried.removeAll(keepingCapacity: true)
    oldest = 0
  }
}
