import BluetoothHost
import BluetoothWire
import TestSupport
import Testing

/// The link layer procedures that a host starts · Vol 6, Part B, 5.1.
struct LinkProcedureTests {
  private static let fast: HCI.LEFeatures = [
    .encryption, .dataPacketLengthExtension, .connectionParametersRequestProcedure, .le2MPHY,
  ]
  private static let both = HCI.PHYPreference(transmit: [.le1M, .le2M], receive: [.le1M, .le2M])
  private static let parameters = LinkParameters(
    minimumInterval: 12, maximumInterval: 24, latency: 0, supervisionTimeout: 200)

  private func bench(_ preferred: HCI.PHYs?, _ features: HCI.LEFeatures = fast) -> HostHarness {
    var configuration = HostConfiguration(deviceName: "Bench", address: HostHarness.address)
    configuration.preferredPHYs = preferred
    configuration.requestsParametersByLinkLayer = true
    var bench = HostHarness(configuration: configuration)
    bench.facts.leFeatures = features
    bench.facts.supportedCommands = HCI.SupportedCommands(
      HostHarness.servedCommands + [.leReadRemoteFeatures, .leSetPHY, .leSetDefaultPHY])
    bench.answers[.leSetPHY] = .status(.success)
    return bench
  }

  // MARK: PHYs

  @Test("A host configured for LE 2M sets that preference at a controller with LE 2M, and at no other")
  func defaultPHY() {
    for (preferred, features, expected): (HCI.PHYs?, HCI.LEFeatures, HCI.PHYs?) in [
      ([.le1M, .le2M], Self.fast, [.le1M, .le2M]), ([.le1M, .le2M], .encryption, nil), (nil, Self.fast, nil),
      (.le1M, Self.fast, .le1M), ([.le1M, .le2M, .leCoded], Self.fast, [.le1M, .le2M]), (.leCoded, Self.fast, nil),
    ] {
      var bench = bench(preferred, features)
      bench.perform { host, now in host.setPower(true, at: now) }
      let preferences = bench.commands.compactMap {
        if case .leSetDefaultPHY(let preference) = $0 { preference } else { nil }
      }
      #expect(preferences == (expected.map { [HCI.PHYPreference(transmit: $0, receive: $0)] } ?? []))
      #expect(bench.powerChanges == [.starting, .on])
    }
  }

  @Test(
    "A central starts data length, feature and PHY procedures in this order; its MTU request waits for none")
  func order() throws {
    var bench = bench([.le1M, .le2M])
    bench.powerOn()
    bench.perform { host, now in host.connect(to: HostHarness.peer, at: now) }
    bench.forget()
    let handle = HCI.ConnectionHandle(rawValue: 1)
    bench.receive(.leConnectionComplete(HostHarness.connection(.central, handle, HostHarness.peer)))
    let length = HCI.DataLength(octets: 251, time: 2120)
    #expect(bench.commands == [.leSetDataLength(handle, length), .leReadRemoteFeatures(handle)])
    #expect(try bench.payloads(on: handle, .attribute) == [[0x02, 0x05, 0x02]])
    bench.receive(.leReadRemoteFeaturesComplete(.success, handle, [.encryption, .le2MPHY]))
    #expect(bench.commands.last == .leSetPHY(handle, Self.both, options: 0))
    #expect(bench.links.map(\.handle) == [handle])
  }

  @Test("The host requests no LE 2M from a peer without it, or with unknown features")
  func slowPeer() {
    for (status, features): (HCI.ErrorCode, HCI.LEFeatures) in [
      (.success, .encryption), (.unsupportedRemoteFeature, .le2MPHY), (.success, .leCodedPHY),
    ] {
      var bench = bench([.le1M, .le2M])
      bench.powerOn()
      let handle = bench.link(.central)
      bench.receive(.leReadRemoteFeaturesComplete(status, handle, features))
      #expect(!bench.commands.map(\.opcode).contains(.leSetPHY))
    }
  }

