/// The backlogs of apps that do not keep up with their events, as far as one input concerns them.
struct Backlogs {
  /// The client whose backlog the latest event found full.
  private var full: SessionClient?
  private var discardedValues = 0
  /// The lines that wait to be logged: one for the discarded values, and one for each link that was ended.
  private var notes: [String] = []
  private static let maximumNotes = 32

  /// Notes that an event for this client has found its backlog full.
  mutating func noteFull(_ client: SessionClient?) { full = client }

  /// Removes and returns the client whose backlog the latest event found full; nil: none.
  mutating func takeFull() -> SessionClient? { full.take() }

  /// Forgets the backlogs that earlier events found full.
  mutating func forgetFull() { full = nil }

  /// Returns true if a value for the session must be discarded. Logs the first one.
  mutating func discards(_ backlog: EventBacklog) -> Bool {
    guard backlog.isOverfull else { return false }
    discardedValues += 1
    if discardedValues == 1 {
      note(
        "discarding values from peers: \(backlog.count) callbacks are pending on the queue of an app, which is blocked")
    }
    return true
  }

  /// Adds a line for the log.
  mutating func note(_ line: String) {
    if notes.count < Self.maximumNotes { notes.append(line) }
  }

  /// True if `takeNotes` returns lines.
  var hasNotes: Bool { !notes.isEmpty }

  /// Removes and returns the lines for the log.
  mutating func takeNotes() -> [String] {
    defer { notes.removeAll() }
    return notes
  }
}
