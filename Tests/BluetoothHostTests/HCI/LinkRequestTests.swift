import BluetoothHost
import BluetoothWire
import TestSupport
import Testing

/// Requests of the upper layer for other properties of a link.
struct LinkRequestTests {
  private static let parameters = ConnectionParameters(
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

  @Test("A peripheral can't choose connection parameters")
  func peripheral() {
    var bench = bench()
    let handle = bench.link(.peripheral)
    bench.forget()
    bench.perform { host, now in host.changeLink(handle, .connectionParameters(Self.parameters), at: now) }
    #expect(bench.commands.isEmpty)
    #expect(reports(bench) == ["notSupported"])
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
