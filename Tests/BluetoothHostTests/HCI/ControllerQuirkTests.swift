import BluetoothHost
import BluetoothWire
import TestSupport
import Testing

/// Controllers that report little, report too much, or report it in an unusual order.
struct ControllerQuirkTests {
  private func bench(_ change: (inout HostHarness) -> Void = { _ in }) -> HostHarness {
    var bench = HostHarness()
    change(&bench)
    bench.powerOn()
    return bench
  }

  // MARK: Claims

  @Test("A controller with only the newer version of LE Read Buffer Size gets that command")
  func newerBufferSize() {
    var bench = HostHarness()
    bench.facts.supportedCommands = HCI.SupportedCommands(
      HostHarness.servedCommands.filter { $0 != .leReadBufferSize } + [.leReadBufferSizeV2])
    bench.answers[.leReadBufferSizeV2] = .complete(
      .leBufferSizeV2(aclLength: 27, aclCount: 2, isoLength: 0, isoCount: 0))
    bench.perform { host, now in host.setPower(true, at: now) }
    #expect(bench.powerChanges == [.starting, .on])
    #expect(!bench.commands.contains(.leReadBufferSize))
    let handle = bench.link(.peripheral)
    for _ in 0..<2 { bench.receive(.attribute, [0x0A, 0x03, 0x00], on: handle) }
    #expect(bench.data.count == 2)
  }

  @Test("The events of encryption and PHYs stay masked for a controller without these features")
  func smallMasks() {
    var bench = HostHarness()
    bench.facts.leFeatures = []
    bench.perform { host, now in host.setPower(true, at: now) }
    let small: HCI.EventMask = [
      .disconnectionComplete, .readRemoteVersionInformationComplete, .hardwareError, .dataBufferOverflow, .leMeta,
    ]
    #expect(bench.commands.contains(.setEventMask(small)))
    var rich = HostHarness()
    rich.facts.leFeatures = [.encryption, .le2MPHY]
    rich.perform { host, now in host.setPower(true, at: now) }
    #expect(rich.commands.contains(.setEventMask(small.union([.encryptionChange, .encryptionKeyRefreshComplete]))))
    // Bits of the default mask, and of LE PHY Update Complete · 7.8.1.
    let mask = HCI.LEEventMask(rawValue: 0x1F | 1 << 11)
    #expect(rich.commands.contains(.leSetEventMask(mask)))
  }

  @Test("A controller that grants no command credits during start-up starts once it grants them", arguments: [0, 3, 7])
  func creditsInStartup(_ step: Int) {
    var bench = HostHarness()
    let order: [HCI.Opcode] = [
      .reset, .readLocalSupportedCommands, .readLocalSupportedFeatures, .readBDADDR, .leReadLocalSupportedFeatures,
      .leReadBufferSize, .setEventMask, .leSetEventMask,
    ]
    let opcode = order[step]
    bench.answers[opcode] = .noAnswer
    bench.perform { host, now in host.setPower(true, at: now) }
    #expect(bench.commands.last?.opcode == opcode)
    let answers: [HCI.Opcode: HCI.ReturnParameters] = [
      .readBDADDR: .bdADDR(0), .reset: .status(.success), .leSetEventMask: .status(.success),
    ]
    bench.receive(.commandComplete(credits: 0, opcode, answers[opcode] ?? .status(.success)))
    #expect(bench.commands.last?.opcode == opcode)
    bench.answers = [:]
    bench.receive(.commandComplete(credits: 1, .none, .unknown([])))
    #expect(bench.powerChanges == [.starting, .on])
  }

  @Test("A controller that sends its command credits unsolicited at its start is started")
  func greeting() {
    var bench = HostHarness()
    bench.answers[.reset] = .noAnswer
    bench.perform { host, now in host.setPower(true, at: now) }
    bench.receive(.commandComplete(credits: 1, .none, .unknown([])))
    bench.receive(.commandComplete(credits: 1, .reset, .status(.success)))
    #expect(bench.powerChanges == [.starting, .on])
  }

  @Test("The public address is read, and a peer with the same address is rejected")
  func publicAddress() {
    var bench = bench()
    #expect(bench.host.publicAddress == DeviceAddress(HostHarness.publicAddress, .public))
    bench.link(.peripheral, handle: 5, to: DeviceAddress(HostHarness.publicAddress, .public))
    #expect(bench.links.isEmpty)
    var without = HostHarness()
    without.answers[.readBDADDR] = .complete(.bdADDR(0))
    without.powerOn()
    #expect(without.host.publicAddress == nil)
  }

