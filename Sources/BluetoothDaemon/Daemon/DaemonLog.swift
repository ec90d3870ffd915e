import BluetoothHost

/// The log for the operator of the system.
package enum DaemonLog {
  // Created for each message, so that a logging system that the app installs later is used.
  private static var logger: PrintableLogger { PrintableLogger("CoreBluetooth.daemon") }

  /// Logs a problem with the controller of the device with this name, in one line.
  package static func note(_ trouble: HostDiagnostic, of device: String) {
    let line = "\(device): \(trouble)"
    if trouble.isFatal { logger.error(line) } else { logger.warning(line) }
  }

  /// Logs a recovery, or a normal but unexpected condition, in one line.
  package static func tell(_ line: String, of device: String) { logger.notice("\(device): \(line)") }

  /// Logs a detail for developers, in one line.
  package static func trace(_ line: String, of device: String) { logger.debug("\(device): \(line)") }

  /// Logs a problem with the device of this name or with its bonds, in one line.
  package static func note(_ line: String, of device: String) { logger.warning("\(device): \(line)") }
}
