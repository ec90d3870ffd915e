import BluetoothHost
import BluetoothWire
import Testing

@testable import BluetoothDaemon

/// The shares of users in the attention of the adapter's user, and in the room for bonds.
@Suite struct UserShareTests {
  private static let shares = AppShares(links: 64, advertisingSets: 4, attributes: 1_024)

  private let air = DaemonNetwork()

  private func phone(_ device: Int, _ app: String, of user: UInt32?) -> Phone {
    Phone(air, device, SessionOwner(app: app, user: ClientUser(user)))
  }

  /// Connects an app to a new device.
  private func connect(_ phone: Phone, to name: String) throws -> PeerHandle {
    let sensor = Sensor(air, air.add(name))
    sensor.advertise(name)
    defer { sensor.send(.stopAdvertising) }
    _ = phone.takeEvents()
    return try phone.findAndConnect()
  }

  /// Requests encryption of the link to a peer, as the read of a protected value does.
  private func pair(_ phone: Phone, _ peer: PeerHandle) throws {
    let index = try #require(air.devices[phone.device].daemon.context.links.index(of: peer))
    let handle = air.devices[phone.device].daemon.context.links[index].link.handle
    air.devices[phone.device].daemon.host.secure(handle, .encrypted, at: air.now)
    air.devices[phone.device].daemon.takeHostEvents(at: air.now)
    air.run()
  }

  private func notes(_ device: Int) -> [String] {
    let notes = air.devices[device].daemon.takeNotes()
    return notes
  }

  /// The names of the apps about which the user was asked.
  private func names(_ prompts: PromptRecorder) -> [String] {
    prompts.asked.compactMap { if case .useBluetooth(let app, _) = $0.question { app } else { nil } }
  }

  @Test("Four questions about a user's apps are open at a time, and those about others' apps do not wait")
  func permissions() {
    let prompts = PromptRecorder()
    let shared = air.add("Shared", shares: Self.shares, prompts: prompts, asksForApps: true)
    let apps = (0..<8).map { phone(shared, "mallory \($0)", of: 3) }
    let alice = phone(shared, "alice", of: 1)
    #expect(names(prompts) == ["mallory 0", "mallory 1", "mallory 2", "mallory 3", "alice"])
    #expect(notes(shared) == ["user 3: has its share of open questions to the user of the adapter, which is 4"])
    // The next one is asked when another one is answered, or when an app has gone.
    prompts.replies[1](.yes)
    air.run()
    #expect(names(prompts).dropFirst(5) == ["mallory 4"])
    #expect(apps[1].takeEvents() == ["state poweredOn"])
    apps[0].session.close()
    air.run()
    #expect(names(prompts).dropFirst(6) == ["mallory 5"])
    // The apps of a user who is not asked about them yet wait for an answer, as the other ones do.
    #expect(apps[5].takeEvents() == [] && apps[7].takeEvents() == [])
    for reply in prompts.replies { reply(.no) }
    air.run()
    #expect(names(prompts).dropFirst(7) == ["mallory 6", "mallory 7"])
    #expect(alice.takeEvents() == ["state unauthorized"])
  }

  @Test("Without a server, all questions about apps are asked at once")
  func withoutServer() {
    let prompts = PromptRecorder()
    let device = air.add("Phone", prompts: prompts, asksForApps: true)
    let apps = (0..<6).map { phone(device, "app \($0)", of: nil) }
    #expect(names(prompts) == (0..<6).map { "app \($0)" })
    withExtendedLifetime(apps) {}
  }

  @Test("A user's apps that pair with many devices at once do not keep another user from pairing")
  func pairing() throws {
    let prompts = PromptRecorder()
    let shared = air.add("Shared", shares: Self.shares, prompts: prompts)
    let mallory = phone(shared, "mallory", of: 3)
    for number in 0..<5 { try pair(mallory, connect(mallory, to: "Lamp \(number)")) }
    #expect(prompts.asked.count == 4)
    #expect(notes(shared) == ["user 3: has its share of open questions to the user of the adapter, which is 4"])
    let alice = phone(shared, "alice", of: 1)
    let peer = try connect(alice, to: "Scale")
    try pair(alice, peer)
    #expect(prompts.asked.count == 5)
    // A device that both use: the question counts for the user who has room.
    let both = try connect(mallory, to: "Thermometer")
    alice.send(.connect(both, delay: .zero, reconnects: false))
    try pair(alice, both)
    #expect(prompts.asked.count == 6)
    for reply in prompts.replies { reply(.yes) }
    air.run()
    // The pairing that was not asked about has failed; the user has chosen the others, so that no share counts them.
    #expect(air.devices[shared].daemon.bondRecords.count == 6)
    #expect(air.devices[shared].daemon.bondRecords.allSatisfy { $0.requester == nil && $0.isConfirmed })
  }

  @Test("The bonds that a user's apps request take half of the room, and the next one fails")
  func bonds() throws {
    let store = MemoryBondStore(limit: 6)
    let shared = air.add("Shared", bonds: store, shares: Self.shares)
    let mallory = phone(shared, "mallory", of: 3)
    var peers: [PeerHandle] = []
    for number in 0..<3 {
      peers.append(try connect(mallory, to: "Lamp \(number)"))
      try pair(mallory, peers[number])
      #expect(mallory.takeEvents() == [])
    }
    let extra = try connect(mallory, to: "Lamp 3")
    try pair(mallory, extra)
    #expect(mallory.takeEvents() == ["disconnected \(extra.index) tooManyPairedDevices"])
    #expect(air.devices[shared].daemon.bondRecords.map(\.requester) == Array(repeating: ClientUser(3), count: 3))
    #expect(notes(shared) == ["user 3: has its share of bonds that apps have requested, which is 3"])
    // Another user has all of their share, also on a device that both use.
    let alice = phone(shared, "alice", of: 1)
    for number in 0..<3 {
      let peer = try connect(mallory, to: "Scale \(number)")
      alice.send(.connect(peer, delay: .zero, reconnects: false))
      try pair(alice, peer)
    }
    #expect(air.devices[shared].daemon.bondRecords.count { $0.requester == ClientUser(1) } == 3)
    #expect(notes(shared) == [])
    // What the user of the device forgets can be taken again.
    let first = try #require(air.devices[shared].daemon.bondRecords.first)
    air.devices[shared].daemon.forget(first.identity, at: air.now)
    air.run()
    _ = mallory.takeEvents()
    try pair(mallory, connect(mallory, to: "Lamp 4"))
    #expect(air.devices[shared].daemon.bondRecords.count { $0.requester == ClientUser(3) } == 3)
    // The shares outlive the daemon.
    #expect(try store.load().records.count { $0.requester == ClientUser(3) } == 3)
  }

  @Test("Without a server, the apps of a device can fill the room for bonds")
  func bondsWithoutServer() throws {
    let device = air.add("Phone", bonds: MemoryBondStore(limit: 3))
    let app = phone(device, "app", of: nil)
    for number in 0..<3 { try pair(app, connect(app, to: "Lamp \(number)")) }
    #expect(air.devices[device].daemon.bondRecords.map(\.requester) == [nil, nil, nil])
  }
}