  @Test(
    "A host without a PHY preference reads no peer's features", arguments: [nil, HCI.PHYs.leCoded] as [HCI.PHYs?])
  func noPreference(_ preferred: HCI.PHYs?) {
    var bench = bench(preferred)
    bench.powerOn()
    bench.link(.central)
    #expect(!bench.commands.map(\.opcode).contains(.leReadRemoteFeatures))
  }

  @Test("A peripheral starts no link layer procedure")
  func peripheral() {
    var bench = bench([.le1M, .le2M])
    bench.powerOn()
    bench.link(.peripheral)
    #expect(bench.commands.isEmpty)
  }

  @Test("An unanswered LE Set PHY does not delay data and is not sent again")
  func silentSetPHY() throws {
    var bench = bench([.le1M, .le2M])
    bench.answers[.leSetPHY] = .noAnswer
    bench.powerOn()
    let handle = bench.link(.central)
    bench.receive(.attribute, [0x03, 0x05, 0x02], on: handle)
    bench.receive(.leReadRemoteFeaturesComplete(.success, handle, .le2MPHY))
    bench.completeAll()
    bench.perform { host, now in host.request(.read(3), token: 1, on: handle, at: now) }
    #expect(try bench.payloads(on: handle, .attribute) == [[0x0A, 0x03, 0x00]])
    bench.forget()
    bench.passToDeadline()
    #expect(bench.troubles == [.unanswered(.leSetPHY)])
    #expect(bench.powerChanges.isEmpty)
    let second = bench.link(.central, handle: 2, to: DeviceAddress(8, .public))
    bench.receive(.leReadRemoteFeaturesComplete(.success, second, .le2MPHY))
    #expect(!bench.commands.map(\.opcode).contains(.leSetPHY))
  }

  @Test("The host stores a link's PHYs, data lengths, parameters and peer features as reported by the controller")
  func properties() throws {
    var bench = bench([.le1M, .le2M])
    bench.powerOn()
    let handle = bench.link(.peripheral)
    var expected = HostLinkProperties(values: HCI.ConnectionValues(interval: 24, latency: 0, supervisionTimeout: 200))
    #expect(bench.host.properties(of: handle) == expected)
    let values = HCI.ConnectionValues(interval: 6, latency: 4, supervisionTimeout: 300)
    bench.receive(.leConnectionUpdateComplete(.success, handle, values))
    bench.receive(.leConnectionUpdateComplete(.controllerBusy, handle, expected.values))
    bench.receive(
      .leDataLengthChange(
        handle, transmit: HCI.DataLength(octets: 251, time: 2120), receive: HCI.DataLength(octets: 100, time: 912)))
    bench.receive(.lePHYUpdateComplete(.success, handle, transmit: 2, receive: 3))
    bench.receive(.lePHYUpdateComplete(.unsupportedRemoteFeature, handle, transmit: 1, receive: 1))
    bench.receive(.lePHYUpdateComplete(.success, handle, transmit: 9, receive: 3))
    bench.receive(.leReadRemoteFeaturesComplete(.success, handle, .ping))
    expected.values = values
    expected.transmitLength = HCI.DataLength(octets: 251, time: 2120)
    expected.receiveLength = HCI.DataLength(octets: 100, time: 912)
    expected.transmitPHY = .le2M
    expected.receivePHY = .leCoded
    expected.remoteFeatures = .ping
    #expect(bench.host.properties(of: handle) == expected)
    #expect(bench.host.properties(of: HCI.ConnectionHandle(rawValue: 0x99)) == nil)
  }

  // MARK: Connection parameters

  private func ask(
    _ bench: inout HostHarness, _ handle: HCI.ConnectionHandle, _ parameters: LinkParameters = parameters
  ) {
    bench.perform { host, now in host.updateConnection(handle, parameters, at: now) }
  }

