import BluetoothHost
import BluetoothWire
import TestSupport
import Testing

/// The rows of the project's table of hostile peers for the interface between host and controller. Each ends with the
/// general oracle.
@Suite("Hostile controllers")
struct HostileControllerTests {
  private static let unknown = HCI.ConnectionHandle(rawValue: 0x0123)
  private static let peer = DeviceAddress(0xC000_0000_0077, .random)

  private static func event(_ code: UInt8, _ parameters: [UInt8]) -> HCI.Event {
    .unknown(code: code, ByteSlice(parameters))
  }

  // MARK: H1

  @Test("H1 A loss of synchronization makes the host reset its controller and continue")
  func outOfStep() throws {
    var (bench, _) = HostHarness.withSecondLink()
    var decoder = H4Decoder(for: .host, pool: bench.pool)
    func feed(_ octets: [UInt8]) {
      for octet in octets {
        var portion = ByteSlice([octet])
        while let output = decoder.next(&portion) {
          switch output {
          case .packet(let packet): bench.host.receive(packet, at: bench.now)
          // The transport's report of such a stream.
          case .synchronizationLost: bench.host.synchronizationLost(at: bench.now)
          }
        }
      }
    }
    bench.answers[.reset] = .noAnswer
    feed([0x04, 0x13, 0x05, 0x01, 0x23, 0x01, 0x01, 0x00])
    #expect(bench.host.metrics.unknownLinks == 1)
    feed([0x09, 0x00, 0x04, 0x05, 0x04, 0x00, 0x70, 0x00, 0x08])
    bench.run()
    #expect(bench.commands == [.reset])
    #expect(bench.troubles.first == .synchronizationLost)
    bench.answers = [:]
    feed([0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00])
    bench.run()
    #expect(bench.powerChanges == [.starting, .on])
    try bench.expectWorking(secondLink: nil)
  }

  // MARK: H2

  @Test(
    "H2 Unsolicited, mismatched or truncated answers leave the pending command alone",
    arguments: [
      [1, 0x18, 0x20, 0, 1, 2, 3, 4, 5, 6, 7, 8], [1, 0, 0], [1], [], [1, 0x05, 0x14], [1, 0x05, 0x14, 0],
      [1, 0x05, 0x14, 0, 0x70], [255, 0xFF, 0xFF, 0], [1, 0x03, 0x0C, 0], [0, 0x0D, 0x20, 0],
    ] as [[UInt8]])
  func strayAnswers(_ parameters: [UInt8]) throws {
    var (bench, secondLink) = HostHarness.withSecondLink()
    bench.answers[.readRSSI] = .noAnswer
    bench.perform { host, now in host.readRSSI(secondLink, at: now) }
    bench.receive(Self.event(0x0E, parameters))
    bench.receive(Self.event(0x0F, parameters))
    #expect(bench.levels.isEmpty)
    bench.receive(.commandComplete(credits: 1, .readRSSI, .rssi(secondLink, -61)))
    #expect(bench.levels == [.success(-61)])
    #expect(bench.powerChanges.isEmpty)
    try bench.expectWorking(secondLink: secondLink)
  }

  // MARK: H3

  @Test(
    "H3 Completed packets with excess handles, unknown handles or excess counts add no room",
    arguments: [
      [255, 0x70, 0, 1, 0], [2, 0x70, 0, 1, 0], [1], [], [1, 0x23, 0x01, 0xFF, 0xFF], [1, 0x70, 0, 0xFF, 0xFF],
      [2, 0x70, 0, 0xFF, 0xFF, 0x70, 0, 0xFF, 0xFF], [0, 0x70, 0, 1, 0], [1, 0x70, 0, 0, 0],
    ] as [[UInt8]])
  func completedPackets(_ parameters: [UInt8]) throws {
    var (bench, secondLink) = HostHarness.withSecondLink()
    for _ in 0..<3 { bench.receive(Self.event(0x13, parameters)) }
    // The controller has exactly as many packets as buffers.
    let handle = bench.link(.central, handle: 0x71, to: Self.peer)
    bench.receive(.attribute, [0x03, 0x05, 0x02], on: handle)
    bench.completeAll()
    for _ in 0..<40 {
      bench.perform { host, now in host.request(.writeWithoutResponse(3, [1]), token: 1, on: handle, at: now) }
    }
    #expect(bench.data.count == Int(bench.facts.aclCount) / 2)
    bench.receive(Self.event(0x13, [1, 0x71, 0, 0xFF, 0xFF]))
    #expect(bench.data.count == Int(bench.facts.aclCount))
    try bench.expectWorking(secondLink: secondLink)
  }

