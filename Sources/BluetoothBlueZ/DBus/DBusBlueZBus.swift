import BluetoothDBus
import NIOCore

/// The bus of the service on a connection to a message bus. All functions are called on the event loop of the service,
/// which is the executor of the connection.
package final class DBusBlueZBus: BlueZBus, @unchecked Sendable {
  // Unchecked: the subscriptions and the counts are accessed on the loop only.
  private let connection: DBusConnection
  private let loop: any EventLoop
  private var subscriptions: [String: [DBusSubscription]] = [:]
  /// The number of calls that each client has not answered.
  private var unanswered: [String: Int] = [:]

  /// The most calls that one client leaves open. A call above it fails, so that the calls to others have places.
  private static let maximumUnanswered = 64

  private init(_ connection: DBusConnection, on loop: any EventLoop) {
    self.connection = connection
    self.loop = loop
  }

  /// The well-known name of the service.
  package static let name = "org.bluez"

  /// Connects to a bus, exports the objects of a service and takes the name `org.bluez`.
  ///
  /// - Parameters:
  ///   - loop: the loop that runs the service.
  ///   - makeService: makes the service of the connected bus; called on the loop.
  package static func serve(
    on bus: DBusAddress, loop: any EventLoop,
    _ makeService: @escaping @Sendable (DBusBlueZBus) -> BlueZServer
  ) async throws(DBusError) -> RunningBlueZ {
    let connection = try await DBusConnection.open(bus, executor: { loop.execute($0) })
    connection.exportObjectManager(at: "/")
    let bus = DBusBlueZBus(connection, on: loop)
    let server: BlueZServer
    do {
      server = try await loop.submit {
        let server = makeService(bus)
        server.begin()
        return server
      }.get()
    } catch { throw DBusError(DBusError.Name.failed, "\(error)") }
    let running = RunningBlueZ(server, connection, on: loop)
    guard try await connection.requestName(name) else {
      await running.stop()
      throw DBusError(DBusError.Name.accessDenied, "another program serves \(name) on this bus: stop bluetoothd")
    }
    return running
  }

  package func export(_ interfaces: [InterfaceDeclaration], at path: String, of service: any BusService) {
    connection.export(interfaces.map { Self.interface($0, at: path, of: service) }, at: path)
  }

  private static func interface(
    _ declaration: InterfaceDeclaration, at path: String, of service: any BusService
  ) -> DBusInterface {
    let name = declaration.name
    let methods = declaration.methods.map { (method: InterfaceDeclaration.Method) -> DBusMethod in
      let member = method.name
      return DBusMethod(member, in: pairs(method.input), out: pairs(method.output)) {
        [weak service] (call: DBusCall, responder: DBusResponder) in
        service?.handle(
          BusCall(sender: call.sender, path: path, interface: name, member: member, arguments: call.arguments),
          answer(responder))
      }
    }
    let properties = declaration.properties.map { (property: InterfaceDeclaration.Property) -> DBusProperty in
      let member = property.name
      var set: (@Sendable (DBusValue, DBusCall, DBusResponder) -> Void)?
      if property.isWritable {
        set = { [weak service] value, _, responder in
          service?.setProperty(member, of: name, at: path, to: value, answer(responder))
        }
      }
      return DBusProperty(
        member, property.signature, get: { [weak service] in service?.property(member, of: name, at: path) }, set: set)
    }
    return DBusInterface(name, methods: methods, properties: properties)
  }

  private static func answer(_ responder: DBusResponder) -> BusAnswer {
    BusAnswer { result in
      switch result {
      case .success(let values): responder.reply(values)
      case .failure(let error): responder.fail(error)
      }
    }
  }

  /// Returns the arguments of a method, which has at most three.
  private static func pairs(_ arguments: [InterfaceDeclaration.Argument]) -> KeyValuePairs<String, String> {
    let all = arguments.map { ($0.name, $0.signature) }
    return switch all.count {
    case 0: [:]
    case 1: [all[0].0: all[0].1]
    case 2: [all[0].0: all[0].1, all[1].0: all[1].1]
    default: [all[0].0: all[0].1, all[1].0: all[1].1, all[2].0: all[2].1]
    }
  }

  package func unexport(_ interfaces: [String], at path: String) { connection.unexport(interfaces, at: path) }

  package func emit(_ member: String, of interface: String, at path: String, _ body: [DBusValue]) {
    connection.emit(member, of: interface, at: path, body)
  }

  package func call(
    _ member: String, of interface: String, at path: String, on client: String, _ arguments: [DBusValue],
    then: @escaping @Sendable (Result<[DBusValue], DBusError>) -> Void
  ) {
    loop.preconditionInEventLoop()
    let count = unanswered[client] ?? 0
    guard count < Self.maximumUnanswered else {
      return then(.failure(DBusError(DBusError.Name.limitsExceeded, "the client does not answer")))
    }
    unanswered[client] = count + 1
    connection.call(
      member, of: interface, at: path, on: client, arguments, timeout: .seconds(60), startsService: false
    ) { [weak self] result in
      if let self, let count = unanswered[client] { unanswered[client] = count > 1 ? count - 1 : nil }
      then(result.map(\.body))
    }
  }

  package func send(
    _ member: String, of interface: String, at path: String, on client: String, _ arguments: [DBusValue]
  ) {
    connection.send(member, of: interface, at: path, on: client, arguments)
  }

  package func watch(_ client: String, for service: any BusService) {
    loop.preconditionInEventLoop()
    let end = connection.whenVanished(client) { [weak self, weak service] in
      self?.subscriptions[client] = nil
      service?.clientVanished(client)
    }
    let signals = connection.subscribe(DBusMatchRule(sender: client)) { [weak service] signal in
      service?.received(
        BusSignal(
          sender: signal.sender, path: signal.path, interface: signal.interface, member: signal.member,
          body: signal.body))
    }
    subscriptions[client] = [end, signals]
  }

  package func makeSocket(
    _ receive: @escaping @Sendable ([UInt8]?) -> Void
  ) -> (end: any BusSocket, other: DBusValue)? {
    PacketSocket.makePair(on: loop, receive).map { pair in
      (pair.end, .fileDescriptor(DBusFileDescriptor(owning: pair.other)))
    }
  }
}

/// A service that runs on a bus.
package final class RunningBlueZ: Sendable {
  private let server: BlueZServer
  private let connection: DBusConnection
  private let loop: any EventLoop

  fileprivate init(_ server: BlueZServer, _ connection: DBusConnection, on loop: any EventLoop) {
    self.server = server
    self.connection = connection
    self.loop = loop
  }

  /// Calls `handler` when the bus has ended.
  package func whenClosed(_ handler: @escaping @Sendable () -> Void) { connection.whenClosed(handler) }

  /// Waits until each adapter has told whether it is on.
  package func waitUntilReady() async {
    let (server, loop) = (server, loop)
    await withCheckedContinuation { continuation in
      loop.execute { server.whenReady { continuation.resume() } }
    }
  }

  /// Ends the sessions of the service, and then its connection. Nothing calls the service afterwards.
  package func stop() async {
    let server = server
    try? await loop.submit { server.stop() }.get()
    await withCheckedContinuation { continuation in
      connection.whenClosed { continuation.resume() }
      connection.close()
    }
  }
}
