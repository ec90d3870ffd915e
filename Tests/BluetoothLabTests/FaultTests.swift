import BluetoothLab
import CoreBluetooth
import Requirements
import TestSupport
import Testing

@Suite("Faults")
struct FaultTests {
  /// Returns a heart rate sensor and a phone that has subscribed to its measurements.
  private func subscribed(capture: Capture? = nil, seed: UInt64 = 1) async -> Encounter<HeartRateSensor> {
    let meeting = Encounter(HeartRateSensor(), seed: seed, capture: capture)
    _ = await meeting.prepare()
    meeting.app.subscribe("2A37")
    await meeting.world.run(until: { meeting.app.has(.notifying(true)) })
    // The phone's host finishes its own requests to the server, so that only notifications are left.
    await meeting.world.run(for: .milliseconds(800))
    return meeting
  }

  private func energies(_ meeting: Encounter<HeartRateSensor>) -> [UInt8] {
    meeting.app.values(of: "2A37").map { $0[2] }
  }

  // MARK: On the air

  @Test("The link layer retransmits a notification lost on the air, and no other one", .requirement("A001"))
  func lostNotification() async throws {
    let meeting = await subscribed()
    meeting.world.add([.air(.lose, .notifications(from: "accessory"), .number(3))])
    await meeting.world.run(for: .seconds(6))
    #expect(energies(meeting) == [1, 2, 3, 4, 5, 6])
    let event = try #require(meeting.world.faultEvents.first)
    #expect(meeting.world.faultEvents.count == 1)
    #expect(event.layer == .air)
    #expect(event.device == "accessory")
    #expect(event.description.contains("handleValueNotification"))
  }

  @Test("A notification that is repeatedly corrupted on the air arrives when the corruption ends")
  func corruptedNotification() async {
    let meeting = await subscribed()
    meeting.world.add([.air(.corrupt, .notifications(), .numbers(1...5))])
    await meeting.world.run(for: .seconds(3))
    #expect(energies(meeting) == [1, 2, 3])
    #expect(meeting.world.faultEvents.count == 5)
  }

  @Test("A link that loses everything ends by its supervision timeout")
  func everythingLost() async {
    let meeting = await subscribed()
    meeting.world.add([.air(.lose)], between: meeting.accessory, and: meeting.phone)
    await meeting.world.run(for: .seconds(4))
    #expect((meeting.app.disconnection as? CBError)?.code == .connectionTimeout)
  }

  @Test("A fault on a link affects only the packets between its two devices")
  func linkScope() async {
    let meeting = await subscribed()
    let other = meeting.world.makeDevice(named: "other", at: Position(x: 1, y: 1))
    let bystander = PhoneApp(on: other)
    let second = meeting.world.add(BatteryPack(), named: "battery", at: Position(x: 1, y: 2))
    meeting.world.add([.air(.lose, .anything, .percent(50))], between: second, and: other)
    await meeting.world.run(for: .seconds(10))
    #expect(bystander.isReady)
    #expect(!meeting.world.faultEvents.isEmpty)
    #expect(meeting.world.faultEvents.allSatisfy { ["battery", "other"].contains($0.device) })
  }

  @Test("The receiver gets a PDU that is injected in place of another one")
  func injected() async {
    let meeting = await subscribed()
    // L2CAP length 7, channel 4, a notification of the same attribute with other values.
    let handle = UInt16(0x0016)
    meeting.world.add([
      .air(
        .inject([7, 0, 4, 0, 0x1B, UInt8(handle & 0xFF), UInt8(handle >> 8), 0x0E, 200, 0x77, 0x77]),
        .notifications(of: handle), .number(2))
    ])
    await meeting.world.run(for: .milliseconds(3_000))
    #expect(meeting.app.values(of: "2A37").map { $0[1] } == [72, 200, 72])
  }

  @Test("A PDU injected for one receiver reaches no other", arguments: [true, false])
  func injectedForOne(byName: Bool) async {
    let meeting = Encounter(Broadcaster(advertising("Right")), plan: .listen)
    let witness = PhoneApp(on: meeting.world.makeDevice(named: "witness", at: Position(x: 1)), .listen)
    // Address and name of the original, except for one letter of the name.
    let world = meeting.world
    await world.run(for: .seconds(1))
    let payload = AdvertisingPayload(fitting: [.name("Wrong")]).octets
    let match = AirMatch(.advertising(), from: "accessory", to: byName ? "phone" : nil)
    let plan: FaultPlan = [.air(.inject([9, 0, 0, 0, 0, 0xC0] + payload), match)]
    if byName { world.add(plan) } else { meeting.phone.add(plan) }
    await world.run(for: .seconds(1))
    #expect(meeting.app.advertisement[CBAdvertisementDataLocalNameKey] as? String == "Wrong")
    #expect(witness.advertisement[CBAdvertisementDataLocalNameKey] as? String == "Right")
    #expect(world.faultEvents.allSatisfy { $0.description.contains("another PDU for phone") })
    world.removeFaults()
    await world.run(for: .seconds(1))
    #expect(meeting.app.advertisement[CBAdvertisementDataLocalNameKey] as? String == "Right")
  }

