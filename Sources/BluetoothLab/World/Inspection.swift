import BluetoothRadio

extension World {
  /// Inspects the world between two of its events: while it is not running, during one of its callbacks, or (in real
  /// time) between two events.
  package func inspect<R: Sendable>(_ body: (WorldEngine) -> R) -> R {
    switch runner {
    case .virtual(let runner): runner.inspect(body)
    case .real(let runner): runner.inspect(body)
    }
  }
}
