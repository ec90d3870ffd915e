/// The declaration of an interface with its handlers. Introspection is made from it.
package struct DBusInterface: Sendable {
  package let name: String
  let methods: [String: DBusMethod]
  let properties: [DBusProperty]
  let signals: [DBusSignalDeclaration]

  package init(
    _ name: String, methods: [DBusMethod] = [], properties: [DBusProperty] = [], signals: [DBusSignalDeclaration] = []
  ) {
    self.name = name
    self.methods = Dictionary(methods.map { ($0.name, $0) }) { _, last in last }
    self.properties = properties
    self.signals = signals
  }

  /// Returns the values of the properties that are there now.
  func values() -> [String: DBusValue] {
    var result: [String: DBusValue] = [:]
    for property in properties { if let value = property.value { result[property.name] = value } }
    return result
  }
}

/// The declaration of a method.
package struct DBusMethod: Sendable {
  package let name: String
  let inputs: [(name: String, signature: String)]
  let outputs: [(name: String, signature: String)]
  let isNoReply: Bool
  let handle: @Sendable (DBusCall, DBusResponder) -> Void

  /// - Parameters:
  ///   - in: the names and the signatures of the arguments. Calls with other arguments are refused.
  ///   - out: those of the results.
  ///   - isNoReply: true if callers need no reply.
  ///   - handle: answers a call, at once or later.
  package init(
    _ name: String, in inputs: KeyValuePairs<String, String> = [:], out outputs: KeyValuePairs<String, String> = [:],
    isNoReply: Bool = false, handle: @escaping @Sendable (DBusCall, DBusResponder) -> Void
  ) {
    self.name = name
    self.inputs = inputs.map { ($0.key, $0.value) }
    self.outputs = outputs.map { ($0.key, $0.value) }
    self.isNoReply = isNoReply
    self.handle = handle
  }

  var inputSignature: String { inputs.map(\.signature).joined() }
  var outputSignature: String { outputs.map(\.signature).joined() }
}

/// The declaration of a property.
package struct DBusProperty: Sendable {
  /// The signal that follows a change · D-Bus Specification, "Introspection Data Format", EmitsChangedSignal.
  package enum Emission: String, Sendable {
    case change = "true"
    case invalidation = "invalidates"
    case constant = "const"
    case none = "false"
  }

  package let name: String
  package let signature: String
  let emission: Emission
  private let get: @Sendable () -> DBusValue?
  let set: (@Sendable (DBusValue, DBusCall, DBusResponder) -> Void)?

  /// - Parameters:
  ///   - get: the value; nil: the property is not there now.
  ///   - set: takes a value with the signature, and answers the call; nil: the property is read-only.
  package init(
    _ name: String, _ signature: String, emits emission: Emission = .change, get: @escaping @Sendable () -> DBusValue?,
    set: (@Sendable (DBusValue, DBusCall, DBusResponder) -> Void)? = nil
  ) {
    (self.name, self.signature, self.emission) = (name, signature, emission)
    (self.get, self.set) = (get, set)
  }

  /// The value; nil: the property is not there now. Values of a wrong type are left out: some clients end when they
  /// see one.
  var value: DBusValue? {
    guard let value = get() else { return nil }
    assert(value.signature == signature, "\(name) is \(value.signature) instead of \(signature)")
    return value.signature == signature ? value : nil
  }
}

/// The declaration of a signal, for introspection.
package struct DBusSignalDeclaration: Sendable {
  let name: String
  let arguments: [(name: String, signature: String)]

  package init(_ name: String, _ arguments: KeyValuePairs<String, String> = [:]) {
    self.name = name
    self.arguments = arguments.map { ($0.key, $0.value) }
  }
}

/// A call of a method that has arrived.
package struct DBusCall: Sendable {
  /// The unique name of the caller.
  package let sender: String
  package let path: String
  package let interface: String
  package let member: String
  /// The arguments. They have the signature of the declaration.
  package let arguments: [DBusValue]
  package let expectsReply: Bool
}
