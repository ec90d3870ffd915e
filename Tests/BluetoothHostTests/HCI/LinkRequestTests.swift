import BluetoothHost
import BluetoothWire
import TestSupport
import Testing

/// Requests of the upper layer for other properties of a link.
struct LinkRequestTests {
  private static let parameters = LinkParameters(
    minimumInterval: 12, maximumInterval: 12, latency: 0, supervisionTimeout: 200)
  private static let values = HCI.ConnectionValues(interval: 12, latency: 0, supervisionTimeout: 200)
  private static let fast = HCI.PHYPreference(transmit: .le2M, receive: .le2M)

  private func bench(preferred: HCI.PHYs? = nil) -> HostHarness {
    var configuration = HostConfiguration(deviceName: "Bench", address: HostHarness.address)
    configuration.preferredPHYs = preferred
    var bench = HostHarness(configuration: configuration)
    bench.facts.leFeatures = [.encryption, .dataPacketLengthExtension, .le2MPHY]
    bench.facts.supportedCommands = HCI.SupportedCommands(
      HostHarness.servedCommands + [.leReadRemoteFeatures, .leSetPHY, .leSetDefaultPHY, .leConnectionUpdate])
    bench.answers[.leSetPHY] = .status(.success)
    bench.answers[.leConnectionUpdate] = .status(.success)
    bench.powerOn()
    return bench
  }

  /// Returns the ends of requests and the changes of links, in their order.
  private func reports(_ bench: HostHarness) -> [String] {
    bench.events.compactMap { event in
      switch event {
      case .linkChanged: "changed"
      case .linkRequestEnded(_, let error): error.map { "\($0)" } ?? "done"
      default: nil
      }
    }
  }

  @Test("A request for connection parameters ends when they are in use, after the report of the change")
  func parameters() {
    var bench = bench()
    bench.perform { host, _ in host.reportsLinkChanges = true }
    let handle = bench.link(.central)
    bench.forget()
    bench.perform { host, now in host.changeLink(handle, .connectionParameters(Self.parameters), at: now) }
    #expect(bench.commands.map(\.opcode) == [.leConnectionUpdate])
    #expect(reports(bench) == [])
    bench.receive(.leConnectionUpdateComplete(.success, handle, Self.values))
    #expect(reports(bench) == ["changed", "done"])
    #expect(bench.host.properties(of: handle)?.values == Self.values)
  }

  /// Requests parameters as peripheral, and passes the time until the request is sent. Returns the identifier of the
  /// L2CAP request; nil: the request took another way.
  private func requestAsPeripheral(_ bench: inout HostHarness, on handle: HCI.ConnectionHandle) throws -> UInt8? {
    let isYoung = bench.now < .zero + .seconds(5)
    bench.forget()
    bench.perform { host, now in host.changeLink(handle, .connectionParameters(Self.parameters), at: now) }
    #expect(!isYoung || bench.commands.isEmpty)
    #expect(try !isYoung || bench.payloads(on: handle, .signalling).isEmpty)
    bench.now = bench.now + .seconds(5)
    bench.host.timeReached(bench.now)
    bench.run()
    return try bench.payloads(on: handle, .signalling).first { $0.first == 0x12 }?[1]
  }

  @Test("A peripheral's request ends with the central's answer by L2CAP", arguments: [true, false])
  func peripheral(isAccepted: Bool) throws {
    var bench = bench()
    let report = isAccepted ? "done" : "\(HostError.controller(.unacceptableConnectionParameters))"
    let result: UInt8 = isAccepted ? 0 : 1
    let handle = bench.link(.peripheral)
    let identifier = try #require(try requestAsPeripheral(&bench, on: handle))
    // An answer to another request changes nothing, and neither does the central's own update.
    bench.receive(.signalling, [0x13, identifier &+ 1, 2, 0, result, 0], on: handle)
    bench.receive(.leConnectionUpdateComplete(.success, handle, Self.values))
    #expect(reports(bench) == [])
    bench.receive(.signalling, [0x13, identifier, 2, 0, result, 0], on: handle)
    #expect(reports(bench) == [report])
    bench.receive(.leConnectionUpdateComplete(.success, handle, Self.values))
    #expect(reports(bench) == [report])
  }

  @Test("A peripheral's request ends if the central rejects or does not answer it")
  func peripheralWithoutAnswer() throws {
    var bench = bench()
    let handle = bench.link(.peripheral)
    let identifier = try #require(try requestAsPeripheral(&bench, on: handle))
    bench.receive(.signalling, [0x01, identifier, 2, 0, 0, 0], on: handle)
    #expect(reports(bench) == ["\(HostError.controller(.unsupportedRemoteFeature))"])
    _ = try requestAsPeripheral(&bench, on: handle)
    bench.now = bench.now + .seconds(30)
    bench.host.timeReached(bench.now)
    bench.run()
    #expect(reports(bench) == ["\(HostError.controller(.connectionTimeout))"])
  }

