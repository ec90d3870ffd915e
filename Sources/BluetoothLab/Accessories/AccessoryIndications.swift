import BluetoothProfiles

/// The indications of a measurement. A client has one indication outstanding at a time · Vol 3, Part F, 3.3.2. Values
/// that are due before the client has confirmed the previous one are left out, so the newest value is sent next.
struct AccessoryIndications<Value: AttributeValue>: Sendable {
  private let characteristic: Characteristic<Value>
  /// The clients that have not confirmed the latest indication.
  private var waiting: [AccessoryClient] = []

  init(_ characteristic: Characteristic<Value>) { self.characteristic = characteristic }

  /// Indicates the value to each subscriber that has confirmed the previous one.
  mutating func send(_ value: Value, in context: inout AccessoryContext) {
    for client in context.subscribedClients(to: characteristic) where !waiting.contains(client) {
      waiting.append(client)
      context.send(value, of: characteristic, to: client)
    }
  }

  /// Notes that the client of the callback has confirmed a value.
  mutating func valueSent(of path: CharacteristicPath, in context: AccessoryContext) {
    if path == characteristic.path { removeClient(in: context) }
  }

  /// Forgets the client of the callback, which has disconnected.
  mutating func removeClient(in context: AccessoryContext) { waiting.removeAll { $0 == context.client } }
}
