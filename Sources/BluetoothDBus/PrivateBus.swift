import NIOConcurrencyHelpers

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A message bus of this program: a dbus-daemon, without root and without any file of the system. It ends with this
/// program, however that ends.
package final class PrivateBus: Sendable {
  /// The address for other programs, such as the value of `DBUS_SYSTEM_BUS_ADDRESS`.
  package let address: String
  private let shell: NIOLockedValueBox<(process: pid_t, input: CInt)?>

  /// True if this machine has dbus-daemon and libdbus-1.
  package static var isAvailable: Bool { LibDBus.loaded != nil && program != nil }

  /// All users of the machine with the rights of this program can connect, and own each name.
  private static let configuration = """
    <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
      "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
    <busconfig>
      <listen>unix:path=FOLDER/bus</listen>
      <auth>EXTERNAL</auth>
      <policy context="default">
        <allow user="*"/>
        <allow own="*"/>
        <allow send_destination="*"/>
        <allow receive_sender="*"/>
      </policy>
      <limit name="max_match_rules_per_connection">10000</limit>
      <limit name="max_replies_per_connection">10000</limit>
    </busconfig>

    """

  /// The shell waits for the end of its input, which is that of this program.
  private static let script = """
    "$1" --config-file="$2/bus.conf" --nofork --nosyslog --nopidfile --print-address=1 2> /dev/null &
    bus=$!
    read -r line
    kill "$bus"
    rm -rf "$2"
    """

  /// The path of dbus-daemon.
  private static var program: String? {
    let folders = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
    return folders.split(separator: ":").lazy.map { $0 + "/dbus-daemon" }.first { access($0, X_OK) == 0 }
  }

  /// Starts a bus. Blocks until it is ready, for some milliseconds.
  ///
  /// - Throws: a `DBusError` that says what to install if there is no dbus-daemon.
  package static func start() throws(DBusError) -> PrivateBus {
    guard let program else {
      throw DBusError(
        DBusError.Name.noServer,
        "dbus-daemon is missing: install it, for example with apt install dbus-daemon or dnf install dbus-daemon")
    }
    var template = Array("/tmp/corebluetooth-bus-XXXXXX".utf8CString)
    guard let pointer = mkdtemp(&template) else {
      throw DBusError(DBusError.Name.noServer, "can't make a folder in /tmp for the message bus")
    }
    let folder = String(cString: pointer)
    try write(configuration.replacing("FOLDER", with: folder), to: folder + "/bus.conf")
    let bus = try PrivateBus(program, folder)
    return bus
  }

  private static func write(_ text: String, to path: String) throws(DBusError) {
    let file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
    guard file >= 0 else { throw DBusError(DBusError.Name.noServer, "can't write \(path)") }
    defer { close(file) }
    let octets = Array(text.utf8)
    guard Self.write(octets, to: file) else { throw DBusError(DBusError.Name.noServer, "can't write \(path)") }
  }

  private static func write(_ octets: [UInt8], to file: CInt) -> Bool {
    #if canImport(Glibc)
      Glibc.write(file, octets, octets.count) == octets.count
    #elseif canImport(Musl)
      Musl.write(file, octets, octets.count) == octets.count
    #else
      Darwin.write(file, octets, octets.count) == octets.count
    #endif
  }

  private init(_ program: String, _ folder: String) throws(DBusError) {
    var (input, output): ([CInt], [CInt]) = ([-1, -1], [-1, -1])
    guard Self.makePair(&input), Self.makePair(&output) else {
      throw DBusError(DBusError.Name.noServer, "no file descriptors are left")
    }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO)
    let texts = ["sh", "-c", Self.script, "sh", program, folder]
    var arguments = texts.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var process: pid_t = 0
    // The thread may block the signal that ends the bus.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    let result = posix_spawn(&process, "/bin/sh", &actions, &attributes, &arguments, environ)
    close(input[0])
    close(output[1])
    guard result == 0 else {
      close(input[1])
      close(output[0])
      throw DBusError(DBusError.Name.noServer, "can't start /bin/sh: error \(result)")
    }
    shell = NIOLockedValueBox((process, input[1]))
    address = Self.line(from: output[0])
    close(output[0])
    guard !address.isEmpty else {
      stop()
      throw DBusError(DBusError.Name.noServer, "dbus-daemon has not started")
    }
  }

  /// Makes two connected ends that no other process inherits: the shell ends with the last copy of its input's other
  /// end.
  private static func makePair(_ ends: inout [CInt]) -> Bool {
    #if os(Linux)
      // A pipe would be open for children of other threads for a moment.
      socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0
    #else
      pipe(&ends) == 0 && ends.allSatisfy { fcntl($0, F_SETFD, FD_CLOEXEC) == 0 }
    #endif
  }

  /// Reads up to the end of a line.
  private static func line(from file: CInt) -> String {
    var octets: [UInt8] = []
    var octet: UInt8 = 0
    while read(file, &octet, 1) == 1, octet != UInt8(ascii: "\n") { octets.append(octet) }
    return String(decoding: octets, as: UTF8.self)
  }

  deinit { stop() }

  /// Ends the bus, and with it its connections.
  package func stop() {
    let shell = shell.withLockedValue { shell in
      defer { shell = nil }
      return shell
    }
    guard let shell else { return }
    close(shell.input)
    var status: CInt = 0
    while waitpid(shell.process, &status, 0) < 0, errno == EINTR {}
  }
}
