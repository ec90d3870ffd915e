import NIOConcurrencyHelpers

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The thread that makes all calls of libdbus for one connection. It sends what others have queued, reads messages, and
/// waits for the socket, for the next deadline or for a wakeup.
final class DBusThread: @unchecked Sendable {
  // Unchecked: `watches` is used by `run` and the functions that it calls; the lock guards the rest.

  /// The receiver of what happens. The thread calls it.
  protocol Delegate: AnyObject, Sendable {
    /// The connection has a name on the bus.
    func opened(_ uniqueName: String)
    /// Messages have arrived. Afterwards, `handled` is called with their number, on any thread.
    func received(_ messages: [IncomingMessage])
    /// Handles the deadlines that have passed, and returns the next one.
    func passDeadlines(_ now: ContinuousClock.Instant) -> ContinuousClock.Instant?
    /// The connection could not be opened, or has ended. Called once.
    func ended(_ error: DBusError)
  }

  private struct Queue {
    var messages: [RawMessage] = []
    var jobs: [@Sendable () -> Void] = []
    var isAwake = false
    var isClosing = false
    var hasEnded = false
    /// The messages that were received and not handled yet.
    var unhandled = 0
  }

  /// Above this number of messages that are not handled yet, the thread reads no more: the bus keeps them.
  private static let maximumUnhandled = 2_000

  private let library: LibDBus
  private let address: String
  private let limits: DBusConnection.Limits
  private let delegate: any Delegate
  private let queue = NIOLockedValueBox(Queue())
  /// A pipe that ends the wait of the thread.
  private let wakeup: (read: CInt, write: CInt)
  private var watches: [LibDBus.Object] = []

  /// Starts the thread, which lives until the connection ends.
  init(_ library: LibDBus, address: String, limits: DBusConnection.Limits, delegate: any Delegate) throws(DBusError) {
    var ends: [CInt] = [0, 0]
    guard pipe(&ends) == 0 else { throw DBusError(DBusError.Name.limitsExceeded, "no file descriptors are left") }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    (self.library, self.address, self.limits, self.delegate) = (library, address, limits, delegate)
    wakeup = (ends[0], ends[1])
    let argument = Unmanaged.passRetained(self).toOpaque()
    #if canImport(Glibc) || canImport(Musl)
      var thread = pthread_t()
    #else
      var thread: pthread_t?
    #endif
    let result = pthread_create(
      &thread, nil,
      { argument in
        #if canImport(Darwin)
          Unmanaged<DBusThread>.fromOpaque(argument).takeRetainedValue().run()
        #else
          if let argument { Unmanaged<DBusThread>.fromOpaque(argument).takeRetainedValue().run() }
        #endif
        return nil
      }, argument)
    guard result == 0 else {
      Unmanaged<DBusThread>.fromOpaque(argument).release()
      throw DBusError(DBusError.Name.limitsExceeded, "can't start a thread")
    }
    #if canImport(Darwin)
      if let thread { pthread_detach(thread) }
    #else
      pthread_detach(thread)
    #endif
  }

  deinit {
    close(wakeup.read)
    close(wakeup.write)
  }

  // MARK: From any thread

  /// Queues a message.
  func send(_ message: RawMessage) {
    change { $0.messages.append(message) }
  }

  /// Runs a closure on the thread. Returns false if the thread has ended.
  func perform(_ job: @escaping @Sendable () -> Void) -> Bool { change { $0.jobs.append(job) } }

  /// Ends the connection when the queued messages are sent.
  func stop() { change { $0.isClosing = true } }

  /// Lets the thread look at its deadlines.
  func wake() { change { _ in } }

  /// Counts messages that were handled.
  func handled(_ count: Int) {
    let continues = queue.withLockedValue { queue in
      defer { queue.unhandled -= count }
      return queue.unhandled > Self.maximumUnhandled && queue.unhandled - count <= Self.maximumUnhandled
    }
    if continues { wake() }
  }

  /// Changes the queue, and wakes the thread. Returns false if the thread has ended.
  @discardableResult
  private func change(_ body: (inout Queue) -> Void) -> Bool {
    let isAsleep = queue.withLockedValue { queue -> Bool? in
      guard !queue.hasEnded else { return nil }
      body(&queue)
      defer { queue.isAwake = true }
      return !queue.isAwake
    }
    if isAsleep == true {
      var octet: UInt8 = 0
      _ = write(wakeup.write, &octet, 1)
    }
    return isAsleep != nil
  }

  // MARK: The thread

