import BluetoothHost
import BluetoothWire
import TestSupport
import Testing

/// The check of controllers that send nothing while no command is pending.
struct SilentControllerTests {
  /// Returns a bench that is on since 0 s and whose host checks a silent controller.
  private func bench(_ change: (inout HostHarness) -> Void = { _ in }) -> HostHarness {
    var configuration = HostConfiguration(deviceName: "Bench", address: HostHarness.address)
    configuration.canReopenTransport = true
    configuration.checksSilentController = true
    var bench = HostHarness(configuration: configuration)
    change(&bench)
    bench.powerOn()
    return bench
  }

  private static func resetting(_ attempt: Int, after seconds: Int64) -> HostDiagnostic {
    .resetting(attempt: attempt, of: 5, after: .seconds(seconds))
  }

  @Test("A controller that falls silent during a scan and with a link is reset 12 s after its last packet")
  func silence() {
    var bench = bench()
    bench.perform { host, now in
      host.setScanning(ScanParameters(isActive: false, filterDuplicates: true), at: now)
    }
    bench.pass(to: 3)
    bench.link(.peripheral)
    bench.forget()
    for opcode in HostHarness.servedCommands { bench.answers[opcode] = .noAnswer }
    bench.pass(to: 12)
    #expect(bench.commands.isEmpty)
    bench.pass(to: 13)
    #expect(bench.commands == [.leReadBufferSize])
    bench.pass(to: 14)
    #expect(bench.events.isEmpty)
    bench.pass(to: 15)
    #expect(bench.commands == [.leReadBufferSize, .reset])
    #expect(bench.disconnections == [.hardwareFailure])
    #expect(bench.powerChanges == [.starting])
    let end = bench.events.firstIndex { if case .disconnected = $0 { true } else { false } }
    let start = bench.events.firstIndex { if case .powerChanged = $0 { true } else { false } }
    #expect((end ?? .max) < (start ?? .min))
    bench.answers = [:]
    bench.pass(to: 17)
    #expect(bench.powerChanges == [.starting])
    bench.pass(to: 18)
    #expect(bench.powerChanges == [.starting, .on])
    #expect(
      bench.troubles == [
        .unanswered(.leReadBufferSize), Self.resetting(1, after: 0), .unanswered(.reset),
        Self.resetting(2, after: 1), .recovered,
      ])
  }

  @Test("A controller that sends a packet each second is not checked, and its packets set no timer")
  func traffic() {
    var bench = bench()
    var wakeUps = 0
    for second in Int64(1)...60 {
      while let deadline = bench.host.deadline, deadline < .zero + .seconds(second) {
        bench.passToDeadline()
        wakeUps += 1
      }
      bench.now = .zero + .seconds(second)
      bench.receive(.commandComplete(credits: 1, .none, .unknown([])))
    }
    #expect(bench.commands.isEmpty)
    #expect(bench.events.isEmpty)
    // At 10, 20, 30, 40 and 50 s.
    #expect(wakeUps == 5)
  }

  @Test("An idle controller is asked for its buffers every 10 s, and any answer suffices", arguments: [false, true])
  func idle(hasNewerCommandOnly: Bool) {
    var bench = self.bench { bench in
      guard hasNewerCommandOnly else { return }
      bench.facts.supportedCommands = HCI.SupportedCommands(
        HostHarness.servedCommands.filter { $0 != .leReadBufferSize } + [.leReadBufferSizeV2])
      bench.answers[.leReadBufferSizeV2] = .complete(
        .leBufferSizeV2(aclLength: 27, aclCount: 2, isoLength: 0, isoCount: 0))
    }
    let command: HCI.Command = hasNewerCommandOnly ? .leReadBufferSizeV2 : .leReadBufferSize
    for count in 0..<6 {
      bench.pass(to: Int64(count) * 10 + 9)
      #expect(bench.commands == Array(repeating: command, count: count))
      bench.pass(to: Int64(count) * 10 + 10)
      #expect(bench.commands == Array(repeating: command, count: count + 1))
    }
    bench.answers[command.opcode] = .status(.commandDisallowed)
    bench.pass(to: 79)
    #expect(bench.commands == Array(repeating: command, count: 7))
    #expect(bench.events.isEmpty)
  }

  @Test("A controller that falls silent after each reset gets growing pauses, then a new transport")
  func escalation() {
    var bench = bench()
    for isSecondRound in [false, true] {
      for pause: Int64 in [0, 1, 2, 4, 8] {
        bench.forget()
        let start = bench.now
        bench.answers[.leReadBufferSize] = .noAnswer
        bench.passToDeadline()
        #expect(bench.now - start == .seconds(10))
        bench.answers = [:]
        bench.passToDeadline()
        #expect(bench.powerChanges == (pause == 0 ? [.starting, .on] : [.starting]))
        if pause > 0 { bench.passToDeadline() }
        #expect(bench.powerChanges == [.starting, .on])
        #expect(bench.now - start == .seconds(12 + pause))
      }
      // An answer 10 s after the start-up gives the controller all attempts again.
      if !isSecondRound { bench.passToDeadline() }
    }
    #expect(!bench.host.needsNewTransport)
    bench.answers[.leReadBufferSize] = .noAnswer
    bench.passToDeadline()
    bench.passToDeadline()
    #expect(bench.powerChanges == [.starting, .on, .starting, .unreachable])
    #expect(bench.host.needsNewTransport)
    #expect(bench.host.deadline == nil)
  }

  @Test("A host that is switched off does not check its controller")
  func off() {
    var bench = bench()
    bench.perform { host, now in host.setPower(false, at: now) }
    #expect(bench.powerChanges == [.off])
    #expect(bench.host.deadline == nil)
  }

  @Test("A host does not check its controller by default, as in a simulation")
  func simulated() {
    var bench = HostHarness()
    bench.powerOn()
    #expect(bench.host.deadline == nil)
    bench.perform { host, now in
      host.setScanning(ScanParameters(isActive: false, filterDuplicates: true), at: now)
    }
    bench.link(.peripheral)
    bench.forget()
    // The check of links begins at 60 s.
    bench.pass(to: 59)
    #expect(bench.commands.isEmpty)
    #expect(bench.events.isEmpty)
  }
}

extension HostHarness {
  /// Advances the time to the given number of seconds since zero, with all deadlines up to then.
  fileprivate mutating func pass(to seconds: Int64) {
    let end = Instant.zero + .seconds(seconds)
    while let deadline = host.deadline, deadline <= end { passToDeadline() }
    now = end
  }
}
