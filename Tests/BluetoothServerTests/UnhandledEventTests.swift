import BluetoothDaemon
import BluetoothDaemonProtocol
import BluetoothLab
import BluetoothWire
import NIOConcurrencyHelpers
import NIOCore
import TestSupport
import Testing

@testable import BluetoothServer

/// A central manager whose app handles events some time after they have come.
private final class QueueingCentral: CentralClient {
  let adapter: ServerAdapter
  private let session = NIOLockedValueBox<CentralSession?>(nil)
  private let stream: AsyncStream<CentralEvent>
  private let continuation: AsyncStream<CentralEvent>.Continuation

  init(_ adapter: ServerAdapter, restoring identifier: String) {
    self.adapter = adapter
    (stream, continuation) = AsyncStream.makeStream()
    // The first event may come before the session is there.
    session.withLockedValue {
      $0 = adapter.openCentralSession(
        for: self, owner: SessionOwner(app: "ignored", restoreIdentifier: identifier))
    }
  }

  var queuesEvents: Bool { true }

  func receive(_ event: CentralEvent) {
    session.withLockedValue { $0?.eventQueued() }
    continuation.yield(event.copied)
  }

  /// Finds the flashlight, stops the scan, and handles all events until then.
  func findFlashlight() async throws {
    let session = try #require(session.withLockedValue { $0 })
    for await event in stream {
      if event.state != nil { session.noteStateSeen() }
      if event.state == .poweredOn { session.send(.scan(ScanRequest.flashlights)) }
      if event.discovered != nil {
        session.send(.stopScan)
        session.send(.barrier(1))
      }
      session.eventHandled()
      if event.barrier == 1 { return }
    }
  }
}

extension ScanRequest {
  fileprivate static var flashlights: ScanRequest {
    ScanRequest(services: [Flashlight.service], solicitedServices: [], allowsDuplicates: false)
  }
}

/// Events that a process has got, and has or has not handled before its end.
@Suite("Events at the end of a process", .timeLimit(.minutes(10)))
struct UnhandledEventTests {
  private let one = SessionNumber(1)

  private func send(_ messages: [ClientMessage], on channel: any Channel) async throws {
    var octets = ByteBuffer()
    for message in messages {
      var frame = try RawClient.frame(message)
      octets.writeBuffer(&frame)
    }
    try await channel.writeAndFlush(octets)
  }

  /// Lets a client of the app "torch" open a session, scan, find the flashlight and end. It reads all messages.
  ///
  /// - Parameter isHandled: true if it reports all events as handled.
  private func discover(_ bench: AppBench, isHandled: Bool) async throws {
    bench.identify(as: "torch")
    let (client, channel) = try await RawClient.connect(bench.bench.path)
    let beginning: [ClientMessage] = [.hello(Hello()), .app(.restoreIdentifier(one, "light")), .openCentral(one)]
    try await send(beginning, on: channel)
    var states: UInt32 = 0
    var events: UInt32 = 0
    loop: for await message in client.messages {
      guard case .central(one, let event) = message else { continue }
      events += 1
      if event.state != nil { states += 1 }
      if event.state == .poweredOn {
        try await send([.central(one, .scan(ScanRequest.flashlights), seenStates: states)], on: channel)
      }
      if event.discovered != nil {
        try await send(
          [.central(one, .stopScan, seenStates: states), .central(one, .barrier(1), seenStates: states)], on: channel)
      }
      if event.barrier == 1 { break loop }
    }
    if isHandled { try await send([.eventsHandled(one, count: events)], on: channel) }
    try await channel.close()
  }

  /// Waits until the adapter has handled the end of a process.
  private func expectNoLaunch(_ bench: AppBench) async throws {
    await bench.clients(0)
    try await bench.state(.terminated, of: "torch")
    #expect(try await bench.ask { try $0.uses(of: "nothing") }.isEmpty)
    #expect(bench.starter.startCount == 0)
  }

  @Test("A discovery that a process has not handled before its end launches the app, and the next process gets it once")
  func unhandled() async throws {
    let bench = try AppBench(.open, registered: ["torch"])
    try await discover(bench, isHandled: false)
    var starts = bench.starter.starts.makeAsyncIterator()
    let start = try #require(await starts.next())
    #expect(start.environment["COREBLUETOOTH_LAUNCH_CENTRALS"] == "light")
    let torch = bench.start("torch", restoring: "light")
    #expect(try await torch.central.first { $0 }.restored?.peers.isEmpty == true)
    #expect(try await torch.central.first { $0 }.state == .poweredOn)
    let peer = try await torch.central.first(\.discovered)
    #expect(torch.central.adapter.directory.peer(peer.identifier)?.identifier == peer.identifier)
    torch.session.send(.barrier(2))
    let isRepeated = try await torch.central.first { event -> Bool? in
      if event.discovered != nil { true } else if event.barrier == 2 { false } else { nil }
    }
    #expect(!isRepeated)
    #expect(bench.starter.startCount == 1)
  }

  @Test("Events that a process has reported as handled launch nothing, and the next process does not get them")
  func handled() async throws {
    let bench = try AppBench(.open, registered: ["torch"])
    try await discover(bench, isHandled: true)
    try await expectNoLaunch(bench)
    let torch = bench.start("torch", restoring: "light")
    #expect(try await torch.central.first { $0 }.restored != nil)
    #expect(try await torch.central.first { $0 }.state == .poweredOn)
    torch.session.send(.barrier(2))
    let isRepeated = try await torch.central.first { event -> Bool? in
      if event.discovered != nil { true } else if event.barrier == 2 { false } else { nil }
    }
    #expect(!isRepeated)
  }

  @Test("A process reports the last event of its queue as handled at once, if its manager has a restore identifier")
  func lastEvent() async throws {
    let bench = try AppBench(.open, registered: ["torch"])
    do {
      let client = QueueingCentral(bench.adapter("phone", of: "torch"), restoring: "light")
      try await client.findFlashlight()
    }
    try await expectNoLaunch(bench)
  }

  @Test("An event for a process without a restore identifier ends with the process")
  func notPreserved() async throws {
    let bench = try AppBench(.open, registered: ["torch"])
    do {
      let torch = bench.start("torch")
      _ = try await torch.find()
    }
    try await expectNoLaunch(bench)
  }
}