  private func run() {
    let (opened, error) = withFailure(library) { failure -> LibDBus.Object? in
      guard let connection = address.withCString({ library.open($0, failure) }) else { return nil }
      library.setExit(connection, 0)
      library.setMaximumMessageSize(connection, limits.maximumMessageSize)
      library.setMaximumReceivedSize(connection, 2 * limits.maximumMessageSize)
      guard library.register(connection, failure) != 0 else {
        library.close(connection)
        library.unref(connection)
        return nil
      }
      return connection
    }
    guard let connection = opened else { return end(error) }
    let isWatched = library.setWatches(
      connection,
      { watch, data in
        DBusThread.of(data)?.add(watch)
        return 1
      },
      { watch, data in DBusThread.of(data)?.remove(watch) }, { _, _ in },
      Unmanaged.passUnretained(self).toOpaque(), nil)
    if isWatched != 0 {
      delegate.opened(library.uniqueName(connection).map { String(cString: $0) } ?? "")
      while step(connection) {}
    }
    library.close(connection)
    // The watches go with the connection.
    while let message = library.popMessage(connection) { library.unrefMessage(message) }
    library.unref(connection)
    end(.disconnected)
  }

  private static func of(_ data: UnsafeMutableRawPointer?) -> DBusThread? {
    data.map { Unmanaged<DBusThread>.fromOpaque($0).takeUnretainedValue() }
  }

  private func add(_ watch: LibDBus.Object?) { if let watch { watches.append(watch) } }

  private func remove(_ watch: LibDBus.Object?) { watches.removeAll { $0 == watch } }

  private func end(_ error: DBusError) {
    let jobs = queue.withLockedValue { queue in
      queue.hasEnded = true
      queue.messages.removeAll()
      defer { queue.jobs.removeAll() }
      return queue.jobs
    }
    for job in jobs { job() }
    delegate.ended(error)
  }

  /// Sends, receives and waits once. Returns false when the connection has ended.
  private func step(_ connection: LibDBus.Object) -> Bool {
    let (outgoing, jobs, isClosing, isFull) = queue.withLockedValue { queue in
      defer {
        queue.messages.removeAll(keepingCapacity: true)
        queue.jobs.removeAll()
        queue.isAwake = false
      }
      return (queue.messages, queue.jobs, queue.isClosing, queue.unhandled > Self.maximumUnhandled)
    }
    for job in jobs { job() }
    for message in outgoing { _ = library.send(connection, message.object, nil) }
    let next = delegate.passDeadlines(.now)
    if !isFull { receive(connection) }
    guard library.isConnected(connection) != 0 else { return false }
    let isSending = library.hasMessagesToSend(connection) != 0
    if isClosing, !isSending { return false }
    wait(until: next, isReading: !isFull)
    return true
  }

  private func receive(_ connection: LibDBus.Object) {
    var messages: [IncomingMessage] = []
    while messages.count < 100, let object = library.popMessage(connection) {
      if let message = RawMessage(library, owning: object).read() { messages.append(message) }
    }
    guard !messages.isEmpty else { return }
    queue.withLockedValue { queue in
      queue.unhandled += messages.count
      // There may be more messages.
      if messages.count == 100 { queue.isAwake = true }
    }
    delegate.received(messages)
  }

  private func wait(until deadline: ContinuousClock.Instant?, isReading: Bool) {
    let readable: CUnsignedInt = 1
    let writable: CUnsignedInt = 2
    var polled = [pollfd(fd: wakeup.read, events: Int16(POLLIN), revents: 0)]
    var polledWatches: [LibDBus.Object] = []
    for watch in watches where library.watchIsEnabled(watch) != 0 {
      let flags = library.watchFlags(watch)
      let events = (flags & readable != 0 && isReading ? POLLIN : 0) | (flags & writable != 0 ? POLLOUT : 0)
      guard events != 0 else { continue }
      polled.append(pollfd(fd: library.watchDescriptor(watch), events: Int16(events), revents: 0))
      polledWatches.append(watch)
    }
    var timeout: CInt = -1
    if let deadline {
      let left = deadline - .now
      timeout = CInt(clamping: max(0, Int64(left / .milliseconds(1)) + 1))
    }
    if queue.withLockedValue({ $0.isAwake }) { timeout = 0 }
    guard poll(&polled, nfds_t(polled.count), timeout) > 0 else { return }
    if polled[0].revents != 0 {
      var octets = [UInt8](repeating: 0, count: 64)
      while read(wakeup.read, &octets, octets.count) == octets.count {}
    }
    for (watch, state) in zip(polledWatches, polled.dropFirst()) where state.revents != 0 {
      var flags: CUnsignedInt = 0
      if Int32(state.revents) & POLLIN != 0 { flags |= readable }
      if Int32(state.revents) & POLLOUT != 0 { flags |= writable }
      if Int32(state.revents) & POLLERR != 0 { flags |= 4 }
      if Int32(state.revents) & POLLHUP != 0 { flags |= 8 }
      // A watch that another one has just removed must not be used.
      if watches.contains(watch) { _ = library.handleWatch(watch, flags) }
    }
  }
}
