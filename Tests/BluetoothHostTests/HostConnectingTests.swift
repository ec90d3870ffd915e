import BluetoothHost
import BluetoothWire
import Requirements
import TestSupport
import Testing

struct HostConnectingTests {
  private let other = DeviceAddress(0xC0_00_00_00_00_03, .random)

  private func bench() -> HostHarness {
    var bench = HostHarness()
    bench.powerOn()
    return bench
  }

  private func connect(_ bench: inout HostHarness, _ addresses: DeviceAddress...) {
    for address in addresses { bench.perform { host, now in host.connect(to: address, at: now) } }
  }

  private func create(_ address: DeviceAddress, usesAcceptList: Bool = false) -> HCI.Command {
    .leCreateConnection(
      HCI.CreateConnection(
        scanInterval: 48, scanWindow: 48, usesAcceptList: usesAcceptList, peer: HCI.PeerAddress(address),
        ownAddressType: .random,
        parameters: LinkParameters(
          minimumInterval: 24, maximumInterval: 24, latency: 0, supervisionTimeout: 200)))
  }

  private let cancelled = HCI.Event.leConnectionComplete(
    HCI.ConnectionComplete(failure: .unknownConnectionIdentifier))

  @Test(
    "A single device is connected to by its address, with an interval of 30 ms, no latency and a timeout of 2 s",
    .requirement("A002"))
  func one() {
    var bench = bench()
    connect(&bench, HostHarness.peer)
    #expect(bench.commands == [create(HostHarness.peer)])
    let handle = HCI.ConnectionHandle(rawValue: 0x40)
    bench.receive(.leConnectionComplete(HostHarness.connection(.central, handle, HostHarness.peer)))
    bench.receive(HostHarness.signOfLife(handle))
    let link = Link(handle: handle, role: .central, peer: HostHarness.peer)
    #expect(bench.links == [link])
    #expect(bench.host.links == [link])
  }

  @Test("A central sets the data length and starts the MTU exchange with 517", .requirement("A060"))
  func firstSteps() throws {
    var bench = bench()
    let handle = bench.link(.central)
    #expect(bench.commands.contains(.leSetDataLength(handle, HCI.DataLength(octets: 251, time: 2120))))
    #expect(try bench.payloads(on: handle, .attribute) == [[0x02, 0x05, 0x02]])
  }

  @Test("A peripheral sends neither a command nor data when its link is created")
  func peripheral() {
    var bench = bench()
    bench.link(.peripheral)
    #expect(bench.commands.isEmpty)
    #expect(bench.data.isEmpty)
    #expect(bench.links.map(\.role) == [.peripheral])
  }

  @Test("The enhanced LE Connection Complete is accepted too, and an identity address identifies its peer")
  func enhanced() {
    var bench = bench()
    connect(&bench, HostHarness.peer)
    var complete = HostHarness.connection(.central, HCI.ConnectionHandle(rawValue: 1), HostHarness.peer)
    complete.peer.type = 3
    bench.receive(.leEnhancedConnectionComplete(complete))
    bench.receive(HostHarness.signOfLife(complete.handle))
    #expect(bench.links.map(\.peer) == [HostHarness.peer])
  }

