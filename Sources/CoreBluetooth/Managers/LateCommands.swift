// For CoreBluetoothExtras. Its calls come from any thread: it checks the state before each call, and the state may change
// before the call.

extension ManagerCore {
  func dropLateCommandsSilently() { with { $0.reportsLateCommands = false } }

  /// Reports a command that was dropped because of the state, as misuse by the app.
  func reportLateCommand(_ text: @autoclosure () -> String) {
    if with({ $0.reportsLateCommands }) { Log.misuse(text()) }
  }
}
