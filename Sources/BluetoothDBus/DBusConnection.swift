// Overview
//
// Services of Linux, such as BlueZ and the notifications of a desktop, are objects on a message bus: D-Bus.
// BluetoothDBus is a connection to such a bus, for clients and for services.
//
// The idea: libdbus-1 has the octets, the authentication and the file descriptors; it is loaded at run time. One thread
// for each connection calls it. Above it are values of Swift, declarations of interfaces with their handlers, and the
// rules that every client and service needs: deadlines of calls, limits, owners of names, properties, object managers.
//
// Callers: BluetoothServer shows alerts and questions on a desktop; adapters and services of BlueZ.
//
// Invariants:
// - The functions of a connection can be called from any thread. Its handlers run on its executor, one after the other,
//   in the order of the messages.
// - libdbus ends a program that gives it an invalid name or value: all of them are checked before.
// - A message of others gives a value or an error, never a trap. Each queue has a limit.
// - The module has no rule of a service.
//
// Where to begin: this file, then `DBusConnection+Objects.swift` for services, `DBusValue.swift` for values, and
// `DBusThread.swift` for the thread.
//
// Specification: D-Bus Specification.

import NIOConcurrencyHelpers

/// A connection to a message bus.
///
/// All functions can be called from any thread. Handlers run on the connection's executor, in the order of the messages.
package final class DBusConnection: Sendable {
  /// Runs closures in turn.
  package typealias Executor = @Sendable (@escaping @Sendable () -> Void) -> Void

  /// The limits of a connection. A call above a limit fails with `LimitsExceeded`.
  package struct Limits: Sendable {
    /// The longest message, in octets.
    package var maximumMessageSize = 4 << 20
    /// The number of calls of this connection that wait for their replies.
    package var pendingCalls = 1_000
    /// The number of calls of one client that its services have not answered.
    package var callsPerSender = 256

    package init() {}
  }

  /// A call that waits for its reply.
  struct PendingCall {
    let deadline: ContinuousClock.Instant?
    let then: @Sendable (Result<DBusReply, DBusError>) -> Void
  }

  /// The state that the lock guards.
  struct State {
    var uniqueName = ""
    var hasEnded = false
    var nextSerial: UInt32 = 1_000
    var pending: [UInt32: PendingCall] = [:]
    /// No deadline of `pending` is earlier.
    var nextDeadline: ContinuousClock.Instant?
    var closeHandlers: [@Sendable () -> Void] = []
    var subscriptions = Subscriptions()
    var objects = ExportedObjects()
    /// The number of calls of each client that are not answered.
    var unanswered: [String: Int] = [:]
  }

  let library: LibDBus
  let limits: Limits
  private let executor: Executor?
  let state = NIOLockedValueBox(State())
  private let thread = NIOLockedValueBox<DBusThread?>(nil)
  private let onOpen: NIOLockedValueBox<(@Sendable (Result<DBusConnection, DBusError>) -> Void)?>

  private init(
    _ library: LibDBus, _ limits: Limits, _ executor: Executor?,
    _ onOpen: @escaping @Sendable (Result<DBusConnection, DBusError>) -> Void
  ) {
    (self.library, self.limits, self.executor) = (library, limits, executor)
    self.onOpen = NIOLockedValueBox(onOpen)
  }

  // MARK: Opening

  /// Connects to a bus.
  ///
  /// - Parameters:
  ///   - executor: runs the handlers; nil: the connection's own thread, which handlers must not block.
  ///   - then: gets the connection, on the executor. The connection lives until it is closed.
  package static func open(
    _ bus: DBusAddress, limits: Limits = Limits(), executor: Executor? = nil,
    then: @escaping @Sendable (Result<DBusConnection, DBusError>) -> Void
  ) {
    do throws(DBusError) {
      let library = try LibDBus.load()
      let address = try bus.text()
      try DBusConnection(library, limits, executor, then).start(address)
    } catch {
      let executor = executor ?? { $0() }
      executor { then(.failure(error)) }
    }
  }

  /// Starts the thread, which keeps the connection. Its first events wait until it is stored.
  private func start(_ address: String) throws(DBusError) {
    let events = ThreadEvents(connection: self)
    let result = thread.withLockedValue { thread -> Result<Void, DBusError> in
      do throws(DBusError) {
        thread = try DBusThread(library, address: address, limits: limits, delegate: events)
        return .success(())
      } catch { return .failure(error) }
    }
    try result.get()
  }

  /// Connects to a bus.
  package static func open(
    _ bus: DBusAddress, limits: Limits = Limits(), executor: Executor? = nil
  ) async throws(DBusError) -> DBusConnection {
    try await withCheckedContinuation { continuation in
      open(bus, limits: limits, executor: executor) { continuation.resume(returning: $0) }
    }.get()
  }

  /// The name that the bus has given to this connection, such as `:1.42`.
  package var uniqueName: String { state.withLockedValue { $0.uniqueName } }

  /// Sends the messages that are queued, and ends the connection.
  package func close() { thread.withLockedValue { $0 }?.stop() }

  /// Calls `handler` once when the connection has ended, by either side.
  package func whenClosed(_ handler: @escaping @Sendable () -> Void) {
    let hasEnded = state.withLockedValue { state in
      if !state.hasEnded { state.closeHandlers.append(handler) }
      return state.hasEnded
    }
    if hasEnded { perform(handler) }
  }

  /// Runs a closure on the executor. After the end of a connection without an executor, it runs at once.
  func perform(_ body: @escaping @Sendable () -> Void) {
    if let executor { return executor(body) }
    if thread.withLockedValue({ $0 })?.perform(body) != true { body() }
  }

  /// Runs a closure of the thread on the executor.
  private func deliver(_ body: @escaping @Sendable () -> Void) {
    if let executor { executor(body) } else { body() }
  }

  // MARK: Sending

  /// Makes and queues a message. Returns false if the connection has ended.
  @discardableResult
  func post(_ header: MessageHeader, _ body: [DBusValue], serial: UInt32? = nil) throws(DBusError) -> Bool {
    let message = try RawMessage(header, body, limit: limits.maximumMessageSize, library)
    return state.withLockedValue { state in
      guard !state.hasEnded else { return false }
      let number = serial ?? Self.takeSerial(&state)
      library.setSerial(message.object, number)
      thread.withLockedValue { $0 }?.send(message)
      return true
    }
  }

  private static func takeSerial(_ state: inout State) -> UInt32 {
    state.nextSerial &+= 1
    if state.nextSerial < 1_000 { state.nextSerial = 1_000 }
    return state.nextSerial
  }

  private static func header(
    _ member: String, _ interface: String, _ path: String, _ destination: String, startsService: Bool
  ) -> MessageHeader {
    var header = MessageHeader(.call)
    header.path = path
    header.interface = interface
    header.member = member
    header.destination = destination
    header.startsService = startsService
    return header
  }

  /// Calls a method of an object.
  ///
  /// - Parameters:
  ///   - timeout: the time after which the call fails with `NoReply`; nil: no limit.
  ///   - startsService: true if the bus may start a program that owns the name `destination`.
  package func call(
    _ member: String, of interface: String, at path: String, on destination: String, _ arguments: [DBusValue] = [],
    timeout: Duration? = .seconds(25), startsService: Bool = true,
    then: @escaping @Sendable (Result<DBusReply, DBusError>) -> Void
  ) {
    let header = Self.header(member, interface, path, destination, startsService: startsService)
    let deadline = timeout.map { ContinuousClock.now + $0 }
    let (serial, problem) = state.withLockedValue { state -> (UInt32, DBusError?) in
      guard !state.hasEnded else { return (0, .disconnected) }
      guard state.pending.count < limits.pendingCalls else {
        return (0, DBusError(DBusError.Name.limitsExceeded, "\(limits.pendingCalls) calls wait for their replies"))
      }
      let serial = Self.takeSerial(&state)
      state.pending[serial] = PendingCall(deadline: deadline, then: then)
      if let deadline { state.nextDeadline = min(state.nextDeadline ?? deadline, deadline) }
      return (serial, nil)
    }
    if let problem { return perform { then(.failure(problem)) } }
    do throws(DBusError) { try post(header, arguments, serial: serial) } catch { finish(serial, .failure(error)) }
  }

  /// Calls a method of an object.
  @discardableResult
  package func call(
    _ member: String, of interface: String, at path: String, on destination: String, _ arguments: [DBusValue] = [],
    timeout: Duration? = .seconds(25), startsService: Bool = true
  ) async throws(DBusError) -> DBusReply {
    try await withCheckedContinuation { continuation in
      call(
        member, of: interface, at: path, on: destination, arguments, timeout: timeout, startsService: startsService
      ) { continuation.resume(returning: $0) }
    }.get()
  }

  /// Calls a method, and asks for no reply. A message that can't be made is not sent.
  package func send(
    _ member: String, of interface: String, at path: String, on destination: String, _ arguments: [DBusValue] = []
  ) {
    var header = Self.header(member, interface, path, destination, startsService: false)
    header.expectsNoReply = true
    _ = try? post(header, arguments)
  }

  private func finish(_ serial: UInt32, _ result: Result<DBusReply, DBusError>) {
    guard let call = state.withLockedValue({ $0.pending.removeValue(forKey: serial) }) else { return }
    perform { call.then(result) }
  }

  // MARK: Receiving, on the thread

  /// The events of the thread. The thread keeps the connection until it ends.
  private final class ThreadEvents: DBusThread.Delegate {
    private let connection: DBusConnection

    init(connection: DBusConnection) { self.connection = connection }

    func opened(_ uniqueName: String) {
      connection.state.withLockedValue { $0.uniqueName = uniqueName }
      let connection = connection
      guard let then = connection.takeOnOpen() else { return }
      connection.deliver { then(.success(connection)) }
    }

    func received(_ messages: [IncomingMessage]) {
      let connection = connection
      connection.deliver {
        for message in messages { connection.handle(message) }
        connection.thread.withLockedValue { $0 }?.handled(messages.count)
      }
    }

    func passDeadlines(_ now: ContinuousClock.Instant) -> ContinuousClock.Instant? { connection.passDeadlines(now) }

    func ended(_ error: DBusError) { connection.ended(error) }
  }

  private func takeOnOpen() -> (@Sendable (Result<DBusConnection, DBusError>) -> Void)? {
    onOpen.withLockedValue { onOpen in
      defer { onOpen = nil }
      return onOpen
    }
  }

  private func passDeadlines(_ now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
    let (late, next) = state.withLockedValue { state -> ([PendingCall], ContinuousClock.Instant?) in
      guard let first = state.nextDeadline, first <= now else { return ([], state.nextDeadline) }
      var late: [PendingCall] = []
      for (serial, call) in state.pending.sorted(by: { $0.key < $1.key }) {
        if let deadline = call.deadline, deadline <= now {
          late.append(call)
          state.pending[serial] = nil
        }
      }
      state.nextDeadline = state.pending.values.compactMap(\.deadline).min()
      return (late, state.nextDeadline)
    }
    for call in late {
      let error = DBusError(DBusError.Name.noReply, "no reply within the time limit")
      deliver { call.then(.failure(error)) }
    }
    return next
  }

  private func ended(_ error: DBusError) {
    let then = takeOnOpen()
    // What is dropped is released outside of the lock: it may use the connection.
    let former = state.withLockedValue { state in
      defer {
        let name = state.uniqueName
        state = State()
        (state.uniqueName, state.hasEnded) = (name, true)
      }
      return state
    }
    let calls = former.pending.sorted { $0.key < $1.key }.map(\.value)
    let handlers = former.closeHandlers
    thread.withLockedValue { $0 = nil }
    deliver {
      then?(.failure(error))
      for call in calls { call.then(.failure(error)) }
      for handler in handlers { handler() }
    }
  }

  /// Handles a message on the executor.
  private func handle(_ message: IncomingMessage) {
    switch message.header.kind {
    case .reply: take(message.header.replySerial, .success(DBusReply(sender: message.sender, body: message.body)))
    case .error:
      let error = DBusError(message.header.errorName ?? DBusError.Name.failed, message.body.first?.string ?? "")
      take(message.header.replySerial, .failure(error))
    case .signal: takeSignal(message)
    case .call: takeCall(message)
    }
  }

  private func take(_ serial: UInt32, _ result: Result<DBusReply, DBusError>) {
    state.withLockedValue { $0.pending.removeValue(forKey: serial) }?.then(result)
  }
}

/// The reply to a call.
package struct DBusReply: Sendable {
  /// The unique name of the program that has answered.
  package var sender: String
  package var body: [DBusValue]
}
