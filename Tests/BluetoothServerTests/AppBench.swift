import BluetoothDaemon
import BluetoothDaemonProtocol
import BluetoothLab
import BluetoothWire
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import BluetoothServer

/// Starts no process, and tells the test of each launch.
final class RecordingStarter: AppStarter {
  struct Start: Sendable {
    let app: RegisteredApp
    let environment: [String: String]
    let end: @Sendable (_ hasFailed: Bool) -> Void
  }

  private let count = NIOLockedValueBox<Int32>(0)
  let starts: AsyncStream<Start>
  private let continuation: AsyncStream<Start>.Continuation
  let stopped = NIOLockedValueBox<[Int32]>([])

  init() { (starts, continuation) = AsyncStream.makeStream() }

  var startCount: Int { Int(count.withLockedValue { $0 }) }

  func start(
    _ app: RegisteredApp, environment: [String: String], onEnd: @escaping @Sendable (_ hasFailed: Bool) -> Void
  ) throws(ServerError) -> Launch {
    let process = count.withLockedValue { count in
      count += 1
      return count
    }
    continuation.yield(Start(app: app, environment: environment, end: onEnd))
    let stopped = stopped
    return Launch(process: { process }, stop: { stopped.withLockedValue { $0.append(process) } })
  }
}

/// A server whose clients are apps with the names that the test gives them: all processes are that of the test.
final class AppBench {
  /// The flashlight's characteristics.
  static let lightSwitch: BluetoothUUID = "2D7A5C10-94B3-4E8F-8B61-5F0C3E9A7D01"
  static let status: BluetoothUUID = "2D7A5C10-94B3-4E8F-8B61-5F0C3E9A7D02"

  let starter = RecordingStarter()
  let bench: ServerBench
  private let identity = NIOLockedValueBox<AppIdentity?>(nil)

  init(
    _ policy: PlatformPolicy, registered: [String] = [], limits: ServerLimits = .patient, rule: PermissionRule = .allow,
    shares: AppShares = AppShares(), mayControl: Bool = true
  ) throws {
    let identity = identity
    var setup = AppsSetup(registered.map { RegisteredApp(name: $0, executable: "/\($0)") })
    setup.identify = { _ in identity.withLockedValue { $0 } }
    setup.starter = starter
    setup.mayControl = { _ in mayControl }
    setup.questions = UserQuestions()
    bench = try ServerBench(limits: limits, policy: policy, apps: setup, rule: rule, shares: shares)
  }

  var question: ServerQuestion { question(to: "") }

  private func question(to adapter: String) -> ServerQuestion {
    ServerQuestion(to: ServerSpecifier(.unix(path: bench.path), adapter: adapter), within: .hours(1))
  }

  /// Asks the server on another thread, because the question blocks.
  func ask<R: Sendable>(
    _ adapter: String = "", _ body: @escaping @Sendable (ServerQuestion) throws -> R
  ) async throws -> R {
    // The question is a client without sessions, whose app plays no part.
    let question = question(to: adapter)
    return try await onOwnThread { try body(question) }
  }

  /// The open questions to the user.
  var questions: UserQuestions { bench.questions }

  /// Waits until the server has asked its user a question, and returns it.
  func question() async -> UserQuestion? {
    await wait { !questions.open.isEmpty }
    return questions.open.first
  }

  /// Waits until an app has a state on an adapter.
  func state(_ state: AppRunState, of name: String, on adapter: String = "phone") async throws {
    try await wait {
      try await ask { try $0.apps() }.first { $0.name == name && $0.adapter == adapter }?.state == state
    }
  }

  /// A program of an app, with a central manager on the first adapter.
  final class Program {
    let central: RemoteCentral
    let session: CentralSession
    /// The reason for which the server has ended the program; nil: it has not.
    let ending: NIOLockedValueBox<Ending?>

    typealias Ending = (reason: String, byUser: Bool)

    init(_ central: RemoteCentral, _ session: CentralSession, _ ending: NIOLockedValueBox<Ending?>) {
      self.central = central
      self.session = session
      self.ending = ending
    }

    func ended() async -> Ending {
      await wait { ending.withLockedValue { $0 != nil } }
      return ending.withLockedValue { $0 } ?? (reason: "", byUser: false)
    }
  }

  /// Starts a program. Its session ends with the result.
  func start(_ name: String, restoring identifier: String? = nil, _ manifest: AppManifest = AppManifest()) -> Program {
    identity.withLockedValue { $0 = AppIdentity(name: name, manifest: manifest) }
    let ending = NIOLockedValueBox<Program.Ending?>(nil)
    let central = RemoteCentral(
      bench.adapter(stop: { reason, byUser in ending.withLockedValue { $0 = (reason, byUser) } }))
    let session = central.adapter.openCentralSession(
      for: central, owner: SessionOwner(app: "ignored", restoreIdentifier: identifier))
    return Program(central, session, ending)
  }

  /// Creates the adapter of a program. The server takes the program for the app until another one is created, so the
  /// caller waits for the state of a manager first.
  func adapter(
    _ name: String, of app: String, _ manifest: AppManifest = AppManifest(),
    on loop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next()
  ) -> ServerAdapter {
    identity.withLockedValue { $0 = AppIdentity(name: app, manifest: manifest) }
    return bench.adapter(name, on: loop)
  }

  /// Lets the server take all clients for an app from now on.
  func identify(as app: String) { identity.withLockedValue { $0 = AppIdentity(name: app, manifest: AppManifest()) } }

  /// Waits until the server has stored the link of an app.
  ///
  /// - Parameter wasRunning: true if the app runs.
  func stored(wasRunning: Bool) async throws {
    let file = bench.folder.file("bonds/phone/sessions.json")
    await wait {
      let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
      return text.contains("\"wasRunning\" : \(wasRunning)") && text.contains("\"hasBeenConnected\" : true")
    }
  }

  /// Waits until the server has this many clients.
  func clients(_ count: Int) async { await wait { bench.server.connectedClients.count == count } }
}

/// Waits until `isMet` returns true, or the time limit of the test ends. The pauses between two looks leave the processors
/// and the lock of the log to the threads that the tests wait for.
func wait(until isMet: () async throws -> Bool) async rethrows {
  let loop = MultiThreadedEventLoopGroup.singleton.next()
  while !Task.isCancelled, try await !isMet() {
    try? await loop.scheduleTask(in: .milliseconds(5)) {}.futureResult.get()
  }
}

extension AppBench.Program {
  /// Finds the flashlight.
  func find() async throws -> PeerInfo {
    try await central.state(.poweredOn)
    return try await central.find(Flashlight.service, by: session)
  }

  /// Connects to the flashlight, and returns a characteristic.
  func connect(_ peer: PeerInfo, _ uuid: BluetoothUUID) async throws -> RemoteAttributeID {
    let all = try await central.connect(to: peer.handle, service: Flashlight.service, by: session)
    return try #require(all.first { $0.uuid == uuid }).id
  }

  /// Connects to the flashlight and subscribes to its status.
  func subscribe(to peer: PeerInfo) async throws {
    session.send(.setNotify(peer.handle, try await connect(peer, AppBench.status), true))
    #expect(try await central.first(\.isNotifying) == true)
  }
}
