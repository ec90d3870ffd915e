// Overview
//
// `btserver` is the program around BluetoothServer: it makes the adapters, listens on the sockets, and lives under a
// service manager.
//
// The idea: the program is configuration. Options and files become the adapters (`AdapterMaker`), the limits and the
// apps of a `DaemonServer`, which does everything else. The simulated adapters of one server are devices of one air, so
// that apps on them meet.
//
// Callers: people, systemd and other service managers (`ServiceManager.swift`). The module calls BluetoothServer,
// BluetoothAdapters for controllers, BluetoothAir and BluetoothLab for worlds, and the metrics of swift-metrics.
//
// Invariants:
// - All adapters with external controllers are on the server's event loop, so that a request wakes no second thread.
// - Options and files are read and checked before the first adapter is made; `--check` does only that.
// - On a signal that ends the program, the server stops in order (`DaemonServer.stop`): the adapters store what must
//   outlive it before the sessions end.
//
// Where to begin: this file, then `AdapterMaker.swift`; `AppsFile.swift` for the apps that the server launches;
// `AlertCommand.swift` and `PolicyOption.swift` for single options.
//
// Specification: none. Documentation/Server.md is for users.

import ArgumentParser
import BluetoothAdapters
import BluetoothAir
import BluetoothDBus
import BluetoothDaemon
import BluetoothDaemonProtocol
import BluetoothLab
import BluetoothServer
import BluetoothTransport
import BluetoothTypes
import Foundation
import Logging
import Metrics
import NIOPosix

#if !AllAdapters
  #error("btserver needs the trait AllAdapters of this package")
#endif

