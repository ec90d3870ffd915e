import NIOConcurrencyHelpers

/// The subscriptions of a connection to signals and to the owners of names.
struct Subscriptions {
  /// A name whose owner is watched.
  struct Name {
    var owner: String?
    /// True when the bus has told the owner.
    var isKnown = false
    var watchers: [Int: @Sendable (String?) -> Void] = [:]
  }

  private var lastID = 0
  var signals: [Int: (rule: DBusMatchRule, handler: @Sendable (DBusSignal) -> Void)] = [:]
  var names: [String: Name] = [:]
  /// The number of users of each rule at the bus.
  var rules: [DBusMatchRule: Int] = [:]

  mutating func makeID() -> Int {
    lastID += 1
    return lastID
  }

  /// Returns the handlers of a signal, in the order of their subscriptions.
  func handlers(of signal: DBusSignal) -> [@Sendable (DBusSignal) -> Void] {
    signals.filter { entry in
      let rule = entry.value.rule
      return rule.matches(signal, owner: rule.watchedName.flatMap { names[$0]?.owner })
    }.sorted { $0.key < $1.key }.map(\.value.handler)
  }
}

/// A subscription to signals or to the owner of a name. It ends by `cancel()`, or when the last reference goes.
package final class DBusSubscription: Sendable {
  private let end: NIOLockedValueBox<(@Sendable () -> Void)?>

  /// - Parameter end: called once, at the end of the subscription.
  package init(_ end: @escaping @Sendable () -> Void) { self.end = NIOLockedValueBox(end) }

  deinit { cancel() }

  package func cancel() {
    let end = end.withLockedValue { end in
      defer { end = nil }
      return end
    }
    end?()
  }
}

extension DBusConnection {
  /// The name and the interface of the bus itself.
  package static let bus = "org.freedesktop.DBus"
  private static let busPath = "/org/freedesktop/DBus"

  /// Calls a method of the bus.
  private func callBus(
    _ member: String, _ arguments: [DBusValue],
    _ then: @escaping @Sendable (Result<DBusReply, DBusError>) -> Void = { _ in }
  ) {
    call(member, of: Self.bus, at: Self.busPath, on: Self.bus, arguments, then: then)
  }

  // MARK: Signals

  /// Sends a signal.
  ///
  /// - Parameter destination: the one program that gets it; nil: all that have asked for such signals.
  package func emit(
    _ member: String, of interface: String, at path: String, _ body: [DBusValue] = [], to destination: String? = nil
  ) {
    var header = MessageHeader(.signal)
    (header.path, header.interface, header.member) = (path, interface, member)
    header.destination = destination
    _ = try? post(header, body)
  }

  /// Calls `handler` for each signal that matches a rule.
  package func subscribe(
    _ rule: DBusMatchRule, _ handler: @escaping @Sendable (DBusSignal) -> Void
  ) -> DBusSubscription {
    let owner = rule.watchedName.map { watchName($0) { _ in } }
    let id = state.withLockedValue { state in
      let id = state.subscriptions.makeID()
      state.subscriptions.signals[id] = (rule, handler)
      return id
    }
    addRule(rule)
    return DBusSubscription { [weak self] in
      owner?.cancel()
      // The handler is released outside of the lock: it may own other subscriptions.
      guard let self, let removed = state.withLockedValue({ $0.subscriptions.signals.removeValue(forKey: id) })
      else { return }
      withExtendedLifetime(removed) { self.removeRule(rule) }
    }
  }

  private func addRule(_ rule: DBusMatchRule) {
    let isFirst = state.withLockedValue { state in
      state.subscriptions.rules[rule, default: 0] += 1
      return state.subscriptions.rules[rule] == 1
    }
    if isFirst { callBus("AddMatch", [.string(rule.text)]) }
  }

  private func removeRule(_ rule: DBusMatchRule) {
    let wasLast = state.withLockedValue { state in
      guard let count = state.subscriptions.rules[rule] else { return false }
      state.subscriptions.rules[rule] = count > 1 ? count - 1 : nil
      return count == 1
    }
    if wasLast { callBus("RemoveMatch", [.string(rule.text)]) }
  }

