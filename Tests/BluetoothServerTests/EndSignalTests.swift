import Foundation
import TestSupport
import Testing

/// Signals at points of the start and the end of the programs. A program is stopped at a point by an output or a socket
/// that takes no more.
@Suite("Signals at the start and the end of a program", .timeLimit(.minutes(10)))
struct EndSignalTests {
  /// A running program.
  private final class Running {
    private let process = Process()
    private let output = Pipe()
    private let ended = DispatchSemaphore(value: 0)
    private var octets: [UInt8] = []

    init(_ name: String, _ arguments: [String], environment: [String: String] = [:]) throws {
      process.executableURL = try Program.url(name)
      process.arguments = arguments
      process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
      (process.standardOutput, process.standardError) = (output, FileHandle.nullDevice)
      process.terminationHandler = { [ended] _ in ended.signal() }
      try process.run()
    }

    /// Reads the output up to a line that contains `text`.
    func read(to text: String) throws {
      while true {
        while let end = octets.firstIndex(of: UInt8(ascii: "\n")) {
          defer { octets.removeSubrange(...end) }
          if text.isEmpty || String(decoding: octets[..<end], as: UTF8.self).contains(text) { return }
        }
        let data = output.fileHandleForReading.availableData
        try #require(!data.isEmpty, "no line with \(text)")
        octets += data
      }
    }

    func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

    /// Returns the exit status; nil: a signal has killed the program.
    func status() -> Int32? {
      ended.wait()
      return process.terminationReason == .exit ? process.terminationStatus : nil
    }
  }

  /// A socket for the messages to a service manager.
  private final class NotificationSocket {
    let path: String
    private let descriptor: Int32

    init(_ path: String) throws {
      self.path = path
      descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
      let bound = Self.withAddress(path) { bind(descriptor, $0, $1) }
      try #require(bound == 0)
    }

    deinit { close(descriptor) }

    private static func withAddress<R>(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
      return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
    }

    /// Fills the socket: the next message to it waits until one is received.
    func fill() throws {
      let sender = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
      defer { close(sender) }
      while Self.withAddress(path, { sendto(sender, "x", 1, Int32(MSG_DONTWAIT), $0, $1) }) == 1 {}
      try #require(errno == EAGAIN)
    }

    /// Receives messages up to one with this text.
    func receive(to text: String) {
      var buffer = [UInt8](repeating: 0, count: 256)
      while true {
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count <= 0 || String(decoding: buffer[..<count], as: UTF8.self) == text { return }
      }
    }
  }

  private static func server(
    _ folder: TemporaryFolder, _ socket: NotificationSocket, _ options: [String] = []
  ) throws -> Running {
    let token = folder.file("token")
    try Data("0123456789abcdef".utf8).write(to: URL(fileURLWithPath: token))
    return try Running(
      "btserver",
      ["--no-desktop", "--socket", folder.file("s.sock"), "--bonds", folder.file("bonds"), "--token-file", token]
        + ["--tcp", "127.0.0.1:0", "--metrics", "127.0.0.1:0"] + options,
      environment: ["NOTIFY_SOCKET": socket.path])
  }

  @Test(
    "btserver ends in order at a signal, whatever it has just announced",
    arguments: ["metrics at", "serves at tcp:", "serves virtual"], [SIGTERM, SIGINT])
  func announcements(line: String, signal: Int32) throws {
    try withTemporaryFolder { folder in
      let socket = try NotificationSocket(folder.file("notify"))
      let server = try Self.server(folder, socket)
      try server.read(to: line)
      server.send(signal)
      #expect(server.status() == 0)
      #expect(!folder.names.contains("s.sock"))
    }
  }

  @Test("btserver ends in order at a signal between its announcement and the message that it is ready")
  func beforeReady() throws {
    try withTemporaryFolder { folder in
      let socket = try NotificationSocket(folder.file("notify"))
      try socket.fill()
      let server = try Self.server(folder, socket)
      try server.read(to: "serves virtual")
      server.send(SIGTERM)
      socket.receive(to: "READY=1")
      socket.receive(to: "STOPPING=1")
      #expect(server.status() == 0)
      #expect(!folder.names.contains("s.sock"))
    }
  }

  @Test("A second signal ends btserver at once while it stops, and leaves no socket")
  func whileStopping() throws {
    try withTemporaryFolder { folder in
      let socket = try NotificationSocket(folder.file("notify"))
      let server = try Self.server(folder, socket)
      socket.receive(to: "READY=1")
      try socket.fill()
      // Two signals, because one that is pending already is not counted again.
      server.send(SIGTERM)
      server.send(SIGINT)
      #expect([128 + SIGTERM, 128 + SIGINT].contains(server.status()))
      #expect(!folder.names.contains("s.sock"))
    }
  }

  @Test(
    "ble air ends in order at a signal, whatever it has just announced", arguments: ["one.sock", "two.sock", "control"])
  func air(line: String) throws {
    try withTemporaryFolder { folder in
      let paths = ["one.sock", "two.sock"].flatMap { ["--hci", "unix:" + folder.file($0)] }
      let air = try Running("ble", ["air"] + paths + ["--control", folder.file("control.sock")])
      try air.read(to: line)
      air.send(SIGTERM)
      #expect(air.status() == 0)
      #expect(folder.names.isEmpty)
    }
  }

  @Test("ble serve and ble monitor end in order at a signal after their first line")
  func verbs() throws {
    try withTemporaryFolder { folder in
      let world = folder.file("world.yaml")
      let text = "devices: [{name: beacon, accessory: {kind: broadcaster, advertising: {interval: 0.02}}}]\n"
      try Data(text.utf8).write(to: URL(fileURLWithPath: world))
      let serve = try Running("ble", ["serve", world, "--adapter", "virtual"])
      try serve.read(to: "")
      serve.send(SIGTERM)
      #expect(serve.status() == 0)
      let control = folder.file("control.sock")
      let hosts = folder.file("one.sock")
      let air = try Running("ble", ["air", "--world", world, "--hci", "unix:" + hosts, "--control", control])
      try air.read(to: "control")
      let monitor = try Running("ble", ["monitor", "--control", control])
      try monitor.read(to: "")
      monitor.send(SIGINT)
      #expect(monitor.status() == 0)
      air.send(SIGTERM)
      #expect(air.status() == 0)
      #expect(folder.names == ["world.yaml"])
    }
  }
}
