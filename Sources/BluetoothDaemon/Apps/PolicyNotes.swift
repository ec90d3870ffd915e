/// The log lines about rules of the platform's policy that have had an effect. They wait until the runner takes them.
/// Their number is bounded: one for each app and rule.
struct PolicyNotes {
  /// The rules that have lines about sessions that belong to no app.
  private var rulesOutsideApps = PolicyRules()
  private var notes: [String] = []

  /// Adds a line.
  mutating func note(_ line: String) { notes.append(line) }

  /// Returns true, once, for the effect of a rule on sessions that belong to no app.
  mutating func isFirstOutsideApps(_ rule: PolicyRule) -> Bool { rulesOutsideApps.insert(rule) }

  /// True if `takeNotes` returns lines.
  var hasNotes: Bool { !notes.isEmpty }

  /// Removes and returns the lines for the log.
  mutating func takeNotes() -> [String] {
    defer { notes.removeAll() }
    return notes
  }
}