  @Test("Several devices are connected to through the filter accept list")
  func several() {
    var bench = bench()
    connect(&bench, HostHarness.peer)
    bench.forget()
    connect(&bench, other)
    #expect(bench.commands == [.leCreateConnectionCancel])
    bench.receive(cancelled)
    #expect(
      bench.commands == [
        .leCreateConnectionCancel, .leAddDeviceToFilterAcceptList(HCI.PeerAddress(HostHarness.peer)),
        .leAddDeviceToFilterAcceptList(HCI.PeerAddress(other)), create(HostHarness.peer, usesAcceptList: true),
      ])
    bench.forget()
    bench.receive(.leConnectionComplete(HostHarness.connection(.central, HCI.ConnectionHandle(rawValue: 1), other)))
    bench.receive(HostHarness.signOfLife(HCI.ConnectionHandle(rawValue: 1)))
    #expect(bench.links.map(\.peer) == [other])
    #expect(bench.commands.contains(create(HostHarness.peer)))
    #expect(bench.failures.isEmpty)
  }

  @Test("A cancelled device is removed from the filter accept list")
  func stale() {
    var bench = bench()
    let third = DeviceAddress(0xC0_00_00_00_00_04, .random)
    connect(&bench, HostHarness.peer, other)
    bench.receive(cancelled)
    bench.perform { host, now in
      host.cancelConnecting(to: HostHarness.peer, at: now)
      host.connect(to: third, at: now)
    }
    bench.forget()
    bench.receive(cancelled)
    #expect(
      bench.commands == [
        .leRemoveDeviceFromFilterAcceptList(HCI.PeerAddress(HostHarness.peer)),
        .leAddDeviceToFilterAcceptList(HCI.PeerAddress(third)), create(other, usesAcceptList: true),
      ])
  }

  @Test("A controller without a filter accept list connects to one device after the other")
  func withoutList() {
    var bench = HostHarness()
    bench.facts.acceptListSize = 0
    bench.powerOn()
    connect(&bench, HostHarness.peer, other)
    #expect(bench.commands == [create(HostHarness.peer)])
    bench.receive(
      .leConnectionComplete(HostHarness.connection(.central, HCI.ConnectionHandle(rawValue: 1), HostHarness.peer)))
    #expect(bench.commands.contains(create(other)))
  }

  @Test("Devices for which the filter accept list has no room take turns every five seconds")
  func rotation() {
    var bench = HostHarness()
    bench.facts.acceptListSize = 1
    bench.powerOn()
    connect(&bench, HostHarness.peer, other)
    #expect(bench.commands == [create(HostHarness.peer)])
    #expect(bench.host.deadline == .zero + .seconds(5))
    bench.passToDeadline()
    bench.receive(cancelled)
    #expect(bench.commands == [create(HostHarness.peer), .leCreateConnectionCancel, create(other)])
    bench.passToDeadline()
    bench.receive(cancelled)
    #expect(bench.commands.last == create(HostHarness.peer))
    bench.perform { [other] host, now in host.cancelConnecting(to: other, at: now) }
    #expect(bench.host.deadline == nil)
  }

  @Test("Cancelling ends the attempt without an event")
  func cancel() {
    var bench = bench()
    connect(&bench, HostHarness.peer)
    bench.forget()
    bench.perform { host, now in host.cancelConnecting(to: HostHarness.peer, at: now) }
    bench.receive(cancelled)
    #expect(bench.commands == [.leCreateConnectionCancel])
    #expect(bench.events.isEmpty)
    connect(&bench, HostHarness.peer)
    #expect(bench.commands.last == create(HostHarness.peer))
  }

  @Test("A link created at the moment of the cancellation is disconnected and not reported")
  func cancelRace() {
    var bench = bench()
    bench.answers[.leCreateConnectionCancel] = .noAnswer
    connect(&bench, HostHarness.peer)
    bench.perform { host, now in host.cancelConnecting(to: HostHarness.peer, at: now) }
    bench.forget()
    let handle = HCI.ConnectionHandle(rawValue: 0x40)
    bench.receive(.leConnectionComplete(HostHarness.connection(.central, handle, HostHarness.peer)))
    bench.receive(.commandComplete(credits: 1, .leCreateConnectionCancel, .status(.commandDisallowed)))
    #expect(bench.commands == [.disconnect(handle, reason: .remoteUserTerminatedConnection)])
    bench.receive(.disconnectionComplete(.success, handle, reason: .connectionTerminatedByLocalHost))
    #expect(bench.events.isEmpty)
    #expect(bench.host.links.isEmpty)
  }

  @Test("The host retries when the peer missed CONNECT_IND, and does not report the link")
  func notEstablished() {
    var bench = bench()
    connect(&bench, HostHarness.peer)
    bench.forget()
    let handle = HCI.ConnectionHandle(rawValue: 0x40)
    bench.receive(.leConnectionComplete(HostHarness.connection(.central, handle, HostHarness.peer)))
    #expect(bench.events.isEmpty)
    #expect(bench.host.links.isEmpty)
    bench.receive(.disconnectionComplete(.success, handle, reason: .connectionFailedToBeEstablished))
    #expect(bench.events.isEmpty)
    #expect(bench.commands.last == create(HostHarness.peer))
  }

  @Test("A link that ends before the peer's first packet, for another reason, is reported together with its end")
  func endedAtOnce() {
    var bench = bench()
    connect(&bench, HostHarness.peer)
    let handle = HCI.ConnectionHandle(rawValue: 0x40)
    bench.receive(.leConnectionComplete(HostHarness.connection(.central, handle, HostHarness.peer)))
    bench.receive(.disconnectionComplete(.success, handle, reason: .remoteUserTerminatedConnection))
    #expect(bench.links.map(\.peer) == [HostHarness.peer])
    #expect(bench.disconnections == [.remoteUserTerminatedConnection])
  }

  @Test("A link whose attempt is cancelled before the peer's first packet is disconnected and not reported")
  func cancelledBeforeFirstSign() {
    var bench = bench()
    connect(&bench, HostHarness.peer)
    let handle = HCI.ConnectionHandle(rawValue: 0x40)
    bench.receive(.leConnectionComplete(HostHarness.connection(.central, handle, HostHarness.peer)))
    bench.perform { host, now in host.cancelConnecting(to: HostHarness.peer, at: now) }
    #expect(bench.commands.last == .disconnect(handle, reason: .remoteUserTerminatedConnection))
    bench.receive(HostHarness.signOfLife(handle))
    bench.receive(.disconnectionComplete(.success, handle, reason: .connectionTerminatedByLocalHost))
    #expect(bench.events.isEmpty)
  }

  @Test("A device requested again while its old link ends is connected to afterwards")
  func wantedAgain() {
    var bench = bench()
    let handle = bench.link(.central)
    bench.forget()
    bench.perform { host, now in
      host.disconnect(handle, at: now)
      host.connect(to: HostHarness.peer, at: now)
    }
    #expect(bench.commands == [.disconnect(handle, reason: .remoteUserTerminatedConnection)])
    bench.receive(.disconnectionComplete(.success, handle, reason: .connectionTerminatedByLocalHost))
    #expect(bench.commands.last == create(HostHarness.peer))
    #expect(bench.disconnections == [.connectionTerminatedByLocalHost])
  }

  @Test("An attempt that is repeated at once after a refusal reaches the controller 100 ms after the refusal")
  func refusedAgain() {
    var bench = bench()
    bench.answers[.leCreateConnection] = .status(.commandDisallowed)
    connect(&bench, HostHarness.peer)
    #expect(bench.commands == [create(HostHarness.peer)])
    bench.commands = []
    bench.answers[.leCreateConnection] = nil
    // An app that tries again, and another one.
    connect(&bench, HostHarness.peer)
    connect(&bench, other)
    #expect(bench.commands.isEmpty)
    #expect(bench.host.deadline == bench.now + .milliseconds(100))
    bench.passToDeadline()
    #expect(bench.commands.contains(.leAddDeviceToFilterAcceptList(HCI.PeerAddress(HostHarness.peer))))
  }

  @Test("A controller's refusal to connect ends the attempt")
  func refused() {
    var bench = bench()
    bench.answers[.leCreateConnection] = .status(.connectionLimitExceeded)
    connect(&bench, HostHarness.peer)
    #expect(bench.failures == [.connectionLimitExceeded])
    #expect(bench.commands.count == 1)
  }

  @Test("A failed attempt is reported")
  func failed() {
    var bench = bench()
    connect(&bench, HostHarness.peer)
    bench.receive(.leConnectionComplete(HCI.ConnectionComplete(failure: .connectionFailedToBeEstablished)))
    #expect(bench.failures == [.connectionFailedToBeEstablished])
    #expect(bench.commands.count == 1)
  }

  @Test("LE Connection Complete may precede the answer to the command")
  func earlyCompletion() {
    var bench = bench()
    bench.answers[.leCreateConnection] = .noAnswer
    connect(&bench, HostHarness.peer)
    bench.receive(
      .leConnectionComplete(HostHarness.connection(.central, HCI.ConnectionHandle(rawValue: 1), HostHarness.peer)))
    bench.answers = [:]
    bench.receive(.commandStatus(.success, credits: 1, .leCreateConnection))
    bench.forget()
    connect(&bench, other)
    #expect(bench.commands == [create(other)])
  }

  @Test("A cancellation that never completes does not block connecting forever")
  func lostCompletion() {
    var bench = bench()
    connect(&bench, HostHarness.peer)
    bench.perform { host, now in host.cancelConnecting(to: HostHarness.peer, at: now) }
    connect(&bench, other)
    bench.forget()
    bench.passToDeadline()
    #expect(bench.commands == [create(other)])
  }

  @Test("The RSSI is read", .requirement("A046"))
  func rssi() {
    var bench = bench()
    let handle = bench.link(.central)
    bench.perform { host, now in host.readRSSI(handle, at: now) }
    #expect(bench.levels == [.success(-40)])
    bench.answers[.readRSSI] = .complete(.handle(.commandDisallowed, handle))
    bench.perform { host, now in host.readRSSI(handle, at: now) }
    #expect(bench.levels.last == .failure(.controller(.commandDisallowed)))
  }

  @Test("Disconnecting sends one command, and the end of the link is reported with its reason")
  func disconnect() {
    var bench = bench()
    let handle = bench.link(.peripheral)
    bench.forget()
    bench.perform { host, now in
      host.disconnect(handle, at: now)
      host.disconnect(handle, at: now)
    }
    #expect(bench.commands == [.disconnect(handle, reason: .remoteUserTerminatedConnection)])
    bench.receive(.disconnectionComplete(.success, handle, reason: .connectionTerminatedByLocalHost))
    #expect(bench.disconnections == [.connectionTerminatedByLocalHost])
    #expect(bench.host.links.isEmpty)
    #expect(bench.host.deadline == nil)
  }

  @Test("H7: events for unknown links, and a second link with a handle in use, change nothing")
  func unknownLinks() {
    var bench = bench()
    let handle = bench.link(.peripheral)
    bench.forget()
    let unknown = HCI.ConnectionHandle(rawValue: 0x77)
    bench.receive(.disconnectionComplete(.success, unknown, reason: .connectionTimeout))
    bench.receive(
      .leConnectionUpdateComplete(
        .success, unknown, HCI.ConnectionValues(interval: 6, latency: 0, supervisionTimeout: 100)))
    bench.receive(.encryptionChange(.success, unknown, enabled: 1))
    bench.receive(.leLongTermKeyRequest(unknown, random: 0, encryptedDiversifier: 0))
    bench.receive(.leConnectionComplete(HostHarness.connection(.peripheral, handle, other)))
    bench.receive([3, 0, 4, 0, 2, 0xF7, 0], on: unknown)
    #expect(bench.events.isEmpty)
    #expect(bench.commands.isEmpty)
    #expect(bench.data.isEmpty)
    bench.receive(.disconnectionComplete(.success, handle, reason: .connectionTimeout))
    bench.receive(.disconnectionComplete(.success, handle, reason: .connectionTimeout))
    #expect(bench.disconnections == [.connectionTimeout])
    #expect(bench.host.metrics.unknownLinks == 6)
  }

  @Test("H9: a handle beyond 0x0EFF does not become a link")
  func reservedHandle() {
    var bench = bench()
    bench.receive(
      .leConnectionComplete(HostHarness.connection(.peripheral, HCI.ConnectionHandle(rawValue: 0x0F00), other)))
    #expect(bench.events.isEmpty)
    #expect(bench.host.links.isEmpty)
  }

  @Test("P12: a peer that uses this device's own address is disconnected")
  func ownAddress() {
    var bench = bench()
    bench.link(.peripheral, handle: 5, to: HostHarness.address)
    #expect(bench.links.isEmpty)
    #expect(bench.commands == [.disconnect(HCI.ConnectionHandle(rawValue: 5), reason: .remoteUserTerminatedConnection)])
  }

  @Test("A peer's request for encryption is refused without keys")
  func encryption() {
    var bench = bench()
    let handle = bench.link(.peripheral)
    bench.receive(.leLongTermKeyRequest(handle, random: 0, encryptedDiversifier: 0))
    #expect(bench.commands == [.leLongTermKeyRequestNegativeReply(handle)])
  }
}
