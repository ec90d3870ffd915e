// For CoreBluetoothExtras. Its calls come from any thread: it checks the state before each call, and the state may change
// before the call.

extension CBCentralManager {
  /// Drops commands to this manager and its peripherals that come too late for their state, without a report of misuse.
  package func dropLateCommandsSilently() { core.dropLateCommandsSilently() }
}

extension CBPeripheralManager {
  /// Drops commands that come too late for the state of this manager, without a report of misuse.
  package func dropLateCommandsSilently() { core.dropLateCommandsSilently() }
}

extension ManagerCore {
  fileprivate func dropLateCommandsSilently() { with { $0.reportsLateCommands = false } }

  /// Reports a command that was dropped because of the state, as misuse by the app.
  func reportLateCommand(_ text: @autoclosure () -> String) {
    if with({ $0.reportsLateCommands }) { Log.misuse(text()) }
  }
}
