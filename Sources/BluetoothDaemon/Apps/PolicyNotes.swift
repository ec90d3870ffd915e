import BluetoothWire

/// The log lines about rules of the platform's policy that have had an effect. They wait until the runner takes them.
/// Their number is bounded: one for each app and rule.
struct PolicyNotes {
  /// The rules that have lines about sessions that belong to no app.
  private var rulesOutsideApps = PolicyRules()
  private var notes: [String] = []

  /// Adds a line.
  mutating func note(_ line: String) { notes.append(line) }

  /// Adds a line if the rule has its first effect on sessions that belong to no app.
  mutating func noteOutsideApps(_ rule: PolicyRule, _ policy: PlatformPolicy) {
    guard rulesOutsideApps.insert(rule) else { return }
    note("sessions that belong to no app: \(rule.line(policy))")
  }

  /// True if `takeNotes` returns lines.
  var hasNotes: Bool { !notes.isEmpty }

  /// Removes and returns the lines for the log.
  mutating func takeNotes() -> [String] {
    defer { notes.removeAll() }
    return notes
  }
}
