import BluetoothHost
import BluetoothWire

/// Advertising sets of apps, which do not exclude each other.
extension PeripheralBroker {
  /// Starts a set, or changes its parameters and data. An app that has its share gets the error of a controller without
  /// room.
  mutating func start(
    _ id: LocalSetID, _ advertising: HostAdvertising, for session: PeripheralSessionID, at now: Instant,
    _ context: inout DaemonContext
  ) {
    let taken = advertisingSets.owners.map { (session: AnySession.peripheral($0), count: 1) }
    let isAllowed =
      advertisingSets.contains(id, of: session)
      || context.mayTake(of: .advertisingSets, for: .peripheral(session), beside: taken)
    guard isAllowed, let handle = advertisingSets.start(id, of: session) else {
      return context.deliver(.advertisingSetStarted(id, .link(.memoryCapacityExceeded)), to: session)
    }
    context.host.startAdvertising(advertising, on: handle, at: now)
  }

  /// Stops a set. Every start is answered, even one followed by a stop before its outcome is known.
  mutating func stop(
    _ id: LocalSetID, of session: PeripheralSessionID, at now: Instant, _ context: inout DaemonContext
  ) {
    guard let (handle, starts) = advertisingSets.stop(id, of: session) else { return }
    for _ in 0..<starts { context.deliver(.advertisingSetStarted(id, nil), to: session) }
    context.host.stopAdvertising(on: handle, at: now)
  }

  /// Stops all sets of a session without an event.
  mutating func stopSets(of session: PeripheralSessionID, at now: Instant, _ host: inout Host) {
    for set in advertisingSets.removeAll(of: session) { host.stopAdvertising(on: set, at: now) }
  }

  /// Reports the host's answer to the session.
  mutating func advertisingSetStarted(
    _ handle: HCI.AdvertisingHandle, _ error: HostError?, _ context: inout DaemonContext
  ) {
    guard let (session, id, starts) = advertisingSets.answered(handle, isFailure: error != nil) else { return }
    let error = error.map { SessionError($0) }
    for _ in 0..<starts { context.deliver(.advertisingSetStarted(id, error), to: session) }
  }

  /// Reports the end of a set to its session.
  mutating func advertisingSetEnded(_ handle: HCI.AdvertisingHandle, _ context: inout DaemonContext) {
    guard let (session, id) = advertisingSets.ended(handle) else { return }
    context.deliver(.advertisingSetEnded(id), to: session)
  }
}
