import BluetoothWire

/// The calls that update a value. A call's credit comes back when the value has been sent to the last client.
struct UpdateTable {
  private struct Call {
    let session: PeripheralSessionID
    let credits: TransmitCredits
    var copies = 0
  }

  private var calls = SlotMap<Call>()

  /// Adds a call of `session` without copies and returns its key.
  ///
  /// - Parameter credits: the credits from which the session has taken one for the call.
  mutating func add(_ session: PeripheralSessionID, _ credits: TransmitCredits) -> SlotKey {
    calls.insert(Call(session: session, credits: credits))
  }

  mutating func addCopy(to call: SlotKey) { calls.update(call) { $0.copies += 1 } }

  /// Subtracts sent copies from a call. When none is left the call's credit comes back; returns the call's session if
  /// it waits for that credit.
  mutating func finish(_ call: SlotKey, copies: Int) -> PeripheralSessionID? {
    let left = calls.update(call) { call in
      call.copies -= copies
      return call.copies
    }
    guard let left, left <= 0, let call = calls.remove(call) else { return nil }
    return call.credits.put() ? call.session : nil
  }
}
