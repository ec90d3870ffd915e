import BluetoothDBus
import BluetoothDaemon
import BluetoothHost
import BluetoothTransport
import BluetoothTypes
import BluetoothWire
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import BluetoothAdapters

@Suite(
  "Sockets of characteristics", .enabled(if: PrivateBus.isAvailable, BlueZScene.needs), .timeLimit(.minutes(1)))
struct BlueZSocketTests {
  private let measurement = RemoteAttributeID(0x0D)
  private let command = RemoteAttributeID(0x12)

  private func connect() async throws -> (BlueZScene, CentralSession, RecordingCentral, PeerHandle) {
    let scene = try await BlueZScene()
    scene.bluez.state.withLockedValue { $0.hasSockets = true }
    let (session, client) = try await scene.central()
    return (scene, session, client, try await scene.connect(session, client))
  }

  private func notify(
    _ isOn: Bool, _ peer: PeerHandle, _ session: CentralSession, _ client: RecordingCentral
  ) async throws {
    session.send(.setNotify(peer, measurement, isOn))
    try await client.log.next { event in
      if case .notifyStateChanged(peer, _, isNotifying: isOn, nil) = event { true } else { nil }
    }
  }

  @Test("Notifications come by a socket, each with its boundary; the socket ends with the subscription")
  func notifications() async throws {
    let (scene, session, client, peer) = try await connect()
    defer { scene.bus.stop() }
    try await notify(true, peer, session, client)
    #expect(!scene.bluez.calls.contains("StartNotify"))
    scene.bluez.notify([1])
    scene.bluez.notify([1])
    scene.bluez.notify([2, 3])
    for value: [UInt8] in [[1], [1], [2, 3]] {
      let found = try await client.log.next { event in
        if case .valueChanged(peer, _, let value) = event { value.bytes } else { nil }
      }
      #expect(found == value)
    }
    try await notify(false, peer, session, client)
    while scene.bluez.state.withLockedValue({ !$0.sockets.isEmpty }) { await Task.yield() }
  }

  @Test("Writes without response go by a socket, in their order, and return their credits")
  func writes() async throws {
    let (scene, session, client, peer) = try await connect()
    defer { scene.bus.stop() }
    let credits = session.writeCredits(for: peer)
    var count: UInt8 = 0
    while credits.take() {
      session.send(.writeWithoutResponse(peer, command, [count, 7]))
      count += 1
    }
    try await client.log.next { event in
      if case .readyToWriteWithoutResponse(peer) = event { true } else { nil }
    }
    for number in 0..<count { #expect(try await scene.bluez.packets.next { $0 } == [number, 7]) }
    #expect(!scene.bluez.calls.contains { $0.hasPrefix("WriteValue") })
  }

  @Test("A subscription that BlueZ makes by a socket names its central, which alone gets its updates")
  func subscribers() async throws {
    let scene = try await BlueZScene()
    defer { scene.bus.stop() }
    let client = RecordingPeripheral()
    let session = scene.adapter.openPeripheralSession(for: client, owner: nil)
    try await client.log.next { event in
      if case .stateChanged(.poweredOn) = event { true } else { nil }
    }
    scene.bluez.addDevice()
    let (service, characteristic) = (LocalAttributeID(number: 1), LocalAttributeID(number: 2))
    let definition = GATTCharacteristicDefinition(
      uuid: 0x2A37, properties: .indicate, permissions: [], value: nil)
    session.send(
      .addService(
        LocalServiceInfo(
          id: service, uuid: 0x180D, isPrimary: true, includes: [],
          characteristics: [LocalCharacteristicInfo(id: characteristic, definition: definition)])))
    try await client.log.next { event in
      if case .serviceAdded(service, nil) = event { true } else { nil }
    }
    let (app, root) = try #require(scene.bluez.state.withLockedValue { $0.applications.first })
    let reply = try await scene.bluez.connection.call(
      "AcquireNotify", of: "org.bluez.GattCharacteristic1", at: root + "/service/char0", on: app,
      [.properties(["device": .path(FakeBlueZ.device), "mtu": .uint16(40), "link": .string("LE")])])
    let descriptor = try #require(reply.body.first?.descriptor?.take())
    let packets = scene.bluez.packets
    let socket = BlueZSocket(descriptor, on: scene.bluez.loop, receive: { packets.add($0) }, ended: {})
    let central = try await client.log.next { event in
      if case .subscribed(let central, characteristic) = event { central } else { nil }
    }
    #expect(scene.adapter.directory.address(of: central.handle) == DeviceAddress(0xC011_2233_4455, .random))
    #expect(central.maximumUpdateLength == 37)

    // The second update is for another central.
    for (value, centrals) in [([1], nil), ([2], [PeerHandle(index: 99)]), ([3], [central.handle])]
      as [([UInt8], [PeerHandle]?)]
    {
      _ = session.updateCredits.take()
      session.send(.update(characteristic, ByteSlice(value), centrals))
    }
    #expect(try await packets.next { $0 } == [1])
    #expect(try await packets.next { $0 } == [3])
    scene.bluez.loop.execute { socket.send([1]) }
    try await client.log.next { event in
      if case .indicationConfirmed(central, characteristic) = event { true } else { nil }
    }
    scene.bluez.loop.execute { socket.close() }
    try await client.log.next { event in
      if case .unsubscribed(central, characteristic) = event { true } else { nil }
    }
  }
}
