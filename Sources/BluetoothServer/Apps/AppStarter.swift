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
  func start(
    _ app: RegisteredApp, environment: [String: String], onEnd: @escaping @Sendable (_ hasFailed: Bool) -> Void
  ) throws(ServerError) -> Launch
}

/// A program that an `AppStarter` has started.
package struct Launch: Sendable {
  private let findProcess: @Sendable () -> Int32?
  private let end: @Sendable () -> Void

  package init(process: @escaping @Sendable () -> Int32?, stop: @escaping @Sendable () -> Void) {
    (findProcess, end) = (process, stop)
  }

  /// The number of the process; nil: the launcher has not told it yet.
  package var process: Int32? { findProcess() }

  /// Asks the process to end. Has no effect on one that has ended.
  package func stop() { end() }
}

/// Starts processes of the system. A process has an input without content, the outputs of the server, no other descriptor
/// of the server, and none of its ambient capabilities.
///
/// The superuser starts the program of another user by `setpriv`, and other users by the launcher of `AppLauncher`.
package struct ProcessStarter: AppStarter {
  /// The program that starts another one as another user · setpriv(1).
  private static let changesUser = "/usr/bin/setpriv"

  /// The path of the launcher's socket.
  private let launcher: String
  /// The processes that have not ended.
  private let running = NIOLockedValueBox<Set<Int32>>([])

  package init(launcher: String = AppLauncher.socketPath) { self.launcher = launcher }

  /// Returns the reason why this process can't start programs of a user, with the remedy; nil: it can.
  package func problem(startingAs user: AppUser) -> String? {
    if user.number == geteuid() { return nil }
    if geteuid() == 0 {
      return access(Self.changesUser, X_OK) == 0 ? nil : "\(Self.changesUser) (of util-linux) is missing"
    }
    guard access(launcher, W_OK) != 0 else { return nil }
    return "to launch an app of another user, the server needs the socket \(launcher): "
      + "\(TransportError.reason(errno)); install and start btserver-launcher.socket, or run the server as \(user.name)"
  }

  package func start(
    _ app: RegisteredApp, environment: [String: String], onEnd: @escaping @Sendable (_ hasFailed: Bool) -> Void
  ) throws(ServerError) -> Launch {
    guard let user = app.user, user.number != geteuid() else {
      return try spawn(app.executable, app.arguments, environment, onEnd)
    }
    guard geteuid() == 0 else { return LauncherClient.start(app, environment, at: launcher, onEnd) }
    return try spawn(
      Self.changesUser,
      ["--reuid", "\(user.number)", "--regid", "\(user.group)", "--init-groups", "--", app.executable] + app.arguments,
      environment, onEnd)
  }

  private func spawn(
    _ executable: String, _ arguments: [String], _ environment: [String: String],
    _ onEnd: @escaping @Sendable (_ hasFailed: Bool) -> Void
  ) throws(ServerError) -> Launch {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    // The sockets of the server are not close-on-exec. A process that had them could read and write the connections of
    // other clients, and would keep those connections and the ports open after the end of the server.
    try Self.check(bluetooth_spawn_close_from(&actions, STDERR_FILENO + 1), executable)
    // Each thread has its own capabilities, so this must be the thread that starts the process.
    try Self.check(bluetooth_clear_ambient_capabilities(), executable)
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
    let words = CStrings([executable] + arguments)
    let variables = CStrings(environment.map { "\($0.key)=\($0.value)" }.sorted())
    var process: pid_t = 0
    let code = withExtendedLifetime((words, variables)) {
      self.running.withLockedValue { running in
        let code = posix_spawn(&process, executable, &actions, &attributes, words.pointers, variables.pointers)
        if code == 0 { running.insert(process) }
        return code
      }
    }
    try Self.check(code, executable)
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
    return Launch(process: { id }, stop: { running.withLockedValue { if $0.contains(id) { _ = kill(id, SIGTERM) } } })
  }

  /// Throws an `errno`, if it is one.
  private static func check(_ code: CInt, _ executable: String) throws(ServerError) {
    guard code == 0 else { throw ServerError("can't start \(executable): \(TransportError.reason(code))") }
  }
}

/// Texts for a function of C, with a null pointer at the end.
private final class CStrings {
  let pointers: [UnsafeMutablePointer<CChar>?]

  init(_ texts: [String]) { pointers = texts.map { strdup($0) } + [nil] }

  deinit { for pointer in pointers { free(pointer) } }
}
