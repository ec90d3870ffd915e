import BluetoothHost
import BluetoothWire

/// A procedure that finds attributes; its result is good for everybody who uses the link.
enum DiscoveryProcedure: Hashable {
  case services
  /// By the service's declaration.
  case includes(of: AttributeHandle)
  case characteristics(of: AttributeHandle)
  /// By the characteristic's value.
  case descriptors(of: AttributeHandle)
}

/// Who waits for which procedure on one link.
struct DiscoveryQueue {
  struct Waiter {
    let session: CentralSlot
    let procedure: DiscoveryProcedure
    /// Empty: everything.
    let filter: [BluetoothUUID]
  }

  private var waiters: [Waiter] = []
  private var running: [DiscoveryProcedure] = []

  func isRunning(_ procedure: DiscoveryProcedure) -> Bool { running.contains(procedure) }

  mutating func began(_ procedure: DiscoveryProcedure) { running.append(procedure) }

  mutating func wait(_ waiter: Waiter) { waiters.append(waiter) }

  /// The procedure has ended; the result are those who waited for it.
  mutating func ended(_ procedure: DiscoveryProcedure) -> [Waiter] {
    running.removeAll { $0 == procedure }
    let done = waiters.filter { $0.procedure == procedure }
    waiters.removeAll { $0.procedure == procedure }
    return done
  }

  /// A session does not wait for anything any more.
  mutating func remove(_ session: CentralSlot) { waiters.removeAll { $0.session == session } }
}
