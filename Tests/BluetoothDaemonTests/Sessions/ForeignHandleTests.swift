import BluetoothHost
import BluetoothWire
import Testing

@testable import BluetoothDaemon

/// The requests of an app that names what belongs to another app: links, centrals, characteristics, requests, channels.
@Suite struct ForeignHandleTests {
  private let air = DaemonNetwork()
  private let sensor: Sensor
  private let phone: Phone
  /// A hostile app of another user, on the adapters of the phone and of the sensor.
  private let attackers: [(central: Phone, peripheral: Sensor)]
  private let peer: PeerHandle
  private let value: RemoteAttributeID
  private let central: PeerHandle
  private static let slow = LinkRequest.connectionParameters(
    LinkParameters(minimumInterval: 3_200, maximumInterval: 3_200, latency: 2, supervisionTimeout: 3_200))
  private static let shares = AppShares(links: 64, advertisingSets: 4)

  init() throws {
    let devices = [air.add("Sensor", shares: Self.shares), air.add("Phone", shares: Self.shares)]
    let hostile = SessionOwner(app: "hostile", user: ClientUser(1_000))
    sensor = Sensor(air, devices[0], SessionOwner(app: "sensor", user: ClientUser(0)))
    phone = Phone(air, devices[1], SessionOwner(app: "phone", user: ClientUser(0)))
    attackers = [devices[1], devices[0]].map { [air] in (Phone(air, $0, hostile), Sensor(air, $0, hostile)) }
    sensor.add(10, 0xFFF0, [.dynamic(0xFFF1, [.read, .notify])])
    sensor.advertise("Sensor", [0xFFF0])
    peer = try phone.findAndConnect()
    let characteristic = try #require(try phone.discover(peer)[0xFFF1])
    value = characteristic.id
    phone.send(.setNotify(peer, value, true))
    central = try #require(
      sensor.recorder.take().compactMap { if case .subscribed(let central, _) = $0 { central.handle } else { nil } }
        .first)
    // The parameters of a new link stay for 5 s · Vol 3, Part C, 9.3.12.
    air.pass(.seconds(6))
    for attacker in attackers {
      _ = attacker.central.takeEvents()
      _ = attacker.peripheral.takeEvents()
    }
    _ = phone.takeEvents()
  }

  /// All commands of a central manager that name a peer, for a peer to which the session has no link.
  private var centralCommands: [CentralCommand] {
    return [
      .cancelConnection(peer), .requestAlerts(peer, [.connection]), .requireNotifications(peer), .readRSSI(peer),
      .changeLink(peer, Self.slow), .discoverServices(peer, nil), .discoverIncludedServices(peer, value, nil),
      .discoverCharacteristics(peer, value, nil), .discoverDescriptors(peer, value), .read(peer, value),
      .write(peer, value, [1]), .writeWithoutResponse(peer, value, [1]), .signedWriteWithoutResponse(peer, value, [1]),
      .setNotify(peer, value, false), .openChannel(peer, psm: 0x80), .endSynchronization(1),
    ]
  }

  /// All commands of a peripheral manager that name something of another session.
  private func peripheralCommands(_ central: PeerHandle, _ request: CentralRequestID) -> [PeripheralCommand] {
    return [
      .stopAdvertising, .stopSet(LocalSetID(number: 1)), .removeService(LocalAttributeID(number: 10)),
      .removeAllServices, .respond(request, nil, value: [9]), .update(LocalAttributeID(number: 11), [9], [central]),
      .update(LocalAttributeID(number: 11), [9], nil), .setConnectionLatency(.high, central),
      .changeLink(central, Self.slow),
      .disconnect(central), .unpublishChannel(psm: 0x80),
    ]
  }

  /// True if the lists above need the command: a new one must be named here, too.
  private func namesOthers(_ command: CentralCommand) -> Bool {
    switch command {
    case .scan, .stopScan, .synchronize, .connect, .registerForConnectionEvents, .barrier, .askForPower, .observeLinks:
      false
    case .cancelConnection, .requestAlerts, .requireNotifications, .readRSSI, .changeLink, .discoverServices,
      .discoverIncludedServices, .discoverCharacteristics, .discoverDescriptors, .read, .write, .writeWithoutResponse,
      .signedWriteWithoutResponse, .setNotify, .openChannel, .endSynchronization:
      true
    }
  }

  private func namesOthers(_ command: PeripheralCommand) -> Bool {
    switch command {
    case .startAdvertising, .advertise, .startSet, .addService, .addServiceAt, .observeLinks, .publishChannel, .barrier,
      .askForPower:
      false
    case .stopAdvertising, .stopSet, .removeService, .removeAllServices, .respond, .update, .setConnectionLatency,
      .changeLink, .disconnect, .unpublishChannel:
      true
    }
  }

  /// The commands that the controllers have got for links, and the links.
  private var state: [String] {
    air.devices.map { "\($0.controller.parameterUpdates) \($0.controller.links.count)" }
  }

  private func expectService() throws {
    phone.session.send(.read(peer, value))
    air.run()
    sensor.send(.respond(try sensor.lastRequest(), nil, value: [7]))
    #expect(phone.takeEvents() == ["read 07"])
    sensor.send(.update(LocalAttributeID(number: 11), [8], nil))
    #expect(phone.takeEvents() == ["value 08"])
  }

  @Test("No request of a central manager that names another app's link has an effect or an answer")
  func centralRequests() throws {
    let before = state
    #expect(centralCommands.allSatisfy { namesOthers($0) })
    for command in centralCommands {
      _ = attackers[0].central.session.writeCredits(for: peer).take()
      attackers[0].central.send(command)
      #expect(attackers[0].central.takeEvents() == [], "\(command)")
    }
    #expect(attackers[0].central.session.writeCredits(for: peer).take(), "credits come back")
    #expect(state == before)
    try expectService()
  }

  @Test(
    "No request of a peripheral manager that names another app's central, link, service or request has an effect",
    arguments: [0, 1])
  func peripheralRequests(place: Int) throws {
    let before = state
    phone.session.send(.read(peer, value))
    air.run()
    let request = try sensor.lastRequest()
    let attacker = attackers[place].peripheral
    for observes in [false, true] {
      if observes { attacker.send(.observeLinks) }
      _ = attacker.takeEvents()
      let commands = peripheralCommands(place == 0 ? peer : central, request)
      #expect(commands.allSatisfy { namesOthers($0) })
      for command in commands {
        _ = attacker.session.updateCredits.take()
        attacker.session.send(command)
        air.run()
        let allowed = ["unpublish", "unpublished 128 invalidParameters", "ready to update", "central gone"]
        #expect(attacker.takeEvents().allSatisfy { allowed.contains($0) }, "\(command)")
      }
    }
    #expect(state == before)
    sensor.send(.respond(request, nil, value: [6]))
    #expect(phone.takeEvents() == ["read 06"])
    try expectService()
  }

  @Test("A session may change the link of a central that has used one of its characteristics, and no other one")
  func served() throws {
    let attacker = attackers[1].peripheral
    attacker.send(.setConnectionLatency(.low, central))
    air.pass(.seconds(6))
    #expect(air.devices[1].controller.parameterUpdates.isEmpty)
    sensor.send(.setConnectionLatency(.high, central))
    air.pass(.seconds(6))
    #expect(air.devices[1].controller.parameterUpdates.count == 1)
    // A central that uses a service of both apps is a central of both.
    attacker.add(20, 0xFFE0, [.dynamic(0xFFE1, .read)])
    let before = air.devices[0].daemon.context.link(to: central, for: attacker.session.id)?.index
    #expect(before == nil)
    let own = try #require(try phone.discover(peer)[0xFFE1])
    phone.send(.read(peer, own.id))
    attacker.send(.respond(try attacker.lastRequest(), nil, value: [1]))
    let after = air.devices[0].daemon.context.link(to: central, for: attacker.session.id)?.index
    #expect(after != nil)
    attacker.session.send(.disconnect(central))
    air.run()
    #expect(attacker.takeEvents() == ["central gone"] && air.linkCount(0) == 1)
  }
}
