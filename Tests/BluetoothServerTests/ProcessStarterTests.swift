import BluetoothTransport
import BluetoothWire
import CTestSupport
import Foundation
import NIOConcurrencyHelpers
import TestSupport
import Testing

@testable import BluetoothServer

/// The processes that a server starts.
@Suite(.timeLimit(.minutes(10)))
struct ProcessStarterTests {
  /// Runs a command of the shell, and returns the lines of the file `$1`.
  ///
  /// - Parameter prepare: called on the thread that starts the command; returns 0 or an `errno`.
  private func lines(
    of command: String, as user: AppUser? = nil, prepare: @Sendable () -> CInt = { 0 }
  ) async throws -> [String] {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let file = folder.file("output")
    try Data().write(to: URL(fileURLWithPath: file))
    if let user { try #require(chown(file, user.number, user.group) == 0 && chmod(folder.file(""), 0o755) == 0) }
    let shell = RegisteredApp(name: "test", executable: "/bin/sh", arguments: ["-c", command, "sh", file], user: user)
    let environment = user?.environment ?? ProcessInfo.processInfo.environment
    let hasFailed = try await withCheckedThrowingContinuation { (end: CheckedContinuation<Bool, any Error>) in
      #expect(prepare() == 0)
      do throws(ServerError) {
        _ = try ProcessStarter().start(shell, environment: environment) { end.resume(returning: $0) }
      } catch {
        end.resume(throwing: error)
      }
    }
    #expect(!hasFailed)
    return try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map(String.init)
  }

  @Test("A started program has the standard descriptors and no other one of the server")
  func descriptors() async throws {
    // Not close-on-exec, as the sockets of a server.
    let descriptor = open("/dev/null", O_RDONLY)
    try #require(descriptor > 2)
    defer { close(descriptor) }
    // 3 is the folder that the program lists.
    #expect(try await lines(of: "ls /proc/self/fd >\"$1\"") == ["0", "1", "2", "3"])
  }

  @Test(
    "A started program has no ambient capabilities",
    .enabled(if: test_can_raise_ambient_capability(), "this process may not have ambient capabilities"))
  func capabilities() async throws {
    let found = try await lines(of: "grep ^CapAmb /proc/self/status >\"$1\"") { test_raise_ambient_capability() }
    #expect(found == ["CapAmb:\t0000000000000000"])
  }

  @Test(
    "The superuser starts the program of another user with the groups and the variables of that user",
    .enabled(if: geteuid() == 0, "this process may not act as another user"))
  func otherUser() async throws {
    let nobody = try #require(AppUser("nobody"))
    let command = "{ id -u; id -g; echo $USER; grep -E '^(CapEff|NoNewPrivs)' /proc/self/status; } >\"$1\""
    #expect(
      try await lines(of: command, as: nobody) == [
        "\(nobody.number)", "\(nobody.group)", "nobody", "CapEff:\t0000000000000000", "NoNewPrivs:\t0",
      ])
    #expect(ProcessStarter(launcher: "/no/launcher").problem(startingAs: nobody) == nil)
  }

  @Test("A server that may not act as another user says what it needs for the apps of that user")
  func problem() throws {
    let starter = ProcessStarter(launcher: "/no/launcher.sock")
    let own = try #require(AppUser("\(geteuid())"))
    #expect(starter.problem(startingAs: own) == nil)
    let other = try #require(AppUser(own.name == "nobody" ? "root" : "nobody"))
    // The superuser needs no launcher.
    guard geteuid() != 0 else { return }
    let problem = starter.problem(startingAs: other)
    #expect(
      problem == "to launch an app of another user, the server needs the socket /no/launcher.sock: No such file or "
        + "directory; install and start btserver-launcher.socket, or run the server as \(other.name)")
  }
}

/// The launcher of a server that may not act as the users of its apps, with a connected pair of sockets.
@Suite(.timeLimit(.minutes(10)))
struct AppLauncherTests {
  private let starter = RecordingStarter()
  private let user = AppUser("\(geteuid())")

  /// Runs a launcher that knows one app, and returns the server's end of its connection.
  private func launch(_ app: RegisteredApp) throws -> FileHandle {
    var ends: [CInt] = [0, 0]
    try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
    let (server, launcher) = (ends[0], ends[1])
    let starter = starter
    Thread {
      AppLauncher(launcher, starter: starter) { name in
        guard name == app.name else { throw ServerError("no app \(name)") }
        return app
      }.run()
      // A thread that still reads keeps the socket open beyond `close`; the process of a launcher ends here.
      shutdown(launcher, CInt(SHUT_RDWR))
      close(launcher)
    }.start()
    return FileHandle(fileDescriptor: server, closeOnDealloc: true)
  }