  @Test("A start-up in which only Reset and the buffer size are answered fails, and the controller is abandoned")
  func silentStartup() {
    var bench = HostHarness()
    for opcode: HCI.Opcode in [.readLocalSupportedFeatures, .readBDADDR, .leReadLocalSupportedFeatures] {
      bench.answers[opcode] = .noAnswer
    }
    bench.perform { host, now in host.setPower(true, at: now) }
    while bench.host.deadline != nil { bench.passToDeadline() }
    #expect(bench.powerChanges == [.starting, .unsupported])
    #expect(bench.now == .zero + .seconds(12))
    #expect(bench.troubles.last == .failed)
  }

  // MARK: Order

  @Test("LE Connection Update Complete before its Command Status is accepted")
  func updateBeforeStatus() throws {
    var bench = bench()
    let handle = bench.link(.central)
    bench.completeAll()
    bench.forget()
    bench.answers[.leConnectionUpdate] = .noAnswer
    let request: [UInt8] = [0x12, 1, 8, 0, 12, 0, 12, 0, 0, 0, 200, 0]
    for _ in 0..<2 {
      bench.forget()
      bench.receive(.signalling, request, on: handle)
      #expect(try bench.payloads(on: handle, .signalling) == [[0x13, 1, 2, 0, 0, 0]])
      #expect(bench.commands.map(\.opcode) == [.leConnectionUpdate])
      bench.receive(
        .leConnectionUpdateComplete(
          .success, handle, HCI.ConnectionValues(interval: 12, latency: 0, supervisionTimeout: 200)))
      bench.receive(.commandStatus(.success, credits: 1, .leConnectionUpdate))
      bench.completeAll()
    }
  }

  @Test("Disconnection Complete before its Command Status ends the link once")
  func disconnectionBeforeStatus() throws {
    var bench = bench()
    let handle = bench.link(.peripheral)
    bench.forget()
    bench.answers[.disconnect] = .noAnswer
    bench.perform { host, now in host.disconnect(handle, at: now) }
    bench.receive(.disconnectionComplete(.success, handle, reason: .connectionTerminatedByLocalHost))
    // Another link already has the same handle.
    bench.receive(.leConnectionComplete(HostHarness.connection(.peripheral, handle, DeviceAddress(9, .public))))
    bench.receive(.commandStatus(.success, credits: 1, .disconnect))
    #expect(bench.disconnections == [.connectionTerminatedByLocalHost])
    #expect(bench.host.links.count == 1)
    // The only deadline left is the next link check.
    #expect(bench.host.deadline == bench.now + .seconds(60))
    try bench.expectWorking(secondLink: handle)
  }

  @Test("LE Set Data Length that succeeds without an event leaves the link unchanged")
  func dataLengthWithoutEvent() {
    var bench = bench()
    bench.perform { host, now in host.connect(to: HostHarness.peer, at: now) }
    let handle = HCI.ConnectionHandle(rawValue: 0x200)
    bench.receive(.leConnectionComplete(HostHarness.connection(.central, handle, HostHarness.peer)))
    #expect(bench.links.isEmpty)
    // The peer has acknowledged the MTU request, so the link is established.
    bench.completeAll()
    #expect(bench.links.map(\.handle) == [handle])
    bench.receive(.attribute, [0x03, 0x05, 0x02], on: handle)
    #expect(bench.host.mtu(of: handle) == 517)
  }

  // MARK: Missing answers and events

  @Test("A command without an answer is skipped, and not sent to this controller again")
  func silentCommand() {
    var bench = bench()
    bench.answers[.leSetDataLength] = .noAnswer
    let first = bench.link(.central, handle: 1)
    bench.perform { host, now in host.readRSSI(first, at: now) }
    #expect(bench.levels.isEmpty)
    bench.now = .zero + .seconds(2)
    bench.perform { host, now in host.timeReached(now) }
    #expect(bench.levels == [.success(-40)])
    #expect(bench.troubles == [.unanswered(.leSetDataLength)])
    bench.forget()
    bench.link(.central, handle: 2, to: DeviceAddress(8, .public))
    #expect(!bench.commands.map(\.opcode).contains(.leSetDataLength))
    #expect(bench.powerChanges.isEmpty)
  }

