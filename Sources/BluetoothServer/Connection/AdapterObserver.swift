import BluetoothDaemon

/// The receiver of an adapter's events that belong to no app. It passes them to the event loop.
final class AdapterObserver: SystemClient {
  private let gate: LoopGate
  private let handler: @Sendable (SystemEvent) -> Void

  init(_ gate: LoopGate, _ handler: @escaping @Sendable (SystemEvent) -> Void) {
    self.gate = gate
    self.handler = handler
  }

  func receive(_ event: SystemEvent) {
    let handler = handler
    gate.execute { handler(event) }
  }
}