  private func advertising(_ name: String) -> Advertising {
    var result = Advertising(AdvertisingPayload(fitting: [.name(name)]))
    result.kind = .broadcast
    return result
  }

  @Test("A percentage of packets is lost, and the same seed loses the same ones")
  func percentage() async {
    func events(seed: UInt64) async -> [FaultEvent] {
      let meeting = await subscribed(seed: seed)
      meeting.world.add([.air(.lose, .anything, .percent(20))])
      await meeting.world.run(for: .seconds(10))
      #expect(energies(meeting).count >= 8)
      return meeting.world.faultEvents
    }
    let first = await events(seed: 3)
    #expect(first.count > 50)
    #expect(await events(seed: 3) == first)
    #expect(await events(seed: 4) != first)
  }

  @Test("The capture marks the packets that a fault has affected")
  func marks() async throws {
    let text = try await withTemporaryFolder { folder in
      let path = folder.file("air.pcapng")
      let meeting = await subscribed(capture: try Capture(path: path))
      meeting.world.add([
        .air(.lose, .notifications(), .number(1)), .hci(.lose, HCIMatch(.data, on: "phone"), .number(2)),
        .air(.corrupt, .notifications(), .number(3)),
        .air(.inject([7, 0, 4, 0, 0x1B, 0x16, 0, 0x0E, 200, 0x77, 0x77]), .notifications(), .number(4)),
        .hci(.delay(.milliseconds(3)), HCIMatch(.data, on: "accessory"), .number(4)),
        .hci(.duplicate, HCIMatch(.data, on: "accessory"), .number(5)),
        .hci(.corrupt, HCIMatch(.data, on: "accessory"), .number(6)),
        .device(.mute(for: .milliseconds(100)), "phone", when: .at(meeting.world.now + .seconds(2))),
        .device(.driftClock(partsPerMillion: 20), "phone", when: .at(meeting.world.now + .seconds(3))),
        .device(.stopAnswering(for: .milliseconds(1)), "phone", when: .at(meeting.world.now + .seconds(3))),
        .device(.refuseConnections(), "accessory", when: .at(meeting.world.now + .seconds(3))),
        .device(.resetController, "accessory", when: .at(meeting.world.now + .seconds(8))),
      ])
      await meeting.world.run(for: .milliseconds(8_500))
      meeting.world.inject(InjectedPacket([0x42, 0, 7, 0, 0, 0, 0, 0xC0], channel: 0))
      await meeting.world.run(for: .milliseconds(500))
      try meeting.world.finishCapture()
      return String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
    }
    #expect(text.contains("fault: lost: ATT handleValueNotification of attribute 0x0016"))
    for mark in [
      "fault: lost: ACL data", "fault: corrupted: ATT handleValueNotification", "fault: another PDU in place of ATT",
      "fault: delayed by 0.003 seconds: ACL data", "fault: duplicated: ACL data", "fault: corrupted: ACL data",
      "fault: phone: muted for 0.1 seconds", "fault: phone: its clock drifts by 20.0 ppm",
      "fault: phone: stops answering", "fault: accessory: refuses connections",
      "fault: accessory: its controller was reset", "fault: injected → nobody",
    ] {
      let isThere = text.contains(mark)
      #expect(isThere, "\(mark)")
    }
  }

  // MARK: Between host and controller