  /// Waits for the lines of a launcher until it has ended.
  private func lines(_ server: FileHandle) async throws -> [String] {
    let data = try await onOwnThread { try server.readToEnd() ?? Data() }
    return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  private func request(_ name: String, _ environment: [String: String]) throws -> Data {
    Data(try #require(LaunchRequest(app: name, environment: environment).line))
  }

  @Test("A launcher starts the command of its own file with the variables of the launch only, and reports the end")
  func launch() async throws {
    var app = RegisteredApp(name: "scale", executable: "/scale", environment: ["LANG": "C"])
    app.user = user
    let server = try launch(app)
    var wish = [
      "LD_PRELOAD": "/evil.so", LaunchVariable.centrals: "one\ntwo", LaunchVariable.adapter: "server:/s,phone",
    ]
    // Also without the filter of the server's side.
    try server.write(contentsOf: try JSONEncoder().encode(["app": "scale"]).dropLast())
    try server.write(contentsOf: Data(",\"environment\":".utf8) + JSONEncoder().encode(wish) + Data("}\n".utf8))
    wish["LD_PRELOAD"] = nil
    var starts = starter.starts.makeAsyncIterator()
    let start = try #require(await starts.next())
    #expect(start.app == app)
    #expect(start.environment == (user?.environment ?? [:]).merging(["LANG": "C"]) { $1 }.merging(wish) { $1 })
    try server.write(contentsOf: Data("stop\n".utf8))
    await wait { starter.stopped.withLockedValue { $0 } == [1] }
    start.end(true)
    #expect(try await lines(server) == ["started 1", "ended 1"])
  }

  @Test("A launcher starts nothing without a request, for an app that its file does not have, or without a user")
  func refusals() async throws {
    let app = RegisteredApp(name: "scale", executable: "/scale")
    for (request, report) in [
      (try request("lamp", [:]), "failed no app lamp"),
      (try request("scale", [:]), "failed the app scale has no user in the file of apps"),
      (Data("launch it\n".utf8), "failed the request is no launch of an app"),
    ] {
      let server = try launch(app)
      try server.write(contentsOf: request)
      #expect(try await lines(server) == [report])
    }
    #expect(starter.startCount == 0)
  }

  /// The server of a launcher that the test plays, and the ends of launches that it has learned.
  private final class Server: @unchecked Sendable {
    // Unchecked: the folder is only read.
    let ends = NIOLockedValueBox<[Bool]>([])
    let folder: TemporaryFolder
    private let listener: CInt
    private let path: String

    init() throws {
      folder = try TemporaryFolder()
      path = folder.file("l.sock")
      listener = try UnixSocketFile(path: path).descriptor
      try #require(listen(listener, 8) == 0)
    }

    func start(_ environment: [String: String] = [:]) -> Launch {
      let ends = ends
      return LauncherClient.start(RegisteredApp(name: "scale", executable: "/scale"), environment, at: path) {
        hasFailed in
        ends.withLockedValue { $0.append(hasFailed) }
      }
    }

    /// Waits for the next connection of the server to its launcher.
    func accepted() async -> FileHandle {
      let listener = listener
      return await onOwnThread {
        // The socket does not block.
        var waiting = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        poll(&waiting, 1, -1)
        return FileHandle(fileDescriptor: accept(listener, nil, nil), closeOnDealloc: true)
      }
    }

    deinit {
      close(listener)
      folder.remove()
    }
  }

  @Test("A server asks its launcher for an app, learns the process, can stop it, and learns its end once")
  func client() async throws {
    let server = try Server()
    let launch = server.start([LaunchVariable.centrals: "one", "HOME": "/root"])
    let launcher = await server.accepted()
    let line = await onOwnThread { launcher.availableData }
    let request = try LaunchRequest(line: String(decoding: line, as: UTF8.self))
    #expect(request == LaunchRequest(app: "scale", environment: [LaunchVariable.centrals: "one"]))
    #expect(launch.process == nil)
    try launcher.write(contentsOf: Data("star".utf8))
    try launcher.write(contentsOf: Data("ted 4711\n".utf8))
    await wait { launch.process == 4_711 }
    launch.stop()
    #expect(await onOwnThread { launcher.availableData } == Data("stop\n".utf8))
    try launcher.write(contentsOf: Data("ended 0\n".utf8))
    await wait { server.ends.withLockedValue { !$0.isEmpty } }
    // The server closes the connection.
    #expect(try await lines(launcher) == [])
    #expect(server.ends.withLockedValue { $0 } == [false])
  }

  @Test("A launch fails if the launcher can't start the program, is gone, or is stopped before it has started anything")
  func failures() async throws {
    let server = try Server()
    for action in 0..<3 {
      let launch = server.start()
      let launcher = await server.accepted()
      switch action {
      case 0: try launcher.write(contentsOf: Data("failed it is gone\n".utf8))
      case 1: try launcher.close()
      default: launch.stop()
      }
      await wait { server.ends.withLockedValue { $0.count } > action }
    }
    #expect(server.ends.withLockedValue { $0 } == [true, true, true])
    let ends = NIOLockedValueBox<[Bool]>([])
    _ = LauncherClient.start(RegisteredApp(name: "scale", executable: "/scale"), [:], at: server.folder.file("none")) {
      hasFailed in ends.withLockedValue { $0.append(hasFailed) }
    }
    await wait { ends.withLockedValue { $0 } == [true] }
  }
}
