import BluetoothHost
import BluetoothWire
import Logging

/// What whoever runs the system is told.
package enum DaemonLog {
  // Made anew each time, so that a logging system that the app sets up later is used.
  private static var logger: Logger { Logger(label: "CoreBluetooth.daemon") }

  /// One line for what is wrong with the controller of the device with this name.
  package static func note(_ trouble: HostTrouble, of device: String) {
    let line: Logger.Message = "\("\(device): \(trouble)".printable)"
    if trouble.isFatal { logger.error(line) } else { logger.warning(line) }
  }

  /// One line for what has become well again, or is well and not as one might expect.
  package static func tell(_ line: String, of device: String) { logger.notice("\("\(device): \(line)".printable)") }

  /// One line for what is wrong with the device with this name, or with its bonds.
  package static func note(_ line: String, of device: String) {
    logger.warning("\("\(device): \(line)".printable)")
  }
}
