import BluetoothHost
import BluetoothWire
import TestSupport
import Testing

/// Hosts whose transport to the controller is lost and restored.
struct TransportStateTests {
  private func lose(_ bench: inout HostHarness, _ state: TransportState = .lost) {
    bench.perform { host, now in host.setTransport(state, at: now) }
  }

  private func recover(_ bench: inout HostHarness) {
    bench.perform { host, now in host.setTransport(.ready, at: now) }
  }

  @Test("A host without a transport sends nothing, and starts up with Reset once it has one")
  func firstWay() {
    var bench = HostHarness()
    lose(&bench, .connecting)
    bench.perform { host, now in host.setPower(true, at: now) }
    #expect(bench.commands.isEmpty)
    #expect(bench.powerChanges == [.starting])
    #expect(bench.host.deadline == nil)
    recover(&bench)
    #expect(bench.commands.first == .reset)
    #expect(bench.powerChanges == [.starting, .starting, .on])
  }

  @Test("Losing the transport ends and reports all links, and the host sends nothing until the transport returns")
  func lossWhileOn() {
    var bench = HostHarness()
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
      host.connect(to: HostHarness.peer, at: now)
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

  @Test("Packets handed over but not carried when the transport was lost are not sent on the new transport")
  func packetsOnTheirWay() {
    var bench = HostHarness()
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

  @Test("A transport that needs the user's intervention makes the host unsupported until it works")
  func refused() {
    var bench = HostHarness()
    lose(&bench, .refused)
    bench.perform { host, now in host.setPower(true, at: now) }
    #expect(bench.powerChanges == [.unsupported])
    recover(&bench)
    #expect(bench.powerChanges.last == .on)
  }

  @Test("Losing the transport during start-up or between attempts is no controller failure")
  func lossWhileStarting() {
    var bench = HostHarness()
    bench.answers[.leReadBufferSize] = .noAnswer
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

  @Test("An abandoned controller gets another chance on a new transport")
  func chanceAfterFailure() {
    var bench = HostHarness()
    bench.answers[.reset] = .complete(.status(.hardwareFailure))
    bench.perform { host, now in host.setPower(true, at: now) }
    #expect(bench.powerChanges.last == .unsupported)
    bench.answers = [:]
    lose(&bench)
    #expect(bench.powerChanges.last == .unreachable)
    recover(&bench)
    #expect(bench.powerChanges.last == .on)
  }

  @Test("A host that is off, or being switched off, ends up off whatever happens to the transport")
  func off() {
    var bench = HostHarness()
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

  @Test("A loss of synchronization resets the controller; further losses during that reset are ignored")
  func synchronization() {
    var bench = HostHarness()
    bench.perform { host, now in host.synchronizationLost(at: now) }
    #expect(bench.events.isEmpty)
    bench.powerOn()
    bench.answers[.reset] = .noAnswer
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
