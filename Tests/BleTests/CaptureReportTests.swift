import ArgumentParser
import BluetoothAir
import BluetoothDissection
import BluetoothLab
import BluetoothTypes
import Foundation
import Testing

@testable import ble

/// The reports about captures of worlds, beside those of the simulations.
@Suite struct CaptureReportTests {
  /// Runs a world file with the clients of `ble simulate`, and returns the result with the report of the capture.
  private static func run(_ text: String, for time: Duration) throws -> (SimulationResult, CaptureReport) {
    let path = NSTemporaryDirectory() + "/ble-tests-\(UUID().uuidString).pcapng"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let file = try WorldFile(text: text)
    let seed = file.seed ?? 0
    let world = World(seed: seed, capture: try Capture(path: path))
    var population = file.populate(world)
    let phones = file.clients.enumerated().map { index, client in
      let device = world.makeDevice(named: client.name, client.options)
      population.place(index, for: device)
      return SimulatedPhone(.subscribe, on: device)
    }
    world.run(for: time)
    let result = SimulationResult(seed: seed, statistics: world.statistics, phones: phones)
    try world.finishCapture()
    return (result, try CaptureReport(path, PacketFilter(try PacketFilterOptions.parse([])), plots: true))
  }

  @Test("Polls that the latency permits to skip are no losses, and the update's encryption does not hide the latency")
  func latency() throws {
    let (result, report) = try Self.run(
      """
      seed: 5
      devices:
        - {name: keyboard, accessory: keyboard, position: [1, 0]}
      clients:
        - {name: phone, position: [0, 0]}
      """, for: .seconds(20))
    let link = try #require(result.links.first)
    let connections = report.statistics.connections.filter { $0.interface.link.isAir }
    let connection = try #require(connections.first)
    #expect(connections.count == 1 && connection.isEncrypted)
    #expect(connection.intervals == [24, 12] && connection.latency == 20 && connection.timeout == 400)
    #expect(connection.events == link.events && connection.unanswered == 0)
    #expect(connection.skipped > connection.events / 2)
    #expect(connection.toPeripheral.lost == 0 && connection.toCentral.lost == 0)
    #expect(connection.toPeripheral.retransmissions == link.toPeripheral.retransmissions)
    #expect(connection.toCentral.retransmissions == link.toCentral.retransmissions)
    #expect(report.statistics.channels.values.allSatisfy { $0.lost == 0 })
    let picture = try #require(report.plot).svg("keyboard")
    #expect(picture.contains(">phone → keyboard</text>"))
    #expect(picture.contains(">keyboard</text>") && picture.contains(">skipped</text>"))
    // The legend has the only cross.
    #expect(picture.components(separatedBy: "stroke=\"#000000\" stroke-width=\"1.6\"").count == 2)
  }

  @Test("Attempts that failed are counted for each pair of devices by name, as in the simulation, not as connections")
  func attempts() throws {
    let (result, report) = try Self.run(
      """
      seed: 5
      devices:
        - {name: strap, accessory: heart-rate, position: [1, 0]}
      clients:
        - {name: phone, position: [0, 0]}
      faults:
        - {layer: air, fault: lose, advertising: 5, from: phone, numbers: [1, 3]}
      """, for: .seconds(5))
    #expect(result.summary.failedAttempts == 3)
    let told = SimulationResult.Attempts(
      seed: 5, central: "phone", peripheral: "strap", attempts: 4, lostRequests: 3, unanswered: 0)
    #expect(result.attempts == [told] && result.links.map(\.peripheral) == ["strap"])
    let row = "\nphone    strap       3                     4   3                     0\n"
    #expect(SimulationText.report(result).contains(row))
    let attempts = try #require(report.statistics.attempts.first)
    #expect(report.statistics.attempts.count == 1)
    #expect((attempts.count, attempts.lostRequests, attempts.unanswered) == (4, 3, 0))
    #expect(report.statistics.names(of: attempts.addresses) == ["phone", "strap"])
    // The connection on the air, and those of the two hosts.
    #expect(report.statistics.connections.map(\.interface.title) == ["air", "strap", "phone"])
    let line = "\n3                     4   3                     0          phone ("
    #expect(report.text(Style(isPlain: true)).contains(line))
    let picture = try #require(report.plot).svg("strap")
    #expect(picture.contains(">3 failed attempts to connect</text>"))
    #expect(!picture.contains("other connection"))
  }

  @Test("A captured attempt whose request is received, and no answer, has failed unanswered")
  func unanswered() throws {
    let (result, report) = try Self.run(
      """
      seed: 5
      devices:
        - {name: strap, accessory: heart-rate, position: [1, 0]}
      clients:
        - {name: phone, position: [0, 0]}
      faults:
        - {layer: air, fault: lose, control: 0x15, from: strap, numbers: [1, 6]}
      """, for: .seconds(5))
    #expect(result.attempts.map(\.unanswered) == [1] && result.attempts.map(\.lostRequests) == [0])
    let attempts = report.statistics.attempts
    #expect(attempts.map(\.count) == [2] && attempts.map(\.unanswered) == [1] && attempts.map(\.lostRequests) == [0])
  }

  // MARK: Foreign captures