  private func peripheral(_ features: HCI.LEFeatures?) -> (HostHarness, HCI.ConnectionHandle) {
    var bench = bench(nil)
    bench.powerOn()
    let handle = bench.link(.peripheral)
    bench.wait(.seconds(5))
    bench.forget()
    ask(&bench, handle)
    #expect(bench.commands == [.leReadRemoteFeatures(handle)])
    bench.receive(
      .leReadRemoteFeaturesComplete(features == nil ? .unsupportedRemoteFeature : .success, handle, features ?? []))
    return (bench, handle)
  }

  private static let byL2CAP: [UInt8] = [0x12, 1, 8, 0, 12, 0, 24, 0, 0, 0, 200, 0]

  @Test(
    "A peripheral uses the link layer procedure if its central has it, and sends the last of several requests")
  func byLinkLayer() throws {
    var (bench, handle) = peripheral(.connectionParametersRequestProcedure)
    let update = HCI.Command.leConnectionUpdate(handle, Self.parameters, HCI.ConnectionEventLength())
    #expect(bench.commands.last == update)
    bench.forget()
    var other = Self.parameters
    for latency: UInt16 in 1...3 {
      other.latency = latency
      ask(&bench, handle, other)
    }
    #expect(bench.commands.isEmpty)
    let values = HCI.ConnectionValues(interval: 24, latency: 0, supervisionTimeout: 200)
    bench.receive(.leConnectionUpdateComplete(.success, handle, values))
    #expect(bench.commands == [.leConnectionUpdate(handle, other, HCI.ConnectionEventLength())])
    bench.receive(.leConnectionUpdateComplete(.unacceptableConnectionParameters, handle, values))
    #expect(bench.commands.count == 1)
    #expect(try bench.payloads(on: handle, .signalling).isEmpty)
  }

  @Test("A central's update does not cancel the peripheral's own request that has not been sent yet")
  func crossingUpdates() {
    var (bench, handle) = peripheral(.connectionParametersRequestProcedure)
    let values = HCI.ConnectionValues(interval: 24, latency: 0, supervisionTimeout: 200)
    bench.receive(.leConnectionUpdateComplete(.success, handle, values))
    bench.answers[.readRSSI] = .noAnswer
    bench.perform { host, now in host.readRSSI(handle, at: now) }
    bench.forget()
    var requests = [Self.parameters, Self.parameters]
    for place in requests.indices { requests[place].latency = UInt16(place + 1) }
    ask(&bench, handle, requests[0])
    bench.receive(.leConnectionUpdateComplete(.success, handle, values))
    ask(&bench, handle, requests[1])
    let updates = requests.map { HCI.Command.leConnectionUpdate(handle, $0, HCI.ConnectionEventLength()) }
    bench.receive(.commandComplete(credits: 1, .readRSSI, .rssi(handle, -40)))
    #expect(bench.commands == [updates[0]])
    bench.receive(.leConnectionUpdateComplete(.success, handle, values))
    #expect(bench.commands == updates)
  }

  @Test("The completion of an update may precede the Command Status")
  func earlyEnd() {
    var (bench, handle) = peripheral(.connectionParametersRequestProcedure)
    let values = HCI.ConnectionValues(interval: 24, latency: 0, supervisionTimeout: 200)
    bench.receive(.leConnectionUpdateComplete(.success, handle, values))
    bench.answers[.leConnectionUpdate] = .noAnswer
    bench.forget()
    ask(&bench, handle)
    var other = Self.parameters
    other.latency = 1
    ask(&bench, handle, other)
    bench.receive(.leConnectionUpdateComplete(.success, handle, values))
    #expect(bench.commands.count == 1)
    bench.receive(.commandStatus(.success, credits: 1, .leConnectionUpdate))
    #expect(bench.commands.last == .leConnectionUpdate(handle, other, HCI.ConnectionEventLength()))
    #expect(bench.commands.count == 2)
  }

