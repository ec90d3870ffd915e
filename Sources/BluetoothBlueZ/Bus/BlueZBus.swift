import BluetoothDBus

/// A method call that a client of the bus has made.
package struct BusCall: Hashable, Sendable {
  /// The unique name of the client.
  package var sender: String
  package var path: String
  package var interface: String
  package var member: String
  package var arguments: [DBusValue]

  package init(sender: String, path: String, interface: String, member: String, arguments: [DBusValue] = []) {
    self.sender = sender
    self.path = path
    self.interface = interface
    self.member = member
    self.arguments = arguments
  }
}

/// The answer to a call. Its owner uses it once.
package struct BusAnswer: Sendable {
  private let body: @Sendable (Result<[DBusValue], DBusError>) -> Void

  package init(_ body: @escaping @Sendable (Result<[DBusValue], DBusError>) -> Void) { self.body = body }

  package func reply(_ values: [DBusValue] = []) { body(.success(values)) }
  package func fail(_ error: DBusError) { body(.failure(error)) }
}

/// A signal that another client of the bus has sent.
package struct BusSignal: Hashable, Sendable {
  /// The unique name of the sender.
  package var sender: String
  package var path: String
  package var interface: String
  package var member: String
  package var body: [DBusValue]

  package init(sender: String, path: String, interface: String, member: String, body: [DBusValue]) {
    self.sender = sender
    self.path = path
    self.interface = interface
    self.member = member
    self.body = body
  }
}

/// An end of a pair of sockets, whose other end a client of the bus holds. Each packet is one value.
package protocol BusSocket: AnyObject, Sendable {
  /// Sends a packet. A packet for which the socket has no room is lost.
  func send(_ octets: [UInt8])
  /// Stops or continues the reception of packets.
  func setPaused(_ isPaused: Bool)
  /// Closes this end.
  func close()
}

/// The receiver of what happens on a bus. The bus calls all functions on the event loop of the service.
package protocol BusService: AnyObject, Sendable {
  /// Handles a call of a method that the service has declared.
  func handle(_ call: BusCall, _ answer: BusAnswer)
  /// Returns a property of an object; nil: it is not there now.
  func property(_ name: String, of interface: String, at path: String) -> DBusValue?
  /// Sets a property that is declared as writable.
  func setProperty(_ name: String, of interface: String, at path: String, to value: DBusValue, _ answer: BusAnswer)
  /// A client that is watched has left the bus.
  func clientVanished(_ client: String)
  /// A client that is watched has sent a signal.
  func received(_ signal: BusSignal)
}

/// A bus, as the service uses it. The service calls all functions on its event loop, and the bus calls the service on
/// that loop. Everything reaches the clients in the order of the calls.
package protocol BlueZBus: AnyObject, Sendable {
  /// Exports interfaces of an object, and announces them.
  func export(_ interfaces: [InterfaceDeclaration], at path: String, of service: any BusService)
  /// Removes interfaces of an object, and announces it.
  func unexport(_ interfaces: [String], at path: String)
  /// Sends a signal to all clients.
  func emit(_ member: String, of interface: String, at path: String, _ body: [DBusValue])
  /// Calls a method of a client; `then` gets the result.
  func call(
    _ member: String, of interface: String, at path: String, on client: String, _ arguments: [DBusValue],
    then: @escaping @Sendable (Result<[DBusValue], DBusError>) -> Void)
  /// Calls a method of a client that answers nothing.
  func send(_ member: String, of interface: String, at path: String, on client: String, _ arguments: [DBusValue])
  /// Reports the end of a client to `BusService.clientVanished`, and its signals to `BusService.received`.
  func watch(_ client: String, for service: any BusService)
  /// Creates a pair of sockets. `receive` gets the packets of the client, and nil when the client has closed its end.
  /// Returns this end, and the value that passes the client's end; nil: there is no descriptor left.
  func makeSocket(_ receive: @escaping @Sendable ([UInt8]?) -> Void) -> (end: any BusSocket, other: DBusValue)?
}
