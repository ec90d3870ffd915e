import BluetoothHost
import BluetoothWire
import Requirements
import TestSupport
import Testing

struct HostStartupTests {
  private func opcodes(_ bench: HostHarness) -> [HCI.Opcode] { bench.commands.map(\.opcode) }

  @Test("A host reads a current controller's features, sets event masks, data length and address, and is then on")
  func full() {
    var bench = HostHarness()
    bench.perform { host, now in host.setPower(true, at: now) }
    #expect(
      opcodes(bench) == [
        .reset, .readLocalSupportedCommands, .readLocalSupportedFeatures, .readBDADDR,
        .leReadLocalSupportedFeatures, .leReadBufferSize, .setEventMask, .leSetEventMask, .leReadFilterAcceptListSize,
        .leClearFilterAcceptList,
        .leReadMaximumDataLength, .leWriteSuggestedDefaultDataLength, .leSetRandomAddress,
      ])
    #expect(bench.powerChanges == [.starting, .on])
    #expect(bench.commands.contains(.leWriteSuggestedDefaultDataLength(HCI.DataLength(octets: 251, time: 2120))))
    #expect(bench.commands.contains(.leSetRandomAddress(HostHarness.address.value)))
    #expect(bench.host.deadline == nil)
  }

  @Test("A controller whose supported-commands bitmap is all zero starts without the optional commands")
  func emptyBitmap() {
    var bench = HostHarness()
    bench.facts.supportedCommands = HCI.SupportedCommands()
    bench.perform { host, now in host.setPower(true, at: now) }
    #expect(bench.powerChanges == [.starting, .on])
    #expect(!opcodes(bench).contains(.leReadMaximumDataLength))
    #expect(opcodes(bench).contains(.leSetRandomAddress))
  }

  @Test("Without an answer to Read Local Supported Commands, the host treats the controller's support as unknown")
  func unknownBitmap() {
    var bench = HostHarness()
    bench.answers[.readLocalSupportedCommands] = .complete(.status(.unknownHCICommand))
    bench.perform { host, now in host.setPower(true, at: now) }
    #expect(bench.powerChanges == [.starting, .on])
  }

  @Test("The event masks enable no event that the controller's features exclude")
  func masks() throws {
    var bench = HostHarness()
    bench.facts.leFeatures = []
    bench.perform { host, now in host.setPower(true, at: now) }
    #expect(bench.commands.contains(.leSetEventMask(.initial)))
    var rich = HostHarness()
    rich.facts.leFeatures.insert(.llPrivacy)
    rich.perform { host, now in host.setPower(true, at: now) }
    // Bits of the default mask, and of LE Remote Connection Parameter Request, LE Data Length Change and LE Enhanced
    // Connection Complete · 7.8.1.
    let mask = HCI.LEEventMask(rawValue: 0x1F | 1 << 5 | 1 << 6 | 1 << 9)
    #expect(rich.commands.contains(.leSetEventMask(mask)))
  }

  @Test("A controller without LE buffers shares those of BR/EDR")
  func sharedBuffers() {
    var bench = HostHarness()
    bench.facts.aclLength = 0
    bench.facts.aclCount = 0
    bench.answers[.readBufferSize] = .complete(.bufferSize(HCI.BufferSize(aclLength: 27, aclCount: 2)))
    bench.powerOn()
    let handle = bench.link(.central)
    #expect(bench.data.map(\.payload.count) == [7])
    #expect(bench.data.first?.handle == handle)
  }

  @Test("The host tells a controller with BR/EDR that it supports LE")
  func dualMode() {
    var bench = HostHarness()
    bench.facts.lmpFeatures = .leSupported
    bench.facts.supportedCommands.insert(.writeLEHostSupport)
    bench.perform { host, now in host.setPower(true, at: now) }
    #expect(bench.commands.contains(.writeLEHostSupport(true)))
    #expect(bench.powerChanges == [.starting, .on])
  }

  @Test("A controller without LE is unsupported", .requirement("A016"), arguments: [false, true])
  func noLowEnergy(canReopenTransport: Bool) {
    var configuration = HostConfiguration(deviceName: "Bench", address: HostHarness.address)
    configuration.canReopenTransport = canReopenTransport
    var bench = HostHarness(configuration: configuration)
    bench.answers[.leReadBufferSize] = .complete(.status(.unknownHCICommand))
    bench.perform { host, now in host.setPower(true, at: now) }
    #expect(bench.powerChanges == [.starting, .unsupported])
    #expect(opcodes(bench).filter { $0 == .reset }.count == 2)
    #expect(!bench.host.needsNewTransport)
  }

  @Test("A controller that never answers is reset once more and then abandoned")
  func noAnswer() {
    var bench = HostHarness()
    bench.answers[.reset] = .noAnswer
    bench.perform { host, now in host.setPower(true, at: now) }
    #expect(bench.host.deadline == .zero + .seconds(2))
    bench.passToDeadline()
    #expect(bench.powerChanges == [.starting])
    bench.passToDeadline()
    #expect(bench.powerChanges == [.starting, .unsupported])
    #expect(opcodes(bench) == [.reset, .reset])
    #expect(bench.host.deadline == nil)
  }

  @Test("A start-up command that gets no answer twice is skipped")
  func passedOver() {
    var bench = HostHarness()
    bench.answers[.leReadMaximumDataLength] = .noAnswer
    bench.perform { host, now in host.setPower(true, at: now) }
    bench.passToDeadline()
    #expect(bench.powerChanges == [.starting])
    bench.passToDeadline()
    #expect(bench.powerChanges == [.starting, .on])
    #expect(opcodes(bench).count { $0 == .leReadMaximumDataLength } == 2)
  }

  @Test("A lost answer does not change the device's identity: the start-up repeats the command")
  func lostAnswer() {
    var bench = HostHarness()
    bench.answers[.leSetRandomAddress] = .noAnswer
    bench.perform { host, now in host.setPower(true, at: now) }
    bench.answers[.leSetRandomAddress] = nil
    bench.passToDeadline()
    #expect(bench.powerChanges == [.starting, .on])
    bench.perform { host, now in host.connect(to: HostHarness.peer, at: now) }
    let own = bench.commands.lazy.compactMap { command in
      if case .leCreateConnection(let create) = command { create.ownAddressType } else { nil }
    }
    #expect(own.first == .random)
  }

  @Test("If the controller refuses the random address, the host uses the public one")
  func publicAddress() {
    var bench = HostHarness()
    bench.answers[.leSetRandomAddress] = .complete(.status(.unknownHCICommand))
    bench.powerOn()
    bench.perform { host, now in host.connect(to: HostHarness.peer, at: now) }
    guard case .leCreateConnection(let create)? = bench.commands.first else {
      Issue.record("no LE Create Connection")
      return
    }
    #expect(create.ownAddressType == .public)
  }

  @Test("The host generates its random static address once, the same for the same seed")
  func drawnAddress() {
    func host(_ seed: UInt64) -> Host {
      Host(
        configuration: HostConfiguration(deviceName: ""), random: RandomStream(seed: seed), pool: PacketPool())
    }
    #expect(host(1).address.randomKind == .static)
    #expect(host(1).address == host(1).address)
    #expect(host(1).address != host(2).address)
  }

  @Test("Switching off disconnects links with the right reason and resets the controller; switching on starts up again")
  func offAndOn() {
    var bench = HostHarness()
    bench.powerOn()
    let handle = bench.link(.peripheral)
    bench.forget()
    bench.perform { host, now in host.setPower(false, at: now) }
    #expect(bench.powerChanges == [.off])
    #expect(bench.disconnections == [.connectionTerminatedByLocalHost])
    #expect(bench.host.links.isEmpty)
    #expect(bench.commands == [.disconnect(handle, reason: .remoteDeviceTerminatedPowerOff)])
    bench.perform { host, now in host.setPower(true, at: now) }
    bench.receive(.disconnectionComplete(.success, handle, reason: .connectionTerminatedByLocalHost))
    #expect(bench.commands.filter { $0 == .reset }.count == 2)
    #expect(bench.powerChanges == [.off, .starting, .on])
    #expect(bench.disconnections.count == 1)
  }

  @Test("Switching off does not wait long for peers")
  func offWithoutPeers() {
    var bench = HostHarness()
    bench.powerOn()
    bench.link(.peripheral)
    bench.forget()
    bench.perform { host, now in host.setPower(false, at: now) }
    bench.passToDeadline()
    #expect(bench.commands.last == .reset)
    #expect(bench.now == .zero + .seconds(1))
    #expect(bench.host.deadline == nil)
  }

  @Test("Switching off during the start-up aborts it")
  func offDuringStartup() {
    var bench = HostHarness()
    bench.answers[.setEventMask] = .noAnswer
    bench.perform { host, now in host.setPower(true, at: now) }
    bench.perform { host, now in host.setPower(false, at: now) }
    #expect(bench.powerChanges == [.starting, .off])
    #expect(bench.host.deadline == nil)
    bench.answers = [:]
    bench.perform { host, now in host.setPower(true, at: now) }
    #expect(bench.powerChanges == [.starting, .off, .starting, .on])
  }
}
