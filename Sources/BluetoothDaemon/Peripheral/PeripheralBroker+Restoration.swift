import BluetoothWire

// The system keeps this state of a peripheral manager's session when it terminates the app.
extension PeripheralBroker {
  /// Prepares a session to go on without its app, and returns its state. Its services, subscriptions and advertising go
  /// on. Its further advertising sets end, because only objects of the app's process name them. The requests that the
  /// process had fail: the next process does not know them.
  mutating func preserve(
    _ session: PeripheralSessionID, at now: Instant, _ context: inout DaemonContext
  ) -> RestoredPeripheral {
    stopSets(of: session, at: now, &context.host)
    refuseRequests(to: session, at: now, &context.host)
    return state(of: session, context)
  }

  /// Goes on with what a session had in a former run of the daemon: its services and its advertising. Returns false if
  /// something of it could not be published.
  mutating func goOn(
    _ stored: StoredApp.Peripheral, for session: PeripheralSessionID, at now: Instant, _ context: inout DaemonContext
  ) -> Bool {
    var isComplete = true
    for service in stored.services {
      let error = place(service, of: session, at: now, &context)
      if error != nil { isComplete = false }
    }
    guard let advertising = stored.advertising else { return isComplete }
    return goOn(advertising, for: session, at: now, &context) && isComplete
  }

  func state(of session: PeripheralSessionID, _ context: borrowing DaemonContext) -> RestoredPeripheral {
    let characteristics = localDatabase.characteristics.filter { $0.session == session }
    let subscriptions = characteristics.flatMap { characteristic in
      characteristic.subscribers.compactMap { connection in
        context.links.index(of: connection).map {
          RestoredPeripheral.Subscription(central: context.centralInfo(of: $0), characteristic: characteristic.id)
        }
      }
    }
    return RestoredPeripheral(
      services: localDatabase.services.filter { $0.session == session }.map(\.definition),
      subscriptions: subscriptions,
      advertising: advertising.requests.first { $0.session == session && $0.custom == nil }.map {
        .init(localName: $0.localName, services: $0.services)
      })
  }
}
