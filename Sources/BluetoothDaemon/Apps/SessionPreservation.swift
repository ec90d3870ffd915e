import BluetoothWire

/// The relation of a session to the restoration of its app.
enum SessionPreservation {
  /// The session ends with its app.
  case endsWithApp
  /// The system preserves the session under this identifier when it terminates the app.
  case possible(String)
  /// The app has ended. The events of the session wait for a new session with this identifier.
  case preserved(String)
  /// The session has been preserved under this identifier, and the session with this key uses it now. The client that
  /// opened it has no effect on it.
  case resumed(String, by: SlotKey)
  /// This session uses the preserved one with this key, which has all state.
  case uses(SlotKey)

  /// True if the session has no client until a new session takes it over.
  var isPreserved: Bool { if case .preserved = self { true } else { false } }

  /// True if another session has the state of this one.
  var isForwarder: Bool { if case .uses = self { true } else { false } }

  /// Returns the key of the session that has the state of the session with this key, which a client has named; nil: the
  /// client has no effect any more.
  func target(_ key: SlotKey) -> SlotKey? {
    switch self {
    case .endsWithApp, .possible: key
    case .preserved, .resumed: nil
    case .uses(let target): target
    }
  }

  /// The identifier under which the session is preserved when its app is terminated; nil: it is not.
  var identifier: String? {
    switch self {
    case .possible(let identifier), .preserved(let identifier), .resumed(let identifier, _): identifier
    case .endsWithApp, .uses: nil
    }
  }
}
