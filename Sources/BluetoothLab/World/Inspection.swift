import BluetoothRadio

extension World {
  /// Looks into the world while it stands still: when it is not running, or while one of its callbacks is, or (in real time)
  /// between two of its events.
  package func inspect<R: Sendable>(_ body: (WorldEngine) -> R) -> R {
    switch runner {
    case .virtual(let runner): runner.inspect(body)
    case .real(let runner): runner.inspect(body)
    }
  }
}
