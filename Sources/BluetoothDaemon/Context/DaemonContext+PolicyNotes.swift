import BluetoothWire

// The log lines about what the platform's policy changes or drops. The code calls these functions only where a rule has
// an effect, so that apps without limits pay nothing.
extension DaemonContext {
  /// Adds a line for the log if the rule has its first effect on the app.
  ///
  /// - Parameter app: The app that owns the session; nil: none.
  mutating func note(_ rule: PolicyRule, of app: AppIndex?) {
    apps.note(rule, of: app, policy)
  }
}
