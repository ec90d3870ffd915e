import BluetoothWire
import Requirements
import Testing

@testable import BluetoothHost

/// The state of a client that a server keeps from one link to the next.
@Suite("Records of clients")
struct GATTClientRecordTests {
  private static let bonded = HostLinkSecurity(level: .encrypted, keySize: 16, hasKey: true, isBonded: true)
  private static let extra = GATTServiceDefinition(
    uuid: 0x180F, isPrimary: true, includes: [], characteristics: [.dynamic(0x2A19, [.read, .notify])])

  /// Returns a host with a value at handle 22 and its configuration at 23.
  private static func bench() -> HostHarness {
    var bench = HostHarness()
    bench.powerOn()
    bench.perform { host, now in
      _ = host.addService(
        GATTServiceDefinition(
          uuid: 0x180D, isPrimary: true, includes: [], characteristics: [.dynamic(0x2A37, [.notify, .read])]), at: now)
    }
    return bench
  }

  /// Returns the host's answer on its only link.
  private static func send(_ text: String, _ bench: inout HostHarness) -> [ByteSlice] {
    let handle = bench.host.links[0].handle
    bench.receive(.attribute, hex(text).bytes, on: handle)
    return take(&bench)
  }

  private static func take(_ bench: inout HostHarness) -> [ByteSlice] {
    defer { bench.completeAll() }
    return ((try? bench.payloads(on: bench.host.links[0].handle, .attribute)) ?? []).map { ByteSlice($0) }
  }

  private static func secure(_ security: HostLinkSecurity, _ bench: inout HostHarness) {
    let handle = bench.host.links[0].handle
    bench.perform { host, now in host.setSecurity(security, on: handle, at: now) }
  }