  @Test("A peripheral's request by the link layer ends with its update, and goes on by L2CAP if the peer lacks it")
  func peripheralByLinkLayer() throws {
    var bench = bench()
    bench.facts.leFeatures.insert(.connectionParametersRequestProcedure)
    bench.answers[.leReadRemoteFeatures] = .status(.success)
    bench.perform { host, now in host.setPower(false, at: now) }
    bench.powerOn()
    let handle = bench.link(.peripheral)
    bench.receive(.leReadRemoteFeaturesComplete(.success, handle, [.connectionParametersRequestProcedure]))
    #expect(try requestAsPeripheral(&bench, on: handle) == nil)
    #expect(bench.commands.map(\.opcode) == [.leConnectionUpdate])
    bench.receive(.leConnectionUpdateComplete(.success, handle, Self.values))
    #expect(reports(bench) == ["done"])
    _ = try requestAsPeripheral(&bench, on: handle)
    bench.receive(.leConnectionUpdateComplete(.unsupportedRemoteFeature, handle, Self.values))
    #expect(reports(bench) == [])
    let identifier = try #require(try bench.payloads(on: handle, .signalling).last { $0.first == 0x12 }?[1])
    bench.receive(.signalling, [0x13, identifier, 2, 0, 0, 0], on: handle)
    #expect(reports(bench) == ["done"])
  }

  @Test("A peripheral's request goes on by L2CAP if the controller never reports the central's features")
  func peripheralWithoutFeatures() throws {
    var bench = bench()
    bench.facts.leFeatures.insert(.connectionParametersRequestProcedure)
    bench.perform { host, now in host.setPower(false, at: now) }
    bench.powerOn()
    let handle = bench.link(.peripheral)
    #expect(try requestAsPeripheral(&bench, on: handle) == nil)
    #expect(bench.commands.map(\.opcode) == [.leReadRemoteFeatures])
    #expect(bench.host.deadline == bench.now + .seconds(42))
    bench.passToDeadline()
    let identifier = try #require(try bench.payloads(on: handle, .signalling).last { $0.first == 0x12 }?[1])
    bench.receive(.signalling, [0x13, identifier, 2, 0, 0, 0], on: handle)
    #expect(reports(bench) == ["done"])
  }

  @Test("A request ends with the error of the command or of the procedure, and on an unknown link at once")
  func errors() {
    var bench = bench()
    let handle = bench.link(.central)
    bench.answers[.leSetPHY] = .status(.unsupportedRemoteFeature)
    bench.answers[.leConnectionUpdate] = .status(.controllerBusy)
    bench.forget()
    bench.perform { host, now in host.changeLink(handle, .phys(Self.fast, options: 0), at: now) }
    bench.perform { host, now in host.changeLink(handle, .connectionParameters(Self.parameters), at: now) }
    bench.answers[.leSetPHY] = .status(.success)
    bench.perform { host, now in host.changeLink(handle, .phys(Self.fast, options: 0), at: now) }
    bench.receive(.lePHYUpdateComplete(.llResponseTimeout, handle, transmit: 1, receive: 1))
    bench.perform { host, now in
      host.changeLink(HCI.ConnectionHandle(rawValue: 0x99), .phys(Self.fast, options: 0), at: now)
    }
    #expect(
      reports(bench) == [
        "\(HostError.controller(.unsupportedRemoteFeature))", "\(HostError.controller(.controllerBusy))",
        "\(HostError.controller(.llResponseTimeout))", "notConnected",
      ])
  }

  @Test("A request for PHYs does not end with the host's own choice after connecting")
  func choice() {
    var bench = bench(preferred: [.le1M, .le2M])
    let handle = bench.link(.central)
    bench.receive(.leReadRemoteFeaturesComplete(.success, handle, [.encryption, .le2MPHY]))
    bench.forget()
    bench.perform { host, now in host.changeLink(handle, .phys(Self.fast, options: 0), at: now) }
    bench.receive(.lePHYUpdateComplete(.success, handle, transmit: 2, receive: 1))
    #expect(reports(bench) == [])
    bench.receive(.lePHYUpdateComplete(.success, handle, transmit: 2, receive: 2))
    #expect(reports(bench) == ["done"])
  }

  @Test("A request for PHYs ends with an event that comes before Command Status")
  func early() {
    var bench = bench()
    let handle = bench.link(.central)
    bench.answers[.leSetPHY] = .noAnswer
    bench.forget()
    bench.perform { host, now in host.changeLink(handle, .phys(Self.fast, options: 0), at: now) }
    bench.receive(.lePHYUpdateComplete(.success, handle, transmit: 2, receive: 2))
    #expect(reports(bench) == [])
    bench.receive(.commandStatus(.success, credits: 1, .leSetPHY))
    #expect(reports(bench) == ["done"])
  }

  @Test("A request for a data length ends when the controller has accepted it")
  func dataLength() {
    var bench = bench()
    let handle = bench.link(.central)
    bench.forget()
    let length = HCI.DataLength(octets: 100, time: 912)
    bench.perform { host, now in host.changeLink(handle, .dataLength(length), at: now) }
    #expect(bench.commands == [.leSetDataLength(handle, length)])
    #expect(reports(bench) == ["done"])
  }

  @Test("Changes of links are reported only on request")
  func silence() {
    var bench = bench()
    let handle = bench.link(.central)
    bench.receive(.leConnectionUpdateComplete(.success, handle, Self.values))
    bench.receive(.lePHYUpdateComplete(.success, handle, transmit: 2, receive: 2))
    #expect(reports(bench) == [])
  }
}