  // MARK: H4

  @Test("H4 Reports whose counts do not fit their octets are dropped, whatever their type", arguments: 0..<4)
  func reports(_ seed: Int) throws {
    var (bench, secondLink) = HostHarness.withSecondLink()
    bench.perform { host, now in
      host.setScanning(ScanParameters(isActive: true, filterDuplicates: false), at: now)
    }
    bench.forget()
    for subevent: UInt8 in [0x02, 0x0D] {
      for number: UInt8 in [0, 26, 255] {
        bench.receive(Self.event(0x3E, [subevent, number] + [UInt8](repeating: 0, count: 250)))
      }
    }
    // Extended data beyond 229 octets, and with the status truncated.
    for (type, count): (UInt8, UInt8) in [(0x00, 230), (0x40, 255), (0x60, 229)] {
      let fields = [type, 0, 1, 2, 3, 4, 5, 6, 7, 1, 0, 0xFF, 127, 0xD0] + [UInt8](repeating: 0, count: 9)
      bench.receive(Self.event(0x3E, [0x0D, 1] + fields + [count] + [UInt8](repeating: 1, count: 200)))
    }
    var random = RandomStream(seed: UInt64(seed))
    let before = bench.host.metrics.malformedEvents
    #expect(before == 9)
    for _ in 0..<2_000 {
      let count = Int(random.next() % 40)
      let octets = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      let subevent: UInt8 = random.next() & 1 == 0 ? 0x02 : 0x0D
      bench.receive(Self.event(0x3E, [subevent, UInt8(random.next() % 4)] + octets))
    }
    for case .advertisingReport(let report) in bench.events { #expect(report.data.count <= 31) }
    #expect(bench.host.metrics.malformedEvents > before)
    try bench.expectWorking(secondLink: secondLink)
  }

  // MARK: H5, H6

  @Test("H5 ACL packets with unknown handles or channels, or longer than all buffers, are dropped")
  func wrongData() throws {
    var (bench, secondLink) = HostHarness.withSecondLink()
    for handle: UInt16 in [0x0123, 0x0EFF, 0x0F00, 0x0FFF] {
      bench.receive([3, 0, 4, 0, 0x0A, 3, 0], on: HCI.ConnectionHandle(rawValue: handle))
    }
    #expect(bench.host.metrics.unknownLinks == 4)
    for channel: UInt16 in [0, 1, 2, 3, 0x3F, 0x80, 0xFFFF] {
      bench.receive(L2CAP.ChannelID(rawValue: channel), [1, 2, 3], on: secondLink)
    }
    bench.receive([UInt8](repeating: 4, count: 4_096), on: secondLink)
    #expect(bench.data.isEmpty && bench.events.isEmpty)
    try bench.expectWorking(secondLink: secondLink)
  }

  @Test("H6 An ACL packet of 65,535 octets is dropped together with its frame, as a start and as a continuation")
  func longestPacket() throws {
    var (bench, secondLink) = HostHarness.withSecondLink()
    let header: [UInt8] = [0xFB, 0xFF, 4, 0]
    let longest = header + [UInt8](repeating: 0x0A, count: 0xFFFB)
    bench.receive(longest, on: secondLink)
    bench.receive([3, 0, 4, 0, 0x0A], on: secondLink)
    bench.receive(longest, on: secondLink, .continuing)
    bench.receive([0x03, 0x00], on: secondLink, .continuing)
    #expect(bench.data.isEmpty)
    #expect(bench.host.metrics.droppedFrames == 2)
    try bench.expectWorking(secondLink: secondLink)
  }

  // MARK: H7

  @Test("H7 Events for links that do not exist, or no longer exist, change nothing")
  func closedLinks() throws {
    var (bench, secondLink) = HostHarness.withSecondLink()
    let closed = bench.link(.peripheral, handle: 0x71, to: Self.peer)
    bench.completeAll()
    bench.receive(.disconnectionComplete(.success, closed, reason: .connectionTimeout))
    bench.forget()
    let length = HCI.DataLength(octets: 251, time: 2120)
    for handle in [closed, Self.unknown] {
      let values = HCI.ConnectionValues(interval: 6, latency: 0, supervisionTimeout: 100)
      let parameters = LinkParameters(
        minimumInterval: 6, maximumInterval: 6, latency: 0, supervisionTimeout: 100)
      let events: [HCI.Event] = [
        .disconnectionComplete(.success, handle, reason: .connectionTimeout),
        .encryptionChange(.success, handle, enabled: 1),
        .encryptionChangeV2(.success, handle, enabled: 1, keySize: 16), .encryptionKeyRefreshComplete(.success, handle),
        .leConnectionUpdateComplete(.success, handle, values), .leReadRemoteFeaturesComplete(.success, handle, []),
        .leLongTermKeyRequest(handle, random: 0, encryptedDiversifier: 0),
        .leRemoteConnectionParameterRequest(handle, parameters),
        .leDataLengthChange(handle, transmit: length, receive: length),
        .lePHYUpdateComplete(.success, handle, transmit: 2, receive: 2), .leChannelSelectionAlgorithm(handle, 1),
        .authenticatedPayloadTimeoutExpired(handle),
        .numberOfCompletedPackets(HCI.CompletedPackets(handle, count: 3, in: bench.pool)),
      ]
      for event in events { bench.receive(event) }
      bench.receive(.attribute, [0x0A, 0x03, 0x00], on: handle)
    }
    #expect(bench.events.isEmpty && bench.commands.isEmpty && bench.data.isEmpty)
    try bench.expectWorking(secondLink: secondLink)
  }

  @Test("H7 A connection reported twice, in both forms or with a handle in use, is one link")
  func reportedTwice() throws {
    var (bench, secondLink) = HostHarness.withSecondLink()
    let complete = HostHarness.connection(.peripheral, HCI.ConnectionHandle(rawValue: 0x71), Self.peer)
    bench.receive(.leEnhancedConnectionComplete(complete))
    bench.receive(.leConnectionComplete(complete))
    bench.receive(.leConnectionComplete(HostHarness.connection(.central, secondLink, Self.peer)))
    #expect(bench.links.count == 1)
    #expect(bench.host.links.count == 2)
    bench.receive(.disconnectionComplete(.success, complete.handle, reason: .connectionTimeout))
    bench.receive(.disconnectionComplete(.success, complete.handle, reason: .connectionTimeout))
    bench.receive(.disconnectionComplete(.unspecifiedError, secondLink, reason: .connectionTimeout))
    #expect(bench.disconnections == [.connectionTimeout])
    try bench.expectWorking(secondLink: secondLink)
  }

  // MARK: H8, H9

  @Test("H8 Continuations without a start, starts in the middle and endless frames are discarded and counted")
  func boundaries() throws {
    var (bench, secondLink) = HostHarness.withSecondLink()
    let handle = bench.link(.peripheral, handle: 0x71, to: Self.peer)
    bench.completeAll()
    bench.receive([0x0A, 0x03, 0x00], on: handle, .continuing)
    #expect(bench.host.metrics.droppedFrames == 1)
    bench.receive([20, 0, 4, 0, 0x0A], on: handle)
    bench.receive([3, 0, 4, 0, 0x0A, 3, 0], on: handle)
    #expect(bench.host.metrics.droppedFrames == 2)
    #expect(try bench.payloads(on: handle, .attribute) == [[0x0B] + Array("Bench".utf8)])
    bench.completeAll()
    bench.receive([0xFF, 0xFF, 4, 0], on: handle)
    for _ in 0..<300 { bench.receive([UInt8](repeating: 0, count: 251), on: handle, .continuing) }
    #expect(bench.host.metrics.droppedFrames == 3)
    #expect(try bench.answersRead(on: handle))
    try bench.expectWorking(secondLink: secondLink)
  }

  @Test("H9 Handles beyond 0x0EFF create no links, and data for them is dropped", arguments: [0x0F00, 0x0FFF])
  func reservedHandles(_ number: UInt16) throws {
    var (bench, secondLink) = HostHarness.withSecondLink()
    let handle = HCI.ConnectionHandle(rawValue: number)
    bench.receive(.leConnectionComplete(HostHarness.connection(.peripheral, handle, Self.peer)))
    bench.receive(.attribute, [0x0A, 0x03, 0x00], on: handle)
    #expect(bench.events.isEmpty && bench.data.isEmpty)
    // The reserved bits above a handle are not part of it.
    bench.receive(Self.event(0x13, [1, 0x70, 0xF0, 1, 0]))
    #expect(bench.host.metrics.unknownLinks == 1)
    try bench.expectWorking(secondLink: secondLink)
  }
}