  private static let air = CaptureInterface(index: 0, name: "air", link: .linkLayerWithHeader)
  private static let addresses = [DeviceAddress(0xC000_0000_0001, .random), DeviceAddress(0xC000_0000_0002, .random)]

  /// A connection at an interval of 30 ms.
  private struct Link {
    var statistics = CaptureStatistics()
    private var time: Int64 = 0

    init(latency: UInt16) {
      statistics.add(CaptureReportTests.air)
      add(after: 0) { packet in
        packet.content = .advertising
        packet.timing = (24, latency, 200)
      }
    }

    @discardableResult
    mutating func add(
      after pause: Int64, comments: [String] = [], _ change: (inout PacketDescription) -> Void
    ) -> CaptureStatistics.Fate {
      time += pause
      let packet = CapturedPacket(
        number: 1, time: time, interface: CaptureReportTests.air, octets: [], originalLength: 0)
      var description = PacketDescription(packet)
      (description.connection, description.addresses) = (0x5065_0001, CaptureReportTests.addresses)
      description.link = 1
      (description.channel, description.content, description.comments) = (5, .data, comments)
      change(&description)
      return statistics.add(packet, description)
    }

    /// Adds an event with a packet of the central, and one of the peripheral if it answers.
    @discardableResult
    mutating func event(isAnswered: Bool, comments: [String] = [], latency: UInt16? = nil) -> CaptureStatistics.Fate {
      let fate = add(after: 30_000_000, comments: comments) { packet in
        packet.direction = .toPeripheral
        if let latency { packet.timing = (24, latency, 200) }
      }
      if isAnswered { add(after: 230_000) { $0.direction = .toCentral } }
      return fate
    }

    /// The numbers of events, of skipped ones and of unanswered ones.
    var counts: [Int] {
      statistics.connections.first.map { [$0.events, $0.skipped, $0.unanswered] } ?? []
    }
  }

  @Test("Events without an answer are skipped up to the latency, and unanswered beyond it")
  func silentEvents() {
    var link = Link(latency: 2)
    // Before the first answer, nothing may be skipped.
    for isAnswered in [false, true, false, false, true, false, false, false, false, true] {
      link.event(isAnswered: isAnswered)
    }
    link.event(isAnswered: true)
    #expect(link.counts == [11, 4, 3])
  }

  @Test("A poll that the peripheral received badly is lost although the latency permits to skip it")
  func badReception() {
    var link = Link(latency: 9)
    link.event(isAnswered: true, comments: ["a → b -60 dBm"])
    #expect(link.event(isAnswered: false, comments: ["a → nobody"]) == .skipped)
    #expect(link.event(isAnswered: false, comments: ["a → b corrupt -90 dBm"]) == .lost)
    // A peripheral that has missed a packet listens until it hears the next one.
    #expect(link.event(isAnswered: false, comments: ["a → nobody"]) == .lost)
    link.event(isAnswered: true, comments: ["a → b -60 dBm"])
    #expect(link.event(isAnswered: false, comments: ["a → nobody"]) == .skipped)
    #expect(link.statistics.connections[0].toPeripheral.lost == 2)
    link.event(isAnswered: true, comments: ["a → b -60 dBm"])
    #expect(link.counts == [7, 2, 2])
  }

  @Test("After an update, the former latency counts until the instant can have come")
  func formerLatency() {
    var link = Link(latency: 1)
    link.event(isAnswered: true)
    link.event(isAnswered: true, latency: 0)
    for _ in 0..<6 {
      link.event(isAnswered: false)
      link.event(isAnswered: true)
    }
    #expect(link.counts == [14, 6, 0])
    for _ in 0..<2 {
      link.event(isAnswered: false)
      link.event(isAnswered: true)
    }
    #expect(link.counts == [18, 7, 1])
  }

  @Test(
    "Parameters in a comment that no world has written are ignored",
    arguments: [
      "LL_CONNECTION_UPDATE_IND: interval 1e400 ms, latency 20, timeout 4000 ms",
      "LL_CONNECTION_UPDATE_IND: interval -15 ms, latency 20, timeout 4000 ms",
      "LL_CONNECTION_UPDATE_IND: interval 15.0 ms, latency 65536, timeout 4000 ms",
      "LL_CONNECTION_UPDATE_IND: interval 15.0 ms, latency 20", "LL_CONNECTION_UPDATE_IND:",
    ])
  func strangeComments(comment: String) {
    var packet = CapturedPacket(
      number: 1, time: 0, interface: Self.air,
      // The pseudo-header, an access address, and an encrypted LL Control PDU.
      octets: [5, 0, 0, 0, 1, 0, 0x65, 0x50, 0x01, 0x0D, 1, 0, 0x65, 0x50, 0x03, 5, 1, 2, 3, 4, 5, 0, 0, 0],
      originalLength: 24)
    packet.comments = ["encrypted", comment]
    var dissector = Dissector()
    let description = dissector.describe(packet)
    #expect(description.isEncrypted && description.timing == nil)
    packet.comments[1] = "LL_CONNECTION_UPDATE_IND: interval 16.25 ms, latency 20, timeout 4000 ms"
    #expect(dissector.describe(packet).timing.map { [$0.interval, $0.latency, $0.timeout] } == [13, 20, 400])
  }
}