  @Test("A peripheral uses L2CAP if its central lacks the procedure or its features are unknown")
  func byFrames() throws {
    for features: HCI.LEFeatures? in [.encryption, nil] {
      var (bench, handle) = peripheral(features)
      #expect(try bench.payloads(on: handle, .signalling) == [Self.byL2CAP])
      bench.receive(.signalling, [0x13, 1, 2, 0, 0, 0], on: handle)
      bench.wait(.seconds(1))
      bench.forget()
      // The host does not repeat the request.
      ask(&bench, handle)
      #expect(bench.commands.isEmpty)
      #expect(try bench.payloads(on: handle, .signalling).count == 1)
    }
  }

  @Test("A central that claims the procedure but rejects it as unknown gets an L2CAP request")
  func refusedByLinkLayer() throws {
    var (bench, handle) = peripheral(.connectionParametersRequestProcedure)
    let values = HCI.ConnectionValues(interval: 24, latency: 0, supervisionTimeout: 200)
    bench.receive(.leConnectionUpdateComplete(.unsupportedRemoteFeature, handle, values))
    #expect(try bench.payloads(on: handle, .signalling) == [Self.byL2CAP])
  }

  @Test(
    "A request that the central's link layer refuses is repeated over L2CAP",
    arguments: [HCI.ErrorCode.unknownConnectionIdentifier, .invalidLLParameters])
  func repeatedByL2CAP(_ reason: HCI.ErrorCode) throws {
    var (bench, handle) = peripheral(.connectionParametersRequestProcedure)
    let values = HCI.ConnectionValues(interval: 24, latency: 0, supervisionTimeout: 200)
    bench.receive(.leConnectionUpdateComplete(reason, handle, values))
    #expect(try bench.payloads(on: handle, .signalling) == [Self.byL2CAP])
    // Once only: the central's answer now is final.
    bench.receive(.signalling, [0x13, 1, 2, 0, 1, 0], on: handle)
    #expect(try bench.payloads(on: handle, .signalling).count == 1)
  }

  @Test("A peripheral requests other parameters no sooner than 5 s after the link was created")
  func pause() throws {
    var bench = bench(nil)
    bench.powerOn()
    let handle = bench.link(.peripheral)
    bench.forget()
    ask(&bench, handle)
    #expect(bench.commands.isEmpty)
    bench.wait(.milliseconds(4_999))
    #expect(bench.commands.isEmpty)
    bench.wait(.milliseconds(1))
    #expect(bench.commands == [.leReadRemoteFeatures(handle)])
  }

  @Test("On a link older than 5 s with a quiet central, a peripheral sends its request at once")
  func quietCentral() {
    var bench = bench(nil)
    bench.powerOn()
    let handle = bench.link(.peripheral)
    bench.wait(.seconds(6))
    bench.forget()
    ask(&bench, handle)
    #expect(bench.commands == [.leReadRemoteFeatures(handle)])
  }

  @Test("A peripheral waits until its central has been quiet for 1 s, at most 5 s")
  func busyCentral() {
    for (requests, wait) in [(3, 1_700), (30, 5_000)] as [(Int, Int64)] {
      var bench = bench(nil)
      bench.powerOn()
      let handle = bench.link(.peripheral)
      bench.wait(.seconds(6))
      bench.forget()
      let start = bench.now
      bench.receive(.attribute, [0x0A, 0x03, 0x00], on: handle)
      ask(&bench, handle)
      var asked: Instant?
      for number in 1...60 {
        bench.wait(.milliseconds(350)) { bench in
          if asked == nil, !bench.commands.isEmpty { asked = bench.now }
        }
        if number < requests { bench.receive(.attribute, [0x0A, 0x03, 0x00], on: handle) }
        bench.completeAll()
      }
      #expect(asked == start + .milliseconds(wait))
      #expect(bench.commands == [.leReadRemoteFeatures(handle)])
    }
  }
}

extension HostHarness {
  /// Advances the time and calls the host at each of its deadlines.
  ///
  /// - Parameter look: Called after each deadline.
  fileprivate mutating func wait(_ span: TimeSpan, _ look: (HostHarness) -> Void = { _ in }) {
    let end = now + span
    while let deadline = host.deadline, deadline <= end {
      passToDeadline()
      look(self)
    }
    now = end
  }
}