/// The server that shares Bluetooth adapters among programs.
@main
struct BtServer: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "btserver", abstract: "Shares Bluetooth adapters among the programs of this machine.",
    discussion: """
      Programs with CoreBluetooth use it with COREBLUETOOTH_ADAPTER=server or server:PATH; a name after a comma, as in \
      server:PATH,NAME, selects one of several adapters. The verbs clients, apps, why, settings and alerts of ble show and \
      change what the server knows; ble monitor --server shows the packets of an adapter, for the user of the server.
      """,
    version: PackageVersion.text)

  @Option(
    help: ArgumentHelp(
      "An adapter, with a name for programs in front: \(AdapterRegistry.forms(of: AdapterOption.schemes)), where virtual "
        + "is a device of a simulated air. May be repeated; the first one is for programs that name none.",
      valueName: "[name=]specifier"))
  var adapter: [String] = ["\(VirtualSpecifier())"]

  @Option(
    help: ArgumentHelp(
      "A world file, or an example: \(ExampleWorlds.list). It populates the air of the simulated adapters.",
      valueName: "file"),
    completion: .file())
  var world: String?

  @Option(help: ArgumentHelp("The path of the server's socket.", valueName: "path"), completion: .file())
  var socket = ServerSpecifier.defaultPath

  @Option(help: ArgumentHelp("Who may connect to the socket, in octal as for chmod.", valueName: "mode"))
  var mode = "660"

  @Option(
    help: ArgumentHelp("An address for programs on TCP, which need the token; port 0: any.", valueName: "host:port"))
  var tcp: String?

  @Option(
    help: ArgumentHelp(
      "A file with the token for programs on TCP, 16 to 512 octets. It also applies to TCP sockets of the service "
        + "manager.", valueName: "file"), completion: .file())
  var tokenFile: String?

  @Flag(help: "Lets programs on other machines connect. The connection is not encrypted.")
  var `public` = false

  @Option(
    help: ArgumentHelp(
      "An address on this machine at which Prometheus reads metrics by HTTP; port 0: any.", valueName: "host:port"))
  var metrics: String?

  @Option(
    defaultAsFlag: PageOptions.standardAddress,
    help: ArgumentHelp(
      "Serves a page for the browser, which shows the apps and the simulated adapters; without an address, on a free "
        + "port.", valueName: "host:port"))
  var web: String?

  @Option(help: ArgumentHelp("The folder for bonds and identities.", valueName: "folder"), completion: .directory)
  var bonds: String?

  @Option(
    help: ArgumentHelp(
      "The platform whose rules for apps apply: \(PolicyOption.forms).", valueName: "policy"))
  var policy = PlatformPolicy.macos.name

  @Option(
    help: ArgumentHelp(
      "The permission of an app that its user has not decided about: allow, ask or deny.", valueName: "rule"))
  var permissions = PermissionRule.allow.rawValue

  @Option(
    help: ArgumentHelp(
      "The maximum number of programs that are connected, from 1 to 65536. Another user than that of the server has at "
        + "most a quarter of the places.", valueName: "number"))
  var clients = ServerLimits().clients

  @Option(
    help: ArgumentHelp("The maximum number of links and pending connections of one app.", valueName: "number"))
  var linksPerApp = 64

  @Option(help: ArgumentHelp("The maximum number of advertising sets of one app.", valueName: "number"))
  var setsPerApp = 4

  @Option(
    help: ArgumentHelp(
      "A file with the apps that the server launches for an event, in YAML or JSON.", valueName: "file"),
    completion: .file())
  var apps: String?

  @Option(
    help: ArgumentHelp(
      "A command of the shell for each alert about an app in the background; $1 is the app, $2 the text.",
      valueName: "command"))
  var alertCommand: String?

  @Flag(help: "Shows alerts and questions not on the desktop of the session, but in the log and by ble only.")
  var noDesktop = false

  @Option(
    help: ArgumentHelp(
      "The least important lines of the log: trace, debug, info, notice, warning, error.", valueName: "level"))
  var logLevel = "info"

  @Flag(help: "Checks the options and the files that they name, and ends.")
  var check = false

  @Flag(
    help: ArgumentHelp(
      "Launches one app of --apps for a server, which asks for it on the standard input. The unit btserver-launcher@ runs "
        + "this as superuser.", visibility: .hidden))
  var launcher = false

  /// Runs the server, and reports a failure in one line.
  static func main() {
    // The server also runs without a reader of its output.
    StandardFiles.openClosed(.isDiscarded)
    // Writing to a closed pipe fails with an error instead.
    signal(SIGPIPE, SIG_IGN)
    do {
      var command = try parseAsRoot()
      try command.run()
    } catch {
      if let failure = error as? Failure {
        complain(lines: failure.lines)
        Foundation.exit(failure.status)
      }
      let status = exitCode(for: error)
      guard !status.isSuccess else {
        tell(lines: message(for: error).components(separatedBy: "\n"))
        Foundation.exit(EXIT_SUCCESS)
      }
      complain(lines: "\(message(for: error)); see btserver --help".components(separatedBy: "\n"))
      Foundation.exit(status.rawValue)
    }
  }

  func run() throws {
    if launcher { return try launch() }
    let setup = try Setup(self)
    if check {
      // A check before the start of a service has no sockets: the service manager passes them to the server only.
      if !ServiceManager.runsThisProcess { try setup.checkSocketFolder() }
      tell(lines: setup.lines)
      return
    }
    // Before there is a socket, and before anything is announced.
    let end = DispatchSemaphore(value: 0)
    let interrupt = Interrupt(cleanUp: {}, { end.signal() })
    let level = setup.logLevel
    LoggingSystem.bootstrap { label in
      var handler = StreamLogHandler.standardError(label: label)
      handler.logLevel = level
      return handler
    }
    let endpoint = try Self.makeEndpoint(setup.metrics)
    defer { endpoint?.stop() }
    let sockets = ServiceManager.takeSockets()
    guard !setup.needsPassedSocket || !sockets.isEmpty else {
      throw ValidationError("--token-file needs --tcp or a socket of the service manager")
    }
    if sockets.isEmpty {
      try setup.checkSocketFolder()
      do throws(ServerError) { try setup.socketFolder.create() } catch { throw Failure(error.description) }
    }
    let questions = UserQuestions()
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    var maker = AdapterMaker(
      worldFile: setup.worldFile, bonds: bonds, policy: setup.policy, on: group.next()
    ) { name in
      ServingOptions(setup.permissions, shares: setup.shares, adapter: name, questions: questions)
    }
    var apps = AppsSetup(setup.apps)
    apps.questions = questions
    let desktop = noDesktop ? nil : Self.makeDesktop(questions)
    defer { desktop?.stop() }
    let command = alertCommand.map { AlertCommand($0) }
    apps.onAlert = { alert in
      desktop?.show(alert)
      command?.run(alert)
    }
    let server = DaemonServer(
      try setup.adapters.map { try maker.make($0) }, limits: setup.limits, apps: apps, on: group)
    var page: AirPage?
    if !interrupt.hasOccurred {
      try announce(server, setup, sockets)
      page = try openPage(setup, maker.world, server)
      ServiceManager.notify("READY=1")
    }
    end.wait()
    ServiceManager.notify("STOPPING=1")
    page?.close("the server ended")
    server.stop()
    withExtendedLifetime((maker, interrupt)) {}
  }

  /// Opens the sockets of a server, and tells that it serves.
  private func announce(_ server: DaemonServer, _ setup: Setup, _ sockets: [CInt]) throws {
    do {
      for socket in sockets { try server.listen(on: socket, token: setup.token) }
      if sockets.isEmpty { try server.listen(atPath: socket, mode: setup.mode) }
      if let tcp = setup.tcp, let token = setup.token {
        let port = try server.listen(host: tcp.host, port: tcp.port, token: token)
        tell("serves at tcp:\(tcp.host):\(port)")
      }
    } catch {
      server.stop()
      throw Failure("\(error)")
    }
    tell("serves \(setup.names) at \(sockets.isEmpty ? socket : "the socket of the service manager")")
  }

  /// Serves the page, and tells its URL; nil: none is wanted.
  private func openPage(_ setup: Setup, _ world: World?, _ server: DaemonServer) throws -> AirPage? {
    guard let options = setup.page else { return nil }
    do {
      let page = try AirPage(of: world, apps: ServerPage(server: server).apps, options)
      tell("page at \(page.url)")
      return page
    } catch {
      server.stop()
      throw Failure("\(error)")
    }
  }

  /// Launches the app that a server asks for on the standard input.
  private func launch() throws {
    guard let path = apps, geteuid() == 0 else {
      throw ValidationError("--launcher needs --apps, and is for the superuser")
    }
    AppLauncher(STDIN_FILENO) { name in
      let file = try AppsFile(path: path)
      try file.checkOwner()
      guard let app = file.apps.first(where: { $0.name == name }) else {
        throw Failure("\(path) has no app \"\(name)\"", status: Failure.wrongInput)
      }
      return app
    }.run()
  }

  /// Connects to the desktop of the session; nil: this process belongs to none.
  private static func makeDesktop(_ questions: UserQuestions) -> DesktopNotifications? {
    DBusAddress.ofSession.map { bus in
      DesktopNotifications(on: bus, questions: questions, loop: MultiThreadedEventLoopGroup.singleton.next())
    }
  }

  /// Installs the metrics system, and opens its endpoint; nil: no metrics are wanted.
  private static func makeEndpoint(_ address: (host: String, port: Int)?) throws -> MetricsEndpoint? {
    guard let (host, port) = address else { return nil }
    let registry = MetricsRegistry()
    MetricsSystem.bootstrap(registry)
    do {
      let endpoint = try MetricsEndpoint(registry, host: host, port: port)
      tell("metrics at http://\(host):\(endpoint.port)/metrics")
      return endpoint
    } catch {
      throw Failure("can't serve metrics at \(host):\(port): \(error)")
    }
  }
}

