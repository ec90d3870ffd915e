import BluetoothHost
import BluetoothWire

/// One value on its way over one link.
struct OutstandingUpdate {
  /// The characteristic's value.
  let handle: AttributeHandle
  /// Where `UpdateTable` keeps the call that it belongs to.
  let call: Int
}

/// Calls that update a value, each until the last client's copy has left: then its credit comes back.
struct UpdateTable {
  private struct Call {
    /// nil: not in use.
    var session: PeripheralSession?
    var copies = 0
  }

  private var calls: [Call] = []
  private var free: [Int] = []

  /// A call of `session`, with no copies yet.
  mutating func add(_ session: PeripheralSession) -> Int {
    if let index = free.popLast() {
      calls[index].session = session
      return index
    }
    calls.append(Call(session: session))
    return calls.count - 1
  }

  mutating func addCopy(to call: Int) { calls[call].copies += 1 }

  /// Nothing was sent for it, or a copy has left. True: the credit came back and its session waits for that.
  mutating func finish(_ call: Int, copies: Int) -> PeripheralSession? {
    calls[call].copies -= copies
    guard calls[call].copies <= 0, let session = calls[call].session else { return nil }
    calls[call] = Call()
    free.append(call)
    return session.updateCredits.put() ? session : nil
  }
}