  /// Creates a link on which the client subscribes to values and to Service Changed and enables robust caching, and
  /// ends it.
  private static func visit(_ security: HostLinkSecurity, _ bench: inout HostHarness) {
    bench.link(.peripheral)
    secure(security, &bench)
    for request in ["1217000100", "120d000200", "120f0001"] { #expect(send(request, &bench) == [hex("13")]) }
    leave(&bench)
  }

  private static func leave(_ bench: inout HostHarness) {
    let handle = bench.host.links[0].handle
    bench.receive(.disconnectionComplete(.success, handle, reason: .remoteUserTerminatedConnection))
    bench.forget()
  }

  private static func subscriptions(_ bench: HostHarness) -> [GATTEvent] {
    bench.events.compactMap {
      if case .gatt(_, let event) = $0, case .subscriptionChanged = event { event } else { nil }
    }
  }

  @Test(
    "A13 A bonded client's configurations are restored on its next link; subscriptions are reported after it",
    .requirement("L160"))
  func bondedClient() {
    var bench = Self.bench()
    Self.visit(Self.bonded, &bench)
    let handle = bench.link(.peripheral)
    guard case .connected? = bench.events.first else {
      Issue.record("the link is not told first")
      return
    }
    #expect(Self.subscriptions(bench) == [.subscriptionChanged(22, .notification)])
    #expect(Self.send("0a1700", &bench) == [hex("0b0100")])
    #expect(Self.send("0a0d00", &bench) == [hex("0b0200")])
    #expect(Self.send("0a0f00", &bench) == [hex("0b01")])
    bench.perform { host, now in host.update(22, with: [5], on: handle, at: now) }
    #expect(Self.take(&bench) == [hex("1b160005")])
  }

  @Test("A restored subscription that needs encryption is reported once the key of the bond encrypts the link")
  func protectedSubscription() {
    var bench = Self.bench()
    let characteristic = GATTCharacteristicDefinition(
      uuid: 0x2A19, properties: .notify, permissions: [], value: nil, subscriptionNeedsEncryption: true)
    bench.perform { host, now in
      _ = host.addService(
        GATTServiceDefinition(uuid: 0x180F, isPrimary: true, includes: [], characteristics: [characteristic]), at: now)
    }
    let both: [GATTEvent] = [.subscriptionChanged(22, .notification), .subscriptionChanged(26, .notification)]
    bench.link(.peripheral)
    Self.secure(Self.bonded, &bench)
    for request in ["1217000100", "121b000100"] { #expect(Self.send(request, &bench) == [hex("13")]) }
    Self.leave(&bench)

    let handle = bench.link(.peripheral)
    #expect(Self.subscriptions(bench) == [both[0]])
    Self.secure(Self.bonded, &bench)
    #expect(Self.subscriptions(bench) == both)
    bench.perform { host, now in host.update(26, with: [5], on: handle, at: now) }
    #expect(Self.take(&bench) == [hex("1b1a0005")])
    Self.leave(&bench)

    // Another key than that of the bond does not prove that the client is the same. It subscribes itself.
    bench.link(.peripheral)
    Self.secure(HostLinkSecurity(level: .encrypted, keySize: 16, hasKey: true), &bench)
    #expect(Self.subscriptions(bench) == [both[0]])
    #expect(Self.send("121b000100", &bench) == [hex("13")])
    #expect(Self.subscriptions(bench) == both)
    Self.leave(&bench)

    // The end of a subscription that has not been reported is not reported, either.
    bench.link(.peripheral)
    bench.perform { host, now in host.removeService(declaration: 24, at: now) }
    Self.secure(Self.bonded, &bench)
    #expect(Self.subscriptions(bench) == [both[0]])
  }

  @Test("A client that repeats its restored subscription is reported once more; its end is reported as any other")
  func repeatedSubscription() {
    var bench = Self.bench()
    Self.visit(Self.bonded, &bench)
    bench.link(.peripheral)
    let subscribed = GATTEvent.subscriptionChanged(22, .notification)
    for expected in [[subscribed, subscribed], [subscribed, subscribed]] {
      #expect(Self.send("1217000100", &bench) == [hex("13")])
      #expect(Self.subscriptions(bench) == expected)
    }
    #expect(Self.send("1217000000", &bench) == [hex("13")])
    #expect(Self.subscriptions(bench) == [subscribed, subscribed, .subscriptionChanged(22, [])])
    Self.secure(Self.bonded, &bench)
    Self.leave(&bench)

    Self.visit(Self.bonded, &bench)
    bench.link(.peripheral)
    #expect(Self.send("1217000000", &bench) == [hex("13")])
    #expect(Self.subscriptions(bench) == [subscribed, .subscriptionChanged(22, [])])
  }

  @Test("A13 A client without a bond, or another client, starts without configurations")
  func unbondedClient() {
    var bench = Self.bench()
    Self.visit(HostLinkSecurity(level: .encrypted, keySize: 16, hasKey: true), &bench)
    #expect(bench.host.clientRecords.isEmpty)
    bench.link(.peripheral)
    #expect(Self.send("0a1700", &bench) == [hex("0b0000")])
    Self.leave(&bench)
    Self.visit(Self.bonded, &bench)
    bench.link(.peripheral, to: DeviceAddress(0xC0_00_00_00_00_09, .random))
    #expect(Self.send("0a1700", &bench) == [hex("0b0000")])
    #expect(Self.subscriptions(bench).isEmpty)
  }

  @Test("A peer with a bonded client's address but without its key changes nothing in the record")
  func impostor() {
    var bench = Self.bench()
    Self.visit(Self.bonded, &bench)
    let before = bench.host.clientRecords
    bench.link(.peripheral)
    #expect(Self.send("1217000000", &bench) == [hex("13")])
    #expect(Self.send("120f0007", &bench) == [hex("13")])
    Self.leave(&bench)
    #expect(bench.host.clientRecords == before)
  }

  @Test("Two links under one bonded identity both start from the record; the link with the key updates it")
  func twoLinks() {
    for endsLast in [0, 1] {
      var bench = Self.bench()
      Self.visit(Self.bonded, &bench)
      let handles = [bench.link(.peripheral, handle: 0x41), bench.link(.peripheral, handle: 0x42)]
      #expect(Self.subscriptions(bench).count == 2)
      bench.perform { host, now in host.setSecurity(Self.bonded, on: handles[1], at: now) }
      // The link with the key disables Service Changed, the link without the key disables values.
      bench.receive(.attribute, hex("120d000000").bytes, on: handles[1])
      bench.receive(.attribute, hex("1217000000").bytes, on: handles[0])
      for handle in [handles[1 - endsLast], handles[endsLast]] {
        bench.receive(.disconnectionComplete(.success, handle, reason: .remoteUserTerminatedConnection))
      }
      #expect(bench.host.clientRecords[HostHarness.peer]?.subscriptions.map(\.handle) == [22])
    }
  }

  @Test("The Database Hash in an absent client's record is computed on demand, not with each service")
  func awayHash() {
    var bench = Self.bench()
    Self.visit(Self.bonded, &bench)
    let before = bench.host.clientRecords[HostHarness.peer]?.databaseHash
    bench.perform { host, now in for _ in 0..<3 { _ = host.addService(Self.extra, at: now) } }
    #expect(bench.host.context.server.hashesAreOutdated)
    #expect(bench.host.context.server.clients[HostHarness.peer]?.databaseHash == before)
    var database = bench.host.context.server.database
    let hash = database.hash().bytes
    #expect(bench.host.clientRecords[HostHarness.peer]?.databaseHash == hash)
    bench.link(.peripheral)
    #expect(!bench.host.context.server.hashesAreOutdated)
    #expect(bench.host.context.server.clients[HostHarness.peer]?.databaseHash == hash)
  }

  @Test("A client absent during changes gets one indication with the whole range and is change-unaware")
  func awayDuringChange() {
    var bench = Self.bench()
    Self.visit(Self.bonded, &bench)
    bench.perform { host, now in _ = host.addService(Self.extra, at: now) }
    bench.perform { host, now in _ = host.addService(Self.extra, at: now) }
    bench.link(.peripheral)
    #expect(Self.take(&bench) == [hex("1d0c00 18001f00")])
    #expect(Self.send("0a0500", &bench) == [hex("010a050012")])
    #expect(Self.send("1e", &bench) == [])
    #expect(Self.send("0a0500", &bench) == [hex("0b0000")])
    Self.secure(Self.bonded, &bench)
    Self.leave(&bench)
    bench.link(.peripheral)
    #expect(Self.take(&bench) == [])
    #expect(Self.send("0a0500", &bench) == [hex("0b0000")])
  }

  @Test("A change that is not confirmed before the link ends is indicated again on the next link")
  func unconfirmedChange() {
    var bench = Self.bench()
    Self.visit(Self.bonded, &bench)
    bench.link(.peripheral)
    Self.secure(Self.bonded, &bench)
    bench.perform { host, now in _ = host.addService(Self.extra, at: now) }
    #expect(Self.take(&bench) == [hex("1d0c00 18001b00")])
    bench.perform { host, now in _ = host.addService(Self.extra, at: now) }
    Self.leave(&bench)
    bench.link(.peripheral)
    #expect(Self.take(&bench) == [hex("1d0c00 18001f00")])
  }

  @Test("A change while a bonded client's link is being disconnected is indicated on the next link")
  func changeWhileLeaving() {
    for isSwitchedOff in [true, false] {
      var bench = Self.bench()
      Self.visit(Self.bonded, &bench)
      let handle = bench.link(.peripheral)
      Self.secure(Self.bonded, &bench)
      if isSwitchedOff {
        bench.perform { host, now in host.setPower(false, at: now) }
      } else {
        // A transaction timeout closes the bearer.
        bench.perform { host, now in host.request(.read(3), token: 1, on: handle, at: now) }
        bench.now += .seconds(30)
        bench.perform { host, now in host.timeReached(now) }
        #expect(bench.commands.last?.opcode == .disconnect)
      }
      bench.perform { host, now in _ = host.addService(Self.extra, at: now) }
      bench.receive(.disconnectionComplete(.success, handle, reason: .connectionTerminatedByLocalHost))
      bench.forget()
      bench.perform { host, now in host.setPower(true, at: now) }
      bench.link(.peripheral)
      #expect(Self.take(&bench) == [hex("1d0c00 18001b00")])
      #expect(Self.send("0a0500", &bench) == [hex("010a050012")])
    }
  }

  @Test("A subscription to a characteristic that was removed while the client was away is dropped")
  func removedMeanwhile() {
    var bench = Self.bench()
    Self.visit(Self.bonded, &bench)
    bench.perform { host, now in host.removeService(declaration: 20, at: now) }
    bench.link(.peripheral)
    #expect(Self.subscriptions(bench).isEmpty)
    #expect(Self.take(&bench) == [hex("1d0c00 14001700")])
  }

  @Test("A record made with another database keeps only the Service Changed subscription; all handles are indicated")
  func anotherDatabase() throws {
    var bench = Self.bench()
    Self.visit(Self.bonded, &bench)
    var other = HostHarness()
    other.powerOn()
    other.host.clientRecords = bench.host.clientRecords
    #expect(other.host.clientRecords.count == 1)
    other.link(.peripheral)
    #expect(Self.subscriptions(other).isEmpty)
    #expect(Self.take(&other) == [hex("1d0c00 0100ffff")])
    #expect(Self.send("0a0500", &other) == [hex("010a050012")])
    // Another notifying characteristic now has the handle of the value.
    var moved = HostHarness()
    moved.powerOn()
    moved.perform { host, now in _ = host.addService(Self.extra, at: now) }
    moved.host.clientRecords = bench.host.clientRecords
    moved.link(.peripheral)
    #expect(Self.subscriptions(moved).isEmpty)
    #expect(Self.take(&moved) == [hex("1d0c00 0100ffff")])
    #expect(Self.send("1e", &moved) == [])
    #expect(Self.send("0a1700", &moved) == [hex("0b0000")])
    // With the same database in another process, nothing has changed.
    var same = Self.bench()
    same.host.clientRecords = bench.host.clientRecords
    same.link(.peripheral)
    #expect(Self.take(&same) == [])
    #expect(Self.subscriptions(same) == [.subscriptionChanged(22, .notification)])
  }

  @Test("A controller failure keeps the record of a bonded client")
  func controllerFails() {
    var bench = Self.bench()
    bench.link(.peripheral)
    Self.secure(Self.bonded, &bench)
    #expect(Self.send("1217000100", &bench) == [hex("13")])
    bench.receive(.hardwareError(1))
    #expect(bench.host.clientRecords.count == 1)
  }
}