/// The meaning of the options, after all checks that need no socket.
struct Setup {
  let adapters: [AdapterOption]
  let worldFile: WorldFile?
  let mode: mode_t
  let tcp: (host: String, port: Int)?
  let token: [UInt8]?
  let metrics: (host: String, port: Int)?
  let page: PageOptions?
  let logLevel: Logger.Level
  let policy: PlatformPolicy
  let permissions: PermissionRule
  let shares: AppShares
  let apps: [RegisteredApp]
  let limits: ServerLimits
  private let socket: String

  init(_ options: BtServer) throws {
    adapters = try options.adapter.map { text in
      do throws(SpecifierProblem) { return try AdapterOption(text) } catch {
        throw ValidationError("invalid --adapter \"\(text)\": \(error)")
      }
    }
    let twice = Dictionary(grouping: adapters, by: \.name).first { $0.value.count > 1 }
    if let twice { throw ValidationError("two adapters with the name \"\(twice.key)\"") }
    let devices = adapters.compactMap(\.specifier.device)
    if let device = devices.first(where: { device in devices.filter { $0 == device }.count > 1 }) {
      throw ValidationError("two adapters are the same device: \(device)")
    }
    if let path = options.bonds { try Self.checkFolder(path, of: "--bonds") }
    if let path = options.world {
      do throws(WorldFileFailure) { worldFile = try WorldFile(path: path) } catch {
        throw Failure(error)
      }
      guard adapters.contains(where: \.isSimulated) else {
        throw ValidationError("--world needs an adapter of the air: --adapter \(VirtualSpecifier())")
      }
      let members = Set(worldFile?.members.map(\.name) ?? [])
      if let name = adapters.first(where: { members.contains($0.name) })?.name {
        throw ValidationError("the world has a device with the name \"\(name)\" of an adapter already")
      }
    } else {
      worldFile = nil
    }
    policy = try PolicyOption.policy(options.policy)
    guard let rule = PermissionRule(rawValue: options.permissions) else {
      let forms = PermissionRule.allCases.map(\.rawValue).joined(separator: ", ")
      throw ValidationError("invalid --permissions \"\(options.permissions)\": expected one of: \(forms)")
    }
    permissions = rule
    guard options.linksPerApp > 0, options.setsPerApp > 0 else {
      throw ValidationError("--links-per-app and --sets-per-app must be at least 1")
    }
    guard 1...65_536 ~= options.clients else {
      throw ValidationError("invalid --clients \(options.clients): expected a number from 1 to 65536")
    }
    var limits = ServerLimits()
    limits.clients = options.clients
    self.limits = limits
    shares = AppShares(links: options.linksPerApp, advertisingSets: options.setsPerApp, attributes: 1_024)
    apps = try options.apps.map { try AppsFile(path: $0).apps } ?? []
    guard let mode = UInt32(options.mode, radix: 8), mode <= 0o777 else {
      throw ValidationError("invalid --mode \"\(options.mode)\": expected 000 to 777, as for chmod")
    }
    self.mode = mode_t(mode)
    guard let level = Logger.Level(rawValue: options.logLevel) else {
      throw ValidationError("invalid --log-level \"\(options.logLevel)\"")
    }
    logLevel = level
    do throws(SpecifierProblem) { _ = try TransportSpecifier("unix:\(options.socket)") } catch {
      throw ValidationError("invalid --socket \"\(options.socket)\": \(error)")
    }
    let attributes = try? FileManager.default.attributesOfItem(atPath: options.socket)
    if let type = attributes?[.type] as? FileAttributeType, type != .typeSocket {
      throw ValidationError("invalid --socket \"\(options.socket)\": the file exists and is not a socket")
    }
    socket = options.socket
    // Without --tcp, the token is for a TCP socket of the service manager.
    guard options.tcp == nil || options.tokenFile != nil else {
      throw ValidationError("--tcp needs --token-file: the token for the clients on TCP")
    }
    tcp = try options.tcp.map { try Self.address($0, of: "--tcp", isPublic: options.public) }
    metrics = try options.metrics.map { try Self.address($0, of: "--metrics", isPublic: options.public) }
    page = try options.web.map { text in
      do throws(SpecifierProblem) {
        return try PageOptions(address: text, allowsPublic: options.public, program: "btserver")
      } catch {
        throw ValidationError("invalid --web \"\(text)\": \(error)")
      }
    }
    if let path = options.tokenFile {
      do throws(AdapterError) { token = try ServerToken.read(path) } catch {
        throw Failure("\(error)", status: Failure.wrongInput)
      }
    } else {
      token = nil
    }
  }

