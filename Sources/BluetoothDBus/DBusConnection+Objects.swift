import NIOConcurrencyHelpers

/// The objects that a connection offers to other programs.
struct ExportedObjects {
  /// The interfaces by path and name.
  private(set) var interfaces: [String: [String: DBusInterface]] = [:]
  var managers: Set<String> = []

  /// Adds interfaces. Returns those that they replace.
  mutating func add(_ added: [DBusInterface], at path: String) -> [DBusInterface] {
    added.compactMap { interfaces[path, default: [:]].updateValue($0, forKey: $0.name) }
  }

  /// Removes interfaces; nil: all of the object. Returns those that were there.
  mutating func remove(_ names: [String]?, at path: String) -> [DBusInterface] {
    guard let object = interfaces[path] else { return [] }
    let removed = (names ?? object.keys.sorted()).compactMap { object[$0] }
    for interface in removed { interfaces[path]?[interface.name] = nil }
    if interfaces[path]?.isEmpty == true { interfaces[path] = nil }
    return removed
  }

  /// The nearest object manager at a path or above it.
  func manager(of path: String) -> String? {
    managers.filter { path.isPath(atOrBelow: $0) }.max { $0.utf8.count < $1.utf8.count }
  }

  /// Returns true if there is an object at a path, or below it.
  func hasNode(_ path: String) -> Bool {
    interfaces[path] != nil || managers.contains { $0.isPath(atOrBelow: path) }
      || interfaces.keys.contains { $0.isPath(atOrBelow: path) }
  }

  /// Returns the names of the nodes directly below a path.
  func children(of path: String) -> [String] {
    let prefix = path == "/" ? "/" : path + "/"
    let below = (Array(interfaces.keys) + managers).filter { $0.hasPrefix(prefix) && $0 != path }
    return Set(below.map { String($0.dropFirst(prefix.count).prefix { $0 != "/" }) }).subtracting([""]).sorted()
  }
}

extension DBusConnection {
  private static let properties = "org.freedesktop.DBus.Properties"
  private static let objectManager = "org.freedesktop.DBus.ObjectManager"

  // MARK: Offering objects

  /// Adds interfaces to the object at a path. Its object manager reports them.
  package func export(_ interfaces: [DBusInterface], at path: String) {
    // Replaced handlers are released outside of the lock: they may use the connection.
    let (replaced, manager) = state.withLockedValue { state in
      (state.objects.add(interfaces, at: path), state.objects.manager(of: path))
    }
    defer { withExtendedLifetime(replaced) {} }
    guard let manager else { return }
    emit("InterfacesAdded", of: Self.objectManager, at: manager, [.path(path), Self.description(of: interfaces)])
  }

  /// Removes interfaces from the object at a path; nil: all of them. Its object manager reports that.
  package func unexport(_ names: [String]? = nil, at path: String) {
    let (removed, manager) = state.withLockedValue { state in
      (state.objects.remove(names, at: path), state.objects.manager(of: path))
    }
    guard !removed.isEmpty, let manager else { return }
    emit("InterfacesRemoved", of: Self.objectManager, at: manager, [.path(path), .strings(removed.map(\.name))])
  }

  /// Offers an object manager of the objects at a path and below it.
  package func exportObjectManager(at path: String) {
    state.withLockedValue { _ = $0.objects.managers.insert(path) }
  }

  /// Withdraws the object manager at a path. The objects stay.
  package func withdrawObjectManager(at path: String) {
    state.withLockedValue { _ = $0.objects.managers.remove(path) }
  }

  /// Reports that properties have changed, with their values now. Call this function on the executor, as the values are
  /// read at once.
  package func propertiesChanged(_ names: [String], of interface: String, at path: String) {
    let declared = state.withLockedValue { $0.objects.interfaces[path]?[interface] }
    guard let declared else { return }
    var changed: [String: DBusValue] = [:]
    var invalidated: [String] = []
    for property in declared.properties where names.contains(property.name) {
      switch property.emission {
      case .constant, .none: continue
      case .invalidation: invalidated.append(property.name)
      case .change:
        if let value = property.value { changed[property.name] = value } else { invalidated.append(property.name) }
      }
    }
    guard !changed.isEmpty || !invalidated.isEmpty else { return }
    emit(
      "PropertiesChanged", of: Self.properties, at: path,
      [.string(interface), .properties(changed), .strings(invalidated)])
  }

  private static func description(of interfaces: [DBusInterface]) -> DBusValue {
    var entries: [DBusValue: DBusValue] = [:]
    for interface in interfaces { entries[.string(interface.name)] = .properties(interface.values()) }
    return .dictionary(entries, key: "s", value: "a{sv}")
  }

  // MARK: Taking calls

  /// Counts the end of a call of a client.
  func finishCall(of sender: String) {
    state.withLockedValue { state in
      guard let count = state.unanswered[sender] else { return }
      state.unanswered[sender] = count > 1 ? count - 1 : nil
    }
  }