  @Test("A packet from outside the simulation is heard at its time, from its place, by receivers on its channel")
  func injectedPacket() async throws {
    let world = World(seed: 1)
    let app = PhoneApp(on: world.makeDevice(named: "phone"), .listen)
    await world.run(for: .seconds(1))
    // ADV_NONCONN_IND of a random static address, with the complete name "Hi".
    let pdu: [UInt8] = [0x42, 0, 7, 0, 0, 0, 0, 0xC0, 3, 0x09, 0x48, 0x69]
    for (index, channel) in [0, 12, 39].enumerated() {
      var packet = InjectedPacket(pdu, channel: channel)
      packet.transmitPower = 10
      packet.position = Position(x: 10)
      world.inject(packet, at: .milliseconds(2_000 + index))
    }
    await world.run(for: .milliseconds(900))
    #expect(app.sightings.count == 0)
    await world.run(for: .seconds(1))
    // The phone listens to one of the three advertising channels.
    #expect(app.sightings.count == 1)
    #expect(app.advertisement[CBAdvertisementDataLocalNameKey] as? String == "Hi")
    #expect(app.level == -55)
    let events = world.faultEvents
    #expect(events.map(\.time) == [.milliseconds(2_000), .milliseconds(2_001), .milliseconds(2_002)])
    #expect(events.allSatisfy { $0.device == "injected" && $0.layer == .air })
  }

  @Test("A notification lost between controller and host is not retransmitted")
  func lostAtHCI() async {
    let meeting = await subscribed()
    meeting.phone.add([.hci(.lose, HCIMatch(.data, direction: .toHost), .number(2))])
    await meeting.world.run(for: .seconds(4))
    #expect(energies(meeting) == [1, 3, 4])
  }

  @Test("A notification duplicated between controller and host arrives twice")
  func duplicatedAtHCI() async {
    let meeting = await subscribed()
    meeting.phone.add([.hci(.duplicate, HCIMatch(.data, direction: .toHost), .number(2))])
    await meeting.world.run(for: .seconds(3))
    #expect(energies(meeting) == [1, 2, 2, 3])
  }

  @Test("A delayed notification arrives later, and the following ones after it")
  func delayedAtHCI() async {
    let meeting = await subscribed()
    meeting.phone.add([
      .hci(.delay(.milliseconds(2_500)), HCIMatch(.data, direction: .toHost), .number(1))
    ])
    await meeting.world.run(for: .milliseconds(2_600))
    #expect(energies(meeting) == [])
    await meeting.world.run(for: .milliseconds(400))
    #expect(energies(meeting) == [1, 2, 3])
  }

  @Test("A notification corrupted between controller and host differs in one bit")
  func corruptedAtHCI() async {
    let meeting = await subscribed()
    meeting.phone.add([.hci(.corrupt, HCIMatch(.data, direction: .toHost), .number(2))])
    await meeting.world.run(for: .seconds(5))
    // Wherever the bit was, the other notifications are unchanged.
    let values = meeting.app.values(of: "2A37")
    #expect(values.contains([0x0E, 72, 1, 0]))
    #expect(values.contains([0x0E, 72, 5, 0]))
    #expect(!values.contains([0x0E, 72, 2, 0]))
    #expect(meeting.world.faultEvents.map(\.layer) == [.hci])
  }

  // MARK: Devices

  @Test("A muted radio stops silently, and its peer detects it by the supervision timeout")
  func mute() async {
    let meeting = await subscribed()
    let start = meeting.world.now + .seconds(1)
    meeting.accessory.add([.device(.mute(), when: .at(start))])
    await meeting.world.run(until: { meeting.app.has(.disconnected) }, limit: .seconds(10))
    #expect((meeting.app.disconnection as? CBError)?.code == .connectionTimeout)
    #expect(meeting.world.now - start > .milliseconds(1_900))
    #expect(meeting.world.now - start < .milliseconds(2_100))
  }

  @Test("A radio muted for less than the supervision timeout keeps its link and loses no data")
  func shortMute() async {
    let meeting = await subscribed()
    meeting.world.add([
      .device(.mute(for: .milliseconds(1_500)), "accessory", when: .at(meeting.world.now + .milliseconds(500)))
    ])
    await meeting.world.run(for: .seconds(5))
    #expect(!meeting.app.has(.disconnected))
    #expect(energies(meeting) == [1, 2, 3, 4, 5])
  }

  @Test("A clock that drifts far beyond its claimed accuracy loses the link; within it, the link holds")
  func drift() async {
    func isLost(partsPerMillion: Double) async -> Bool {
      let meeting = await subscribed()
      meeting.accessory.add([.device(.driftClock(partsPerMillion: partsPerMillion), when: .at(meeting.world.now))])
      await meeting.world.run(for: .seconds(10))
      return meeting.app.has(.disconnected)
    }
    #expect(await !isLost(partsPerMillion: 50))
    #expect(await isLost(partsPerMillion: 20_000))
  }

