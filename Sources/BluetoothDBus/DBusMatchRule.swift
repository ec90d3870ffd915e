/// The signals that a program wants from the bus · D-Bus Specification, "Match Rules". A part that is nil matches all.
package struct DBusMatchRule: Hashable, Sendable {
  /// A unique name, or a well-known one: then only signals of its owner match.
  package var sender: String?
  package var path: String?
  /// A path, with all paths below it.
  package var pathNamespace: String?
  package var interface: String?
  package var member: String?
  /// The first value, which is a text.
  package var argument0: String?

  package init(
    sender: String? = nil, path: String? = nil, pathNamespace: String? = nil, interface: String? = nil,
    member: String? = nil, argument0: String? = nil
  ) {
    (self.sender, self.path, self.pathNamespace) = (sender, path, pathNamespace)
    (self.interface, self.member, self.argument0) = (interface, member, argument0)
  }

  /// The rule as the bus reads it. An apostrophe ends a quoted text, so it stands outside.
  var text: String {
    let parts = [
      ("sender", sender), ("path", path), ("path_namespace", pathNamespace), ("interface", interface),
      ("member", member), ("arg0", argument0),
    ]
    return parts.reduce(into: "type='signal'") { text, part in
      guard let value = part.1 else { return }
      let quoted = value.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
      text += ",\(part.0)='\(quoted)'"
    }
  }

  /// The well-known name among the senders.
  var watchedName: String? {
    guard let sender, !sender.hasPrefix(":"), sender != DBusConnection.bus else { return nil }
    return sender
  }

  /// Returns true if a signal matches.
  ///
  /// - Parameter owner: the owner of `watchedName`.
  func matches(_ signal: DBusSignal, owner: String?) -> Bool {
    if watchedName != nil {
      guard let owner, signal.sender == owner else { return false }
    } else if let sender, signal.sender != sender {
      return false
    }
    if let path, signal.path != path { return false }
    if let pathNamespace, !signal.path.isPath(atOrBelow: pathNamespace) { return false }
    if let interface, signal.interface != interface { return false }
    if let member, signal.member != member { return false }
    if let argument0, case let first = signal.body.first, first != .string(argument0) { return false }
    return true
  }
}

extension String {
  /// Returns true if this path of an object is `root` or below it.
  func isPath(atOrBelow root: String) -> Bool {
    self == root || root == "/" || (utf8.count > root.utf8.count && hasPrefix(root + "/"))
  }
}

/// A signal that has arrived.
package struct DBusSignal: Hashable, Sendable {
  /// The unique name of the sender.
  package var sender: String
  package var path: String
  package var interface: String
  package var member: String
  package var body: [DBusValue]
}
