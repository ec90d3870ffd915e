import BluetoothTransport
import CBluetoothServer
import Foundation
import NIOConcurrencyHelpers

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The way in which a server launches an app for an event.
package protocol AppStarter: Sendable {
  /// Starts a program.
  ///
  /// - Parameters:
  ///   - environment: all variables of the program.
  ///   - onEnd: called once, on any thread, when the process has ended; true if it has failed.
  /// - Returns: the number of the process.
  func start(
    _ app: RegisteredApp, environment: [String: String], onEnd: @escaping @Sendable (_ hasFailed: Bool) -> Void
  ) throws(ServerError) -> Int32

  /// Asks a process that `start` has started, and that has not ended, to end.
  func stop(_ process: Int32)
}

/// Starts processes of the system. A process has an input without content, the outputs of the server, no other descriptor
/// of the server, and none of its ambient capabilities.
package struct ProcessStarter: AppStarter {
  /// The processes that have not ended.
  private let running = NIOLockedValueBox<Set<Int32>>([])

  package init() {}

  package func start(
    _ app: RegisteredApp, environment: [String: String], onEnd: @escaping @Sendable (_ hasFailed: Bool) -> Void
  ) throws(ServerError) -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    // The sockets of the server are not close-on-exec. A process that had them could read and write the connections of
    // other clients, and would keep those connections and the ports open after the end of the server.
    try Self.check(bluetooth_spawn_close_from(&actions, STDERR_FILENO + 1), app)
    // Each thread has its own capabilities, so this must be the thread that starts the process.
    try Self.check(bluetooth_clear_ambient_capabilities(), app)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // The server ignores or blocks signals that must end the program.
    var all = sigset_t()
    var none = sigset_t()
    sigfillset(&all)
    sigemptyset(&none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setsigmask(&attributes, &none)
    // A signal from the server's terminal ends the server only; the app then sees the end of the server.
    posix_spawnattr_setpgroup(&attributes, 0)
    let flags = CInt(POSIX_SPAWN_SETSIGDEF) | CInt(POSIX_SPAWN_SETSIGMASK) | CInt(POSIX_SPAWN_SETPGROUP)
    posix_spawnattr_setflags(&attributes, Int16(flags))
    let arguments = CStrings([app.executable] + app.arguments)
    let variables = CStrings(environment.map { "\($0.key)=\($0.value)" }.sorted())
    var process: pid_t = 0
    let code = withExtendedLifetime((arguments, variables)) {
      self.running.withLockedValue { running in
        let code = posix_spawn(&process, app.executable, &actions, &attributes, arguments.pointers, variables.pointers)
        if code == 0 { running.insert(process) }
        return code
      }
    }
    try Self.check(code, app)
    let id = process
    let running = running
    let thread = Thread {
      var information = siginfo_t()
      while waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
      // The number belongs to the process until `waitpid`.
      running.withLockedValue { _ = $0.remove(id) }
      var status: CInt = 0
      while waitpid(id, &status, 0) < 0, errno == EINTR {}
      onEnd(status != 0)
    }
    thread.name = "app \(id)"
    thread.stackSize = 1 << 18
    thread.start()
    return id
  }

  /// Throws an `errno`, if it is one.
  private static func check(_ code: CInt, _ app: RegisteredApp) throws(ServerError) {
    guard code == 0 else { throw ServerError("can't start \(app.executable): \(TransportError.reason(code))") }
  }

  package func stop(_ process: Int32) {
    running.withLockedValue { if $0.contains(process) { _ = kill(process, SIGTERM) } }
  }
}

/// Texts for a function of C, with a null pointer at the end.
private final class CStrings {
  let pointers: [UnsafeMutablePointer<CChar>?]

  init(_ texts: [String]) { pointers = texts.map { strdup($0) } + [nil] }

  deinit { for pointer in pointers { free(pointer) } }
}