  @Test("A controller that is reset loses its link, and its host starts it again")
  func reset() async {
    let meeting = await subscribed()
    meeting.phone.add([.device(.resetController, when: .at(meeting.world.now + .seconds(1)))])
    await meeting.world.run(for: .seconds(2))
    // Resetting, then poweredOn.
    #expect(meeting.app.events.suffix(2) == [.state(.resetting), .state(.poweredOn)])
  }

  @Test("A device that refuses connections is discovered, but not connected to")
  func refusal() async {
    let meeting = Encounter(BatteryPack())
    meeting.accessory.add([.device(.refuseConnections(for: .seconds(5)), when: .at(.zero))])
    await meeting.world.run(for: .seconds(4))
    #expect(meeting.app.sightings.count > 0)
    #expect(!meeting.app.isReady)
    await meeting.world.run(for: .seconds(6))
    #expect(meeting.app.isReady)
  }

  @Test("A host that stops answering keeps its links until a request has been pending for 30 s")
  func silence() async {
    let meeting = Encounter(BatteryPack())
    #expect(await meeting.prepare())
    meeting.accessory.add([.device(.stopAnswering(), when: .at(meeting.world.now))])
    await meeting.world.run(for: .milliseconds(100))
    meeting.app.read("2A19")
    await meeting.world.run(for: .seconds(29))
    #expect(meeting.app.values(of: "2A19").isEmpty)
    #expect(!meeting.app.has(.disconnected))
    await meeting.world.run(for: .seconds(3))
    #expect(meeting.app.has(.disconnected))
  }

  @Test("A fault applies to a device that is added after it and that no manager uses yet")
  func laterDevice() async {
    let world = World(seed: 1)
    world.add([
      .device(.driftClock(partsPerMillion: 100_000), "phone", when: .at(.milliseconds(10))),
      .device(.mute(), "nobody", when: .at(.milliseconds(10))),
    ])
    world.add(HeartRateSensor(), named: "strap", at: Position(x: 2))
    let phone = world.makeDevice(named: "phone")
    await world.run(for: .seconds(1))
    #expect(world.faultEvents.map(\.device) == ["phone"])
    let app = PhoneApp(on: phone)
    // A tenth of a second in each second: after an interval neither device finds the other again.
    await world.run(for: .seconds(5))
    #expect(!app.isReady)
    #expect(app.sightings.count > 0)
  }

  @Test("Of more than 10,000 faults only the latest are reported")
  func manyEvents() async {
    let meeting = Encounter(Broadcaster(advertising("Often")), plan: .listen)
    meeting.world.add([.air(.lose)])
    await meeting.world.run(for: .seconds(760))
    let events = meeting.world.faultEvents
    #expect(events.count == 10_000)
    #expect(meeting.world.faultEventCount > 20_500)
    #expect(events.map(\.time) == events.map(\.time).sorted())
    #expect(events.last.map { meeting.world.now - $0.time < .seconds(1) } == true)
  }

  @Test("A device fault starts after its trigger event")
  func afterAnEvent() async throws {
    let meeting = await subscribed()
    meeting.world.add([
      .device(.mute(), "accessory", when: .afterAir(.notifications(from: "accessory"), .number(3)))
    ])
    await meeting.world.run(for: .seconds(8))
    #expect(energies(meeting).count <= 3)
    #expect(meeting.app.has(.disconnected))
    #expect(meeting.world.faultEvents.map(\.description) == ["muted"])
  }

  @Test("The end of faults keeps a switched-off radio off, and switching a radio on overrides its faults")
  func switchedOffRadio() async {
    let meeting = Encounter(Broadcaster(advertising("Here")), plan: .listen)
    let (world, phone) = (meeting.world, meeting.phone)
    func hears() async -> Bool {
      func count() -> Int { world.statistics.devices.first { $0.name == "phone" }?.receivedPackets ?? 0 }
      await world.run(for: .milliseconds(10))
      let before = count()
      await world.run(for: .seconds(1))
      return count() > before
    }
    #expect(await hears())
    phone.setRadio(isOn: false)
    #expect(await !hears())
    phone.add([.device(.mute(for: .milliseconds(100)), when: .at(world.now))])
    #expect(await !hears())
    phone.add([.device(.mute(), when: .at(world.now))])
    #expect(await !hears())
    world.removeFaults()
    #expect(await !hears())
    phone.setRadio(isOn: true)
    #expect(await hears())
    phone.add([.device(.mute(), when: .at(world.now))])
    #expect(await !hears())
    phone.setRadio(isOn: true)
    #expect(await hears())
  }
}
