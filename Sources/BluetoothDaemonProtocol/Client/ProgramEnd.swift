import BluetoothDaemon
import BluetoothTransport
import BluetoothWire

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension ServerAdapter {
  /// Ends this program with a line on the standard error that says why. The exit status is 0 if the user has ended the
  /// app.
  package static func endProgram(_ reason: String, byUser: Bool) {
    let line = Array("\(SystemProcess.programName): \(reason)".printable.utf8) + [0x0A]
    // A failure is ignored, because there is no other place to report it.
    _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    exit(byUser ? EXIT_SUCCESS : EXIT_FAILURE)
  }
}
