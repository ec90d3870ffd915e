import BluetoothWire

// The system keeps this state of a peripheral manager's session when it terminates the app.
extension PeripheralBroker {
  /// Returns the state of a session that goes on without its app. Its services, subscriptions, requests and its
  /// advertising stay.
  func preserve(_ session: PeripheralSessionID, _ context: borrowing DaemonContext) -> RestoredPeripheral {
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