  /// Throws if a path leads to something else than a folder, or could only be created in something else.
  private static func checkFolder(_ path: String, of option: String) throws {
    guard !path.isEmpty else { throw ValidationError("invalid \(option) \"\": expected a folder") }
    var folder = URL(fileURLWithPath: path).absoluteURL.standardizedFileURL
    var isFolder: ObjCBool = false
    while !FileManager.default.fileExists(atPath: folder.path, isDirectory: &isFolder), folder.path != "/" {
      folder.deleteLastPathComponent()
    }
    guard isFolder.boolValue else {
      throw ValidationError("invalid \(option) \"\(path)\": \(folder.path) is not a folder")
    }
  }

  private static func address(_ text: String, of option: String, isPublic: Bool) throws -> (host: String, port: Int) {
    do throws(SpecifierProblem) {
      let specifier = try TransportSpecifier("tcp:" + text)
      guard case .tcp(let host, let port) = specifier else {
        throw SpecifierProblem(description: "expected HOST:PORT")
      }
      guard isPublic || specifier.isLocal else {
        throw SpecifierProblem(
          description: "reachable from other machines, without encryption; use --public to allow it")
      }
      return (host, port)
    } catch {
      throw ValidationError("invalid \(option) \"\(text)\": \(error)")
    }
  }

