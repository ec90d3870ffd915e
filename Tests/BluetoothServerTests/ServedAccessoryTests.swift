import BluetoothDaemon
import BluetoothDaemonProtocol
import BluetoothHost
import BluetoothLab
import BluetoothWire
import TestSupport
import Testing

@testable import BluetoothServer

extension CentralEvent {
  fileprivate var sharing: PeerHandle? { if case .notificationSharingChanged(let peer) = self { peer } else { nil } }
}

extension PeripheralEvent {
  fileprivate var subscriber: CentralInfo? { if case .subscribed(let central, _) = self { central } else { nil } }
}

/// A watch, which is an app of the adapter "lamp", and a program that connects to it from the adapter "phone".
@Suite("Accessories of a server's apps", .timeLimit(.minutes(10)))
struct ServedAccessoryTests {
  private static let service = BluetoothUUID(0xFF10)
  private static let notified = LocalAttributeID(number: 2)
  private static let read = LocalAttributeID(number: 3)
  private static let notifiedUUID = BluetoothUUID(0xFF11)
  private static let readUUID = BluetoothUUID(0xFF12)
  private static let notificationCenter: BluetoothUUID = "7905F431-B5CE-4E99-A40F-4B1E122D00D0"
  private static let notificationSource: BluetoothUUID = "9FBF120D-6301-42D9-8C58-25E699A21DBD"
  private let manifest = AppManifest(backgroundModes: [.peripheral], usageDescription: "To read.")

  private struct Watch {
    let peripheral: RemotePeripheral
    let session: PeripheralSession
  }

  /// Starts the app "watch", which publishes a service and advertises.
  private func watch(_ bench: AppBench) async throws -> Watch {
    let peripheral = RemotePeripheral(bench.adapter("lamp", of: "watch", manifest))
    let session = peripheral.adapter.openPeripheralSession(for: peripheral)
    try await peripheral.poweredOn()
    let definitions = [(Self.notified, Self.notifiedUUID), (Self.read, Self.readUUID)]
    session.send(
      .addService(
        LocalServiceInfo(
          id: LocalAttributeID(number: 1), uuid: Self.service, isPrimary: true, includes: [],
          characteristics: definitions.map { id, uuid in
            LocalCharacteristicInfo(
              id: id,
              definition: GATTCharacteristicDefinition(
                uuid: uuid, properties: [.read, .notify], permissions: [.readable], value: nil))
          })))
    _ = try await peripheral.first(\.added)
    session.send(.startAdvertising(localName: "watch", services: [Self.service]))
    return Watch(peripheral: peripheral, session: session)
  }

  @Test("An accessory that is an ANCS client gets an alert, and the app learns that it may get notifications")
  func notifications() async throws {
    let bench = try AppBench(.ios)
    let watch = try await watch(bench)
    let torch = bench.start("torch", manifest)
    try await torch.central.state(.poweredOn)
    let peer = try await torch.central.find(Self.service, by: torch.session).handle
    let directory = torch.central.adapter.directory
    torch.session.send(.connect(peer, delay: .zero, reconnects: false))
    torch.session.send(.requireNotifications(peer))
    torch.session.send(.requestAlerts(peer, .notification))
    // The system pairs with the accessory and asks the user.
    #expect(try await torch.central.first(\.sharing) == peer)
    #expect(directory.bond(with: peer)?.getsNotifications == true)

    // The user changes the permission, by the identifier that the app knows, and changes it back.
    let identifier = try #require(directory.peer(peer)?.identifier.digits)
    try await bench.ask { try $0.perform(.setSharing(peer: identifier, false)) }
    #expect(try await torch.central.first(\.sharing) == peer)
    #expect(directory.bond(with: peer)?.getsNotifications == false)
    try await bench.ask { try $0.perform(.setSharing(peer: identifier, true)) }
    #expect(try await torch.central.first(\.sharing) == peer)
    #expect(directory.bond(with: peer)?.getsNotifications == true)
    await #expect(throws: ServerQuestion.Refusal.self) {
      try await bench.ask { try $0.perform(.setSharing(peer: "nothing", true)) }
    }

    // The accessory subscribes to the phone's notifications, on the link that the phone has established.
    torch.session.send(.discoverServices(peer, [Self.service]))
    let service = try #require(try await torch.central.first(\.services).get().first?.id)
    torch.session.send(.discoverCharacteristics(peer, service, [Self.notifiedUUID]))
    let value = try #require(try await torch.central.first(\.characteristics).get().first?.id)
    torch.session.send(.setNotify(peer, value, true))
    let phone = try await watch.peripheral.first(\.subscriber)
    #expect(try await torch.central.first(\.isNotifying) == true)
    let client = RemoteCentral(bench.adapter("lamp", of: "watch", manifest))
    let session = client.adapter.openCentralSession(for: client)
    try await client.state(.poweredOn)
    let provider = try #require(client.adapter.directory.peer(phone.identifier)?.handle)
    let characteristics = try await client.connect(to: provider, service: Self.notificationCenter, by: session)
    let source = try #require(characteristics.first { $0.uuid == Self.notificationSource }).id
    session.send(.setNotify(provider, source, true))
    #expect(try await client.first(\.isNotifying) == true)

