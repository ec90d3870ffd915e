import BluetoothHost
import BluetoothWire
import Testing

/// Hosts whose way to the controller is lost and comes back.
struct TransportStandingTests {
  private func lose(_ bench: inout Bench, _ standing: TransportStanding = .lost) {
    bench.perform { host, now in host.setTransport(standing, at: now) }
  }

  private func recover(_ bench: inout Bench) {
    bench.perform { host, now in host.setTransport(.ready, at: now) }
  }

  @Test("A host without a way to its controller sends nothing, and starts up with a Reset when there is one")
  func firstWay() {
    var bench = Bench()
    lose(&bench, .connecting)
    bench.perform { host, now in host.setPower(true, at: now) }
    #expect(bench.commands.isEmpty)
    #expect(bench.powerChanges == [.starting])
    #expect(bench.host.deadline == nil)
    recover(&bench)
    #expect(bench.commands.first == .reset)
    #expect(bench.powerChanges == [.starting, .starting, .on])
  }

  @Test("When the way is lost all links end, those above are told so, and nothing is sent before it is back")
  func lossWhileOn() {
    var bench = Bench()
    bench.powerOn()
    let handle = bench.link(.central)
    bench.forget()
    bench.perform { host, now in host.request(.read(3), token: 1, on: handle, at: now) }
    lose(&bench)
    #expect(bench.host.links.isEmpty)
    #expect(bench.disconnections == [.hardwareFailure])
    #expect(bench.powerChanges == [.unreachable])
    #expect(bench.host.deadline == nil)
    bench.forget()
    bench.perform { host, now in
      host.setScanning(ScanParameters(isActive: true, filterDuplicates: true), at: now)
      host.connect(to: Bench.peer, at: now)
      host.startAdvertising(data: ByteSlice(), scanResponse: ByteSlice(), at: now)
    }
    #expect(bench.commands.isEmpty && bench.data.isEmpty)
    bench.forget()
    recover(&bench)
    #expect(bench.commands.first == .reset)
    #expect(bench.powerChanges == [.starting, .on])
    bench.link(.central)
    #expect(bench.host.links.count == 1)
  }

  @Test("What was handed over and not yet carried when the way was lost is not sent on the new one")
  func packetsOnTheirWay() {
    var bench = Bench()
    bench.powerOn()
    let handle = bench.link(.central)
    bench.completeAll()
    bench.forget()
    bench.host.request(.read(3), token: 1, on: handle, at: bench.now)
    bench.host.setTransport(.lost, at: bench.now)
    bench.host.setTransport(.ready, at: bench.now)
    bench.run()
    #expect(bench.commands.first == .reset)
    #expect(bench.data.isEmpty)
    #expect(bench.powerChanges.last == .on)
  }

  @Test("What somebody has to mend first is unsupported, until there is a way")
  func refused() {
    var bench = Bench()
    lose(&bench, .refused)
    bench.perform { host, now in host.setPower(true, at: now) }
    #expect(bench.powerChanges == [.unsupported])
    recover(&bench)
    #expect(bench.powerChanges.last == .on)
  }

  @Test("A way that is lost in the middle of the start-up, or between two attempts, is no failure of the controller")
  func lossWhileStarting() {
    var bench = Bench()
    bench.answers[.leReadBufferSize] = .silence
    bench.perform { host, now in host.setPower(true, at: now) }
    lose(&bench)
    #expect(bench.host.deadline == nil)
    recover(&bench)
    bench.answers = [:]
    lose(&bench)
    recover(&bench)
    #expect(bench.powerChanges.last == .on)
    bench.receive(.hardwareError(1))
    bench.receive(.hardwareError(1))
    #expect(bench.powerChanges.last == .starting)
    lose(&bench)
    recover(&bench)
    #expect(bench.powerChanges.last == .on)
  }

  @Test("A controller that was given up gets another chance on a new way")
  func chanceAfterFailure() {
    var bench = Bench()
    bench.answers[.reset] = .complete(.status(.hardwareFailure))
    bench.perform { host, now in host.setPower(true, at: now) }
    #expect(bench.powerChanges.last == .unsupported)
    bench.answers = [:]
    lose(&bench)
    #expect(bench.powerChanges.last == .unreachable)
    recover(&bench)
    #expect(bench.powerChanges.last == .on)
  }

  @Test("A host that is switched off stays off, whatever becomes of the way; one that is being switched off is off")
  func off() {
    var bench = Bench()
    lose(&bench)
    recover(&bench)
    #expect(bench.commands.isEmpty && bench.events.isEmpty)
    bench.powerOn()
    bench.link(.central)
    bench.forget()
    bench.perform { host, now in host.setPower(false, at: now) }
    lose(&bench)
    #expect(bench.powerChanges == [.off])
    #expect(bench.host.deadline == nil && bench.host.links.isEmpty)
    bench.perform { host, now in host.setPower(true, at: now) }
    #expect(bench.powerChanges == [.off, .unreachable])
    bench.perform { host, now in host.setPower(false, at: now) }
    #expect(bench.powerChanges == [.off, .unreachable, .off])
    recover(&bench)
    #expect(bench.powerChanges.last == .off)
    bench.perform { host, now in host.setPower(true, at: now) }
    #expect(bench.powerChanges.last == .on)
  }

  @Test("Octets that make no packets have the controller reset; while it is being reset they are of the time before")
  func synchronization() {
    var bench = Bench()
    bench.perform { host, now in host.synchronizationLost(at: now) }
    #expect(bench.events.isEmpty)
    bench.powerOn()
    bench.answers[.reset] = .silence
    bench.perform { host, now in host.synchronizationLost(at: now) }
    #expect(bench.troubles.first == .synchronizationLost)
    #expect(bench.commands == [.reset])
    bench.perform { host, now in host.synchronizationLost(at: now) }
    #expect(bench.commands == [.reset])
    bench.answers = [:]
    bench.receive(.commandComplete(credits: 1, .reset, .status(.success)))
    #expect(bench.powerChanges == [.starting, .on])
  }
}