  /// The folder of the socket. The server creates that of the default path of a server of the system.
  var socketFolder: SocketFolder {
    SocketFolder(ofSocket: socket, isOwn: socket == ServerSpecifier.systemPath)
  }

  /// Throws if the server could not create its socket.
  func checkSocketFolder() throws {
    guard let problem = socketFolder.problem else { return }
    throw ValidationError("invalid --socket \"\(socket)\": \(problem); name a path in a folder of this user")
  }

  /// The names of the adapters, for a line.
  var names: String { adapters.map(\.text).joined(separator: ", ") }

  /// True if the server needs a socket of the service manager for its start: there is a token, and no other socket for
  /// it.
  var needsPassedSocket: Bool { token != nil && tcp == nil }

  /// The configuration in lines, for people.
  var lines: [String] {
    var lines = ["adapters: \(names)", "socket: \(socket), mode \(String(mode, radix: 8))"]
    if let tcp { lines.append("TCP: \(tcp.host):\(tcp.port)") }
    if let metrics { lines.append("metrics: \(metrics.host):\(metrics.port)") }
    if let page { lines.append("page: \(page.host):\(page.port)") }
    lines.append("policy: \(policy.name)")
    lines.append("permissions: \(permissions.rawValue)")
    let links = shares.links.map { "\($0)" } ?? "all"
    let sets = shares.advertisingSets.map { "\($0)" } ?? "all"
    lines.append("clients: at most \(limits.clients)")
    lines.append("share of an app: \(links) links, \(sets) advertising sets")
    for app in apps {
      lines.append("app: \(app.name), \(app.executable)" + (app.user.map { ", as \($0.name)" } ?? ""))
    }
    if let worldFile { lines.append("world: \(worldFile.members.count) devices") }
    // A check before the start of a service has no sockets: the service manager passes them to the server only.
    lines.append(
      needsPassedSocket
        ? "the configuration is valid if the service manager passes a TCP socket: --token-file needs one, or --tcp"
        : "the configuration is valid")
    return lines
  }
}