  func takeCall(_ message: IncomingMessage) {
    let count = state.withLockedValue { state in
      state.unanswered[message.sender, default: 0] += 1
      return state.unanswered[message.sender] ?? 0
    }
    let responder = DBusResponder(self, to: message)
    guard count <= limits.callsPerSender else {
      return responder.fail(
        DBusError(DBusError.Name.limitsExceeded, "\(limits.callsPerSender) calls of this client are not answered"))
    }
    let path = message.header.path ?? "/"
    let objects = state.withLockedValue { $0.objects }
    if takeStandardCall(message, at: path, objects, responder) { return }
    guard objects.hasNode(path) else {
      return responder.fail(DBusError(DBusError.Name.unknownObject, "there is no object \(path)"))
    }
    let member = message.header.member ?? ""
    let candidates = (objects.interfaces[path] ?? [:]).filter { $0.key == message.header.interface ?? $0.key }
    let found = candidates.sorted { $0.key < $1.key }.lazy.compactMap { entry in
      entry.value.methods[member].map { (entry.key, $0) }
    }.first
    guard let (interface, method) = found, method.inputSignature == message.signature else {
      return responder.fail(Self.unknownMethod(message))
    }
    responder.expect(method.outputSignature)
    method.handle(
      DBusCall(
        sender: message.sender, path: path, interface: interface, member: member, arguments: message.body,
        expectsReply: !message.header.expectsNoReply), responder)
  }

  private static func unknownMethod(_ message: IncomingMessage) -> DBusError {
    DBusError(
      DBusError.Name.unknownMethod,
      "Method \"\(message.header.member ?? "")\" with signature \"\(message.signature)\" on interface"
        + " \"\(message.header.interface ?? "(null)")\" doesn't exist")
  }

  /// Takes a call of an interface that all objects have. Returns false if it is another one.
  private func takeStandardCall(
    _ message: IncomingMessage, at path: String, _ objects: ExportedObjects, _ responder: DBusResponder
  ) -> Bool {
    switch (message.header.interface, message.header.member, message.signature) {
    case ("org.freedesktop.DBus.Peer", "Ping", ""): responder.reply()
    case ("org.freedesktop.DBus.Peer", "GetMachineId", ""):
      guard let text = library.machineID() else {
        responder.fail(DBusError(DBusError.Name.failed, "this machine has no identifier"))
        return true
      }
      responder.reply([.string(String(cString: text))])
      library.free(text)
    case ("org.freedesktop.DBus.Introspectable", "Introspect", ""):
      guard objects.hasNode(path) else { return false }
      responder.reply([.string(Introspection.text(of: path, objects))])
    case (Self.objectManager, "GetManagedObjects", ""):
      guard objects.managers.contains(path) else { return false }
      var entries: [DBusValue: DBusValue] = [:]
      for (child, interfaces) in objects.interfaces where child.isPath(atOrBelow: path) && child != path {
        entries[.path(child)] = Self.description(of: Array(interfaces.values))
      }
      responder.reply([.dictionary(entries, key: "o", value: "a{sa{sv}}")])
    case (Self.properties, let member?, let signature):
      guard let object = objects.interfaces[path] else { return false }
      return takePropertyCall(member, signature, message, object, responder)
    default: return false
    }
    return true
  }

  /// Takes a call of `org.freedesktop.DBus.Properties`, with the errors of BlueZ.
  private func takePropertyCall(
    _ member: String, _ signature: String, _ message: IncomingMessage, _ object: [String: DBusInterface],
    _ responder: DBusResponder
  ) -> Bool {
    guard ["Get": "ss", "GetAll": "s", "Set": "ssv"][member] == signature, let name = message.body.first?.string
    else { return false }
    func refuse(_ error: String, _ text: String) -> Bool {
      responder.fail(DBusError(error, text))
      return true
    }
    guard let interface = object[name] else {
      return refuse(DBusError.Name.invalidArguments, "No such interface '\(name)'")
    }
    guard member != "GetAll" else {
      responder.reply([.properties(interface.values())])
      return true
    }
    let wanted = message.body[1].string ?? ""
    guard let property = interface.properties.first(where: { $0.name == wanted }) else {
      return refuse(DBusError.Name.invalidArguments, "No such property '\(wanted)'")
    }
    if member == "Get" {
      guard let value = property.value else {
        return refuse(DBusError.Name.invalidArguments, "No such property '\(wanted)'")
      }
      responder.reply([.variant(value)])
      return true
    }
    guard let set = property.set else {
      return refuse(DBusError.Name.propertyReadOnly, "Property '\(wanted)' is not writable")
    }
    guard case .variant(let value) = message.body[2], value.signature == property.signature else {
      return refuse(DBusError.Name.invalidSignature, "Invalid signature for '\(wanted)'")
    }
    responder.expect("")
    let call = DBusCall(
      sender: message.sender, path: message.header.path ?? "/", interface: name, member: wanted, arguments: [value],
      expectsReply: !message.header.expectsNoReply)
    set(value, call, responder)
    return true
  }
}
