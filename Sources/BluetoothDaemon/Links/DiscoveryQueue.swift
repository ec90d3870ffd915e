import BluetoothHost
import BluetoothWire

/// A procedure that discovers attributes. Its result serves all sessions that use the link.
enum DiscoveryRequest: Hashable {
  case services
  /// The included services of a service, given by its declaration.
  case includes(of: AttributeHandle)
  case characteristics(of: AttributeHandle)
  /// The descriptors of a characteristic, given by the handle of its value.
  case descriptors(of: AttributeHandle)
}

/// The discovery procedures of one link, and the sessions that wait for them.
struct DiscoveryQueue {
  struct Waiter {
    let session: CentralSessionID
    let procedure: DiscoveryRequest
    /// The UUIDs to report; empty: all.
    let filter: [BluetoothUUID]
  }

  private var waiters: [Waiter] = []
  private var running: [DiscoveryRequest] = []

  func isRunning(_ procedure: DiscoveryRequest) -> Bool { running.contains(procedure) }

  mutating func began(_ procedure: DiscoveryRequest) { running.append(procedure) }

  /// Returns true if a session waits for the end of a procedure.
  func isAwaited(_ procedure: DiscoveryRequest, by session: CentralSessionID) -> Bool {
    waiters.contains { $0.session == session && $0.procedure == procedure }
  }

  /// Returns true if the session waits for as many procedures on this link as it may.
  func isFull(for session: CentralSessionID) -> Bool {
    waiters.count >= SessionLimits.requests && waiters.count { $0.session == session } >= SessionLimits.requests
  }

  mutating func wait(_ waiter: Waiter) { waiters.append(waiter) }

  /// Ends the procedure and returns the requests that waited for it.
  mutating func ended(_ procedure: DiscoveryRequest) -> [Waiter] {
    running.removeAll { $0 == procedure }
    let done = waiters.filter { $0.procedure == procedure }
    waiters.removeAll { $0.procedure == procedure }
    return done
  }

  /// Removes the requests of a session.
  mutating func remove(_ session: CentralSessionID) { waiters.removeAll { $0.session == session } }
}