    // An event of the suspended app is an alert, which the accessory gets.
    try await bench.ask { try $0.perform(.controlApp("torch", .background)) }
    try await bench.ask { try $0.perform(.controlApp("torch", .suspend)) }
    try await bench.state(.suspended, of: "torch")
    watch.session.send(.update(Self.notified, [1], nil))
    let event = try await client.first(\.notification)
    #expect(event.count == 8)
    #expect(event.bytes.first == 0, "EventID: added")
    await wait { torch.central.adapter.directory.bond(with: peer) != nil }
    #expect(try await bench.ask { try $0.alerts() }.map(\.app) == ["torch"])
  }

  @Test("A server that asks also asks whether an accessory may get notifications")
  func question() async throws {
    let bench = try AppBench(.ios, rule: .ask)
    let questions = bench.questions
    questions.observe { change in
      if case .asked(let question) = change, case .permission = question.subject { questions.answer(question, true) }
    }
    let watch = try await watch(bench)
    let torch = bench.start("torch", manifest)
    try await torch.central.state(.poweredOn)
    let peer = try await torch.central.find(Self.service, by: torch.session).handle
    torch.session.send(.connect(peer, delay: .zero, reconnects: false))
    torch.session.send(.requireNotifications(peer))
    let question = try #require(await bench.question())
    guard case .notifications = question.subject else {
      Issue.record("another question: \(question.text)")
      return
    }
    questions.answer(question, true)
    #expect(try await torch.central.first(\.sharing) == peer)
    #expect(torch.central.adapter.directory.bond(with: peer)?.getsNotifications == true)
    withExtendedLifetime(watch) {}
  }

  @Test("The uses of a peer name the procedures that an app waits for, and the apps that serve the peer")
  func uses() async throws {
    let bench = try AppBench(.macos)
    let watch = try await watch(bench)
    let torch = bench.start("torch")
    try await torch.central.state(.poweredOn)
    let peer = try await torch.central.find(Self.service, by: torch.session).handle
    let all = try await torch.central.connect(to: peer, service: Self.service, by: torch.session)
    let notified = try #require(all.first { $0.uuid == Self.notifiedUUID }).id
    torch.session.send(.setNotify(peer, notified, true))
    #expect(try await torch.central.first(\.isNotifying) == true)
    let client = try await watch.peripheral.first(\.subscriber).identifier.digits
    let identifier = try #require(torch.central.adapter.directory.peer(peer)?.identifier.digits)
    #expect(try await bench.ask { try $0.uses(of: identifier) }.first?.users.first?.pending.isEmpty == true)

    // The watch does not answer yet. In the slow world it has 5 min for its answer, and not 30 s.
    bench.bench.world.setSpeed(0.1)
    torch.session.send(.read(peer, try #require(all.first { $0.uuid == Self.readUUID }).id))
    let request = try await watch.peripheral.first(\.readRequest)
    let usage = try #require(try await bench.ask { try $0.uses(of: identifier) }.first)
    let pending = try #require(usage.users.first?.pending.first)
    #expect(usage.users.first?.pending.count == 1)
    #expect(pending.procedure == .read && pending.attribute == Self.readUUID)
    #expect(usage.served.isEmpty)
    let phone = try await bench.ask("lamp") { try $0.uses(of: client) }
    let served = try #require(phone.first?.served)
    #expect(phone.first?.users.isEmpty == true)
    #expect(served.map(\.app) == ["watch"])
    #expect(served.first?.subscriptions == [Self.notifiedUUID])
    #expect(served.first?.pending.map(\.procedure) == [.read])
    #expect(served.first?.pending.first?.attribute == Self.readUUID)

    watch.session.send(.respond(request, nil, value: [7]))
    #expect(try await torch.central.first(\.value).get() == [7])
    bench.bench.world.setSpeed(1)
    #expect(try await bench.ask { try $0.uses(of: identifier) }.first?.users.first?.pending.isEmpty == true)
  }

  @Test("A known device without a link has no uses, whatever names it, and an unknown one is not found")
  func noUses() async throws {
    let bench = try AppBench(.macos)
    let torch = bench.start("torch")
    let peer = try await torch.find()
    try await wait { try await bench.ask { try $0.peers().compactMap(\.name) } == ["Flashlight"] }
    let address = try #require(torch.central.adapter.directory.address(of: peer.handle))
    let digits = String("\(address)".prefix(17))
    for text in ["Flashlight", peer.identifier.digits, "\(address)", digits, digits.lowercased()] {
      let usages = try await bench.ask { try $0.uses(of: text) }
      #expect(usages.map(\.address) == [address], "\(text)")
      #expect(usages.allSatisfy { !$0.isLinked && $0.users.isEmpty && $0.served.isEmpty })
    }
    #expect(try await bench.ask { try $0.uses(of: "Flashlights") }.isEmpty)
    // The address of a device with a link.
    torch.session.send(.connect(peer.handle, delay: .zero, reconnects: false))
    #expect(try await torch.central.first(\.connected) == peer.handle)
    #expect(try await bench.ask { try $0.uses(of: digits) }.first?.users.first?.phase == .connected)
  }
}
