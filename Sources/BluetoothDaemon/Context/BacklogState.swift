/// The state of flow control for apps that do not keep up with their events.
struct BacklogState {
  /// The client whose backlog the latest event found full.
  var full: DaemonContext.Client?
  /// True while a link is held.
  var holdsLinks = false
  var heldLinksChanged = false
  var discardedValues = 0
  /// The lines that wait to be logged: one for the discarded values, and one for each link that was ended.
  private var notes: [String] = []
  private static let maximumNotes = 32

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