  func takeSignal(_ message: IncomingMessage) {
    let signal = DBusSignal(
      sender: message.sender, path: message.header.path ?? "", interface: message.header.interface ?? "",
      member: message.header.member ?? "", body: message.body)
    if signal.sender == Self.bus, signal.member == "NameOwnerChanged", signal.body.count == 3,
      let name = signal.body[0].string, let owner = signal.body[2].string
    {
      setOwner(owner.isEmpty ? nil : owner, of: name)
    }
    for handler in state.withLockedValue({ $0.subscriptions.handlers(of: signal) }) { handler(signal) }
  }

  // MARK: Names

  /// Asks for a well-known name, without a place in the queue for it. The result is false if another program owns it.
  package func requestName(_ name: String, then: @escaping @Sendable (Result<Bool, DBusError>) -> Void) {
    let doNotQueue: UInt32 = 4
    callBus("RequestName", [.string(name), .uint32(doNotQueue)]) { result in
      // 1: primary owner; 4: already the owner.
      then(result.map { [1, 4].contains($0.body.first?.integer) })
    }
  }

  /// Asks for a well-known name. Returns false if another program owns it.
  package func requestName(_ name: String) async throws(DBusError) -> Bool {
    try await withCheckedContinuation { continuation in
      requestName(name) { continuation.resume(returning: $0) }
    }.get()
  }

  package func releaseName(_ name: String) { callBus("ReleaseName", [.string(name)]) }

  /// Calls `handler` with the owner of a name when the bus has told it, and after each change; nil: there is no owner.
  package func watchName(
    _ name: String, _ handler: @escaping @Sendable (_ owner: String?) -> Void
  ) -> DBusSubscription {
    let rule = DBusMatchRule(
      sender: Self.bus, interface: Self.bus, member: "NameOwnerChanged", argument0: name)
    let (id, isFirst) = state.withLockedValue { state in
      let id = state.subscriptions.makeID()
      let isFirst = state.subscriptions.names[name] == nil
      state.subscriptions.names[name, default: .init()].watchers[id] = handler
      return (id, isFirst)
    }
    addRule(rule)
    if isFirst {
      callBus("GetNameOwner", [.string(name)]) { [weak self] result in
        switch result {
        case .success(let reply): self?.setOwner(reply.body.first?.string, of: name)
        case .failure(let error): if error.name != DBusError.Name.disconnected { self?.setOwner(nil, of: name) }
        }
      }
    } else {
      perform { [weak self] in self?.tellOwner(of: name, to: id) }
    }
    return DBusSubscription { [weak self] in
      guard let self else { return }
      let removed = state.withLockedValue { state -> (@Sendable (String?) -> Void)? in
        let removed = state.subscriptions.names[name]?.watchers.removeValue(forKey: id)
        if state.subscriptions.names[name]?.watchers.isEmpty == true { state.subscriptions.names[name] = nil }
        return removed
      }
      if let removed { withExtendedLifetime(removed) { self.removeRule(rule) } }
    }
  }

  /// Tells a later watcher an owner that is known already.
  private func tellOwner(of name: String, to id: Int) {
    let known = state.withLockedValue { state -> (owner: String?, handler: @Sendable (String?) -> Void)? in
      guard let watched = state.subscriptions.names[name], watched.isKnown, let handler = watched.watchers[id]
      else { return nil }
      return (watched.owner, handler)
    }
    if let known { known.handler(known.owner) }
  }

  private func setOwner(_ owner: String?, of name: String) {
    let handlers = state.withLockedValue { state -> [@Sendable (String?) -> Void] in
      guard let watched = state.subscriptions.names[name], !watched.isKnown || watched.owner != owner else { return [] }
      state.subscriptions.names[name]?.owner = owner
      state.subscriptions.names[name]?.isKnown = true
      return watched.watchers.sorted { $0.key < $1.key }.map(\.value)
    }
    for handler in handlers { handler(owner) }
  }

  /// Calls `handler` once when a client has left the bus.
  ///
  /// - Parameter client: the unique name of the client, as of `DBusCall.sender`.
  package func whenVanished(_ client: String, _ handler: @escaping @Sendable () -> Void) -> DBusSubscription {
    let hasVanished = NIOLockedValueBox(false)
    return watchName(client) { owner in
      guard owner == nil, !hasVanished.withLockedValue({ exchange(&$0, with: true) }) else { return }
      handler()
    }
  }
}

/// Sets a value, and returns the former one.
private func exchange<Value>(_ value: inout Value, with new: Value) -> Value {
  defer { value = new }
  return value
}
