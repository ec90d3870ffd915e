import BluetoothHost
import BluetoothWire

/// One updated value waiting for transmission on one link.
struct OutstandingUpdate {
  /// The handle of the characteristic's value.
  let handle: AttributeHandle
  /// The index in `UpdateTable` of the call that the value belongs to.
  let call: Int
}

/// The calls that update a value. A call's credit comes back when the value has been sent to the last client.
struct UpdateTable {
  private struct Call {
    /// The session that made the call; nil: the entry is free.
    var session: PeripheralSession?
    var copies = 0
  }

  private var calls: [Call] = []
  private var free: [Int] = []

  /// Adds a call of `session` without copies and returns its index.
  mutating func add(_ session: PeripheralSession) -> Int {
    if let index = free.popLast() {
      calls[index].session = session
      return index
    }
    calls.append(Call(session: session))
    return calls.count - 1
  }

  mutating func addCopy(to call: Int) { calls[call].copies += 1 }

  /// Subtracts sent copies from a call. When none is left the call's credit comes back; returns the call's session if
  /// it waits for that credit.
  mutating func finish(_ call: Int, copies: Int) -> PeripheralSession? {
    calls[call].copies -= copies
    guard calls[call].copies <= 0, let session = calls[call].session else { return nil }
    calls[call] = Call()
    free.append(call)
    return session.updateCredits.put() ? session : nil
  }
}