  @Test(
    "A lost event mask is sent once more, so that links are reported",
    arguments: [HCI.Opcode.setEventMask, .leSetEventMask])
  func lostMask(_ opcode: HCI.Opcode) {
    var bench = HostHarness()
    bench.answers[opcode] = .noAnswer
    bench.perform { host, now in host.setPower(true, at: now) }
    #expect(bench.commands.last?.opcode == opcode)
    bench.answers[opcode] = nil
    bench.passToDeadline()
    #expect(bench.commands.count { $0.opcode == opcode } == 2)
    #expect(bench.powerChanges == [.starting, .on])
    #expect(bench.troubles == [.unanswered(opcode)])
  }

  @Test("A link without an answer to its disconnection ends after its supervision timeout")
  func missingDisconnection() throws {
    var bench = bench()
    let handle = bench.link(.peripheral)
    bench.completeAll()
    bench.receive(
      .leConnectionUpdateComplete(
        .success, handle, HCI.ConnectionValues(interval: 24, latency: 0, supervisionTimeout: 600)))
    bench.forget()
    bench.perform { host, now in host.disconnect(handle, at: now) }
    #expect(bench.host.deadline == bench.now + .seconds(7))
    bench.passToDeadline()
    #expect(bench.disconnections == [.connectionTimeout])
    #expect(bench.troubles == [.linkNotEnded(handle)])
    #expect(bench.host.links.isEmpty && bench.host.deadline == nil)
    bench.receive(.disconnectionComplete(.success, handle, reason: .connectionTimeout))
    #expect(bench.disconnections == [.connectionTimeout])
    try bench.expectWorking(secondLink: nil)
  }

  @Test("A peer that vanished without an event is detected by a request, and its link ends")
  func vanishedPeer() throws {
    var bench = bench()
    let handle = bench.link(.central)
    bench.forget()
    bench.answers[.disconnect] = .status(.unknownConnectionIdentifier)
    bench.passToDeadline()
    #expect(bench.now == .zero + .seconds(30))
    #expect(bench.commands == [.disconnect(handle, reason: .remoteUserTerminatedConnection)])
    #expect(bench.disconnections == [.connectionTimeout])
    #expect(bench.host.links.isEmpty && bench.host.deadline == nil)
    try bench.expectWorking(secondLink: nil)
  }

  @Test("Commands queued for an ended link are not sent for the next link with its handle")
  func staleCommands() {
    var bench = bench()
    let handle = bench.link(.peripheral)
    bench.forget()
    bench.answers[.leSetAdvertisingParameters] = .noAnswer
    bench.perform { host, now in
      host.startAdvertising(data: [1], scanResponse: [], at: now)
      host.readRSSI(handle, at: now)
      host.disconnect(handle, at: now)
    }
    bench.receive(.disconnectionComplete(.success, handle, reason: .remoteUserTerminatedConnection))
    bench.receive(.leConnectionComplete(HostHarness.connection(.peripheral, handle, DeviceAddress(9, .public))))
    bench.receive(.commandComplete(credits: 1, .leSetAdvertisingParameters, .status(.success)))
    #expect(bench.levels == [.failure(.notConnected)])
    #expect(!bench.commands.contains(.disconnect(handle, reason: .remoteUserTerminatedConnection)))
    #expect(bench.host.links.count == 1)
  }

  // MARK: Data

  @Test("The host accepts ACL packets longer than the controller's own buffers")
  func longPackets() throws {
    var bench = bench {
      $0.facts.aclLength = 27
      $0.facts.aclCount = 20
    }
    let handle = bench.link(.central)
    bench.receive(.attribute, [0x03, 0x05, 0x02], on: handle)
    bench.completeAll()
    bench.forget()
    bench.perform { host, now in host.request(.read(3), token: 9, on: handle, at: now) }
    let value = [UInt8](repeating: 0x5A, count: 300)
    bench.receive(.attribute, [0x0B] + value, on: handle)
    let values: [ByteSlice] = bench.events.compactMap {
      if case .gatt(_, .completed(9, .success(.value(let value)))) = $0 { value } else { nil }
    }
    #expect(values == [ByteSlice(value)])
  }

  @Test("A controller that claims privacy but reports connections in the legacy form is understood")
  func olderForm() throws {
    let bench = bench { $0.facts.leFeatures.formUnion([.llPrivacy, .extendedAdvertising]) }
    for isEnhanced in [false, true] {
      var copy = bench
      let complete = HostHarness.connection(.peripheral, HCI.ConnectionHandle(rawValue: 3), HostHarness.peer)
      copy.receive(isEnhanced ? .leEnhancedConnectionComplete(complete) : .leConnectionComplete(complete))
      #expect(copy.links.map(\.peer) == [HostHarness.peer])
      try copy.expectWorking(secondLink: complete.handle)
    }
  }
}
