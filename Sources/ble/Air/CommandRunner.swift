import Foundation

/// Runs a command in the foreground of the terminal, as a shell does.
enum CommandRunner {
  /// Runs a command, and returns its exit status: 128 and the number of the signal if a signal has ended it. Reports
  /// any signal but SIGINT and SIGTERM on the standard error.
  ///
  /// - Parameter environment: the variables that the command gets besides those of this program.
  static func run(_ command: [String], environment: [String: String]) throws -> Int32 {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // The command shares the process group, so that it can read from the terminal, and gets the signals that this program
    // handles otherwise.
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in [SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGQUIT] { sigaddset(&signals, number) }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
    var variables = ProcessInfo.processInfo.environment
    variables.merge(environment) { $1 }
    var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
    var pairs: [UnsafeMutablePointer<CChar>?] = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for text in arguments + pairs { free(text) } }
    // An interrupt at the terminal is for the command. A signal to this program alone is passed on.
    let former = [SIGINT, SIGQUIT].map { (number: $0, handler: signal($0, SIG_IGN)) }
    defer { for (number, handler) in former { signal(number, handler) } }
    var process = pid_t()
    let code = posix_spawnp(&process, command[0], nil, &attributes, &arguments, &pairs)
    guard code == 0 else {
      // The statuses of shells for commands that can't be run.
      throw Failure(
        "can't run \(command[0]): \(String(cString: strerror(code)))", status: code == ENOENT ? 127 : 126)
    }
    let queue = DispatchQueue(label: "command")
    signal(SIGTERM, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: SIGTERM, queue: queue)
    let child = process
    source.setEventHandler { kill(child, SIGTERM) }
    source.activate()
    defer { source.cancel() }
    var status: CInt = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    let number = status & 0x7F
    guard number != 0 else { return status >> 8 & 0xFF }
    if ![SIGINT, SIGTERM].contains(number) {
      complain("\(command[0]) was ended by signal \(number): \(String(cString: strsignal(number)))")
    }
    return 128 + number
  }
}
