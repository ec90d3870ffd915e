import BluetoothDaemon
import BluetoothDaemonProtocol
import BluetoothHost
import BluetoothLab
import BluetoothServer
import BluetoothWire
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import Requirements
import TestSupport
import Testing

/// Apps that share an adapter through a server, over its real socket.
@Suite(.timeLimit(.minutes(10)))
struct SharedAdapterTests {
  /// The flashlight's status.
  private static let status: BluetoothUUID = "2D7A5C10-94B3-4E8F-8B61-5F0C3E9A7D02"

  @Test(
    "Two apps share a device: both find and connect the same peer, and the end of one leaves the other's link",
    .requirement("L010"))
  func sharedLink() async throws {
    let bench = try ServerBench()
    let (first, second) = (RemoteCentral(bench.adapter()), RemoteCentral(bench.adapter()))
    let firstSession = first.adapter.openCentralSession(for: first)
    let secondSession = second.adapter.openCentralSession(for: second)
    try await first.state(.poweredOn)
    try await second.state(.poweredOn)
    #expect(bench.server.connectedClients.map(\.process?.id) == [getpid(), getpid()])
    #expect(bench.server.connectedClients.first?.process?.user == getuid())

    let question = ServerSpecifier(.unix(path: bench.path), adapter: "lamp")
    let listed = try await onOwnThread { try ServerQuestion.clients(of: question, within: .hours(1)) }
    #expect(listed.map(\.adapter).sorted() == ["lamp", "phone", "phone"])
    #expect(listed.map(\.sessions).sorted() == [0, 1, 1])

    let peer = try await first.find(Flashlight.service, by: firstSession)
    let same = try await second.find(Flashlight.service, by: secondSession)
    #expect(peer.identifier == same.identifier)
    #expect(first.adapter.directory.peer(peer.identifier)?.handle == peer.handle)

    let characteristics = try await first.connect(to: peer.handle, service: Flashlight.service, by: firstSession)
    _ = try await second.connect(to: same.handle, service: Flashlight.service, by: secondSession)
    #expect(!second.adapter.directory.connectedPeers(offering: [Flashlight.service]).isEmpty)

    // The second app ends; the link stays for the first one.
    secondSession.close()
    let status = try #require(characteristics.first { $0.uuid == Self.status })
    #expect(try await first.read(status.id, of: peer.handle, by: firstSession) == [0])
    firstSession.close()
  }

  @Test("An app that dies leaves the link that another app uses, and its own session ends", .requirement("L010"))
  func death() async throws {
    let bench = try ServerBench()
    let survivor = RemoteCentral(bench.adapter())
    let session = survivor.adapter.openCentralSession(for: survivor)
    try await survivor.state(.poweredOn)
    let peer = try await survivor.find(Flashlight.service, by: session)
    var characteristics: [RemoteCharacteristicInfo] = []
    // The socket of an app closes with its adapter, as it does with a process.
    do {
      let victim = RemoteCentral(bench.adapter())
      let victimSession = victim.adapter.openCentralSession(for: victim)
      try await victim.state(.poweredOn)
      // The flashlight advertises no more when it is connected, so both find it first.
      let same = try await victim.find(Flashlight.service, by: victimSession)
      characteristics = try await survivor.connect(to: peer.handle, service: Flashlight.service, by: session)
      _ = try await victim.connect(to: same.handle, service: Flashlight.service, by: victimSession)
      #expect(bench.server.connectedClients.count == 2)
    }
    await wait { bench.server.connectedClients.count <= 1 }
    let status = try #require(characteristics.first { $0.uuid == Self.status })
    #expect(try await survivor.read(status.id, of: peer.handle, by: session) == [0])
  }

  @Test("A peripheral and a central of two programs exchange values: requests, updates with credits, commands")
  func bothRoles() async throws {
    let bench = try ServerBench()
    let lamp = RemotePeripheral(bench.adapter("lamp"))
    let lampSession = lamp.adapter.openPeripheralSession(for: lamp)
    try await lamp.poweredOn()
    let service = BluetoothUUID(0xFF10)
    let valueID = LocalAttributeID(number: 2)
    let definition = GATTCharacteristicDefinition(
      uuid: BluetoothUUID(0xFF11), properties: [.read, .write, .writeWithoutResponse, .notify],
      permissions: [.readable, .writeable], value: nil)
    lampSession.send(
      .addServiceAt(
        LocalServiceInfo(
          id: LocalAttributeID(number: 1), uuid: service, isPrimary: true, includes: [],
          characteristics: [LocalCharacteristicInfo(id: valueID, definition: definition)], handle: 300)))
    #expect(try await lamp.first(\.added).number == 1)
    lampSession.send(.startAdvertising(localName: "Lamp", services: [service]))

    let phone = RemoteCentral(bench.adapter("phone"))
    let session = phone.adapter.openCentralSession(for: phone)
    try await phone.state(.poweredOn)
    let peer = try await phone.find(service, by: session).handle
    let characteristics = try await phone.connect(to: peer, service: service, by: session)
    let characteristic = try #require(characteristics.first).id
    #expect(characteristic.handle == 302, "the fixed handle of the service")

    // In the slow world the lamp has 5 min for its answer, and not 30 s.
    bench.world.setSpeed(0.1)
    session.send(.read(peer, characteristic))
    let request = try await lamp.first(\.readRequest)
    lampSession.send(.respond(request, nil, value: [1, 2, 3]))
    #expect(try await phone.first(\.value).get() == [1, 2, 3])
    bench.world.setSpeed(1)

    // More commands than there are credits: each takes a credit that has come back over the socket.
    let credits = session.writeCredits(for: peer)
    for number in 0..<60 as Range<UInt8> {
      while !credits.take() { #expect(try await phone.first(\.readyPeer) == peer) }
      session.send(.writeWithoutResponse(peer, characteristic, [number]))
    }
    for number in 0..<60 as Range<UInt8> { #expect(try await lamp.first(\.command) == [number]) }

    session.send(.setNotify(peer, characteristic, true))
    #expect(try await lamp.first(\.subscription) == valueID)
    for number in 0..<60 as Range<UInt8> {
      while !lampSession.updateCredits.take() { try await lamp.first(\.ready) }
      lampSession.send(.update(valueID, [number], nil))
    }
    for number in 0..<60 as Range<UInt8> { #expect(try await phone.first(\.notification) == [number]) }
  }

  @Test("The octets of an L2CAP channel reach the other program complete and in order, in both directions")
  func channels() async throws {
    let bench = try ServerBench()
    let lamp = RemotePeripheral(bench.adapter("lamp"))
    let lampSession = lamp.adapter.openPeripheralSession(for: lamp)
    try await lamp.poweredOn()
    lampSession.send(.publishChannel(isEncrypted: false))
    let psm = try await lamp.first(\.publishedPSM)
    let service = BluetoothUUID(0xFF20)
    lampSession.send(.startAdvertising(localName: nil, services: [service]))
    let phone = RemoteCentral(bench.adapter("phone"))
    let session = phone.adapter.openCentralSession(for: phone)
    try await phone.state(.poweredOn)
    let peer = try await phone.find(service, by: session).handle
    session.send(.connect(peer, delay: .zero, reconnects: false))
    #expect(try await phone.first(\.connected) == peer)
    session.send(.openChannel(peer, psm: psm))
    let info = try await phone.first(\.channel).get()
    let other = try await lamp.first(\.channel)
    let near = ChannelEndpoint(try #require(session.takeChannel(info)))
    let far = ChannelEndpoint(try #require(lampSession.takeChannel(other)))
    // More than the buffers of all processes hold.
    let octets = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    async let sent: Void = near.write(octets)
    async let answered: Void = far.write(octets.reversed())
    let received = await far.read(octets.count)
    let answer = await near.read(octets.count)
    await sent
    await answered
    #expect(received == octets)
    #expect(answer == octets.reversed())
    // The end tells that the other program's server has everything.
    let last = Array(octets.prefix(20_000))
    async let rest = far.read(last.count)
    await near.write(last)
    near.close()
    #expect(await near.waitForFinalEnd() == .closed)
    let lastReceived = await rest
    #expect(lastReceived == last)
    #expect(await far.waitForEnd() == .closed)
  }
}

/// One end of a channel, whose octets are awaited.
final class ChannelEndpoint: ChannelClient {
  private let channel: NIOLockedValueBox<OpenChannel?>
  private let pipe: ChannelPipe
  private let waiters = NIOLockedValueBox<[CheckedContinuation<Void, Never>]>([])
  private let generation = NIOLockedValueBox(0)

  init(_ channel: OpenChannel) {
    self.channel = NIOLockedValueBox(channel)
    pipe = channel.pipe
    pipe.setClient(self)
  }

  func channelChanged() {
    generation.withLockedValue { $0 += 1 }
    for waiter in waiters.withLockedValue({ waiters in
      defer { waiters.removeAll() }
      return waiters
    }) { waiter.resume() }
  }

  /// Waits for a change after the one with this number.
  private func change(after number: Int) async {
    await withCheckedContinuation { continuation in
      let isLate = generation.withLockedValue { generation in
        if generation > number { return true }
        waiters.withLockedValue { $0.append(continuation) }
        return false
      }
      if isLate { continuation.resume() }
    }
  }

  /// The number of octets that can be read.
  var available: Int { pipe.available }

  private var now: Int { generation.withLockedValue { $0 } }

  func write(_ octets: [UInt8]) async {
    var rest = octets[...]
    while !rest.isEmpty {
      let number = now
      let count = rest.withUnsafeBytes { pipe.write($0) }
      rest = rest.dropFirst(count)
      pipe.tellDaemon()
      if count == 0 { await change(after: number) }
    }
  }

  func read(_ count: Int) async -> [UInt8] {
    var result: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 5_000)
    while result.count < count {
      let number = now
      let part = buffer.withUnsafeMutableBytes { pipe.read(into: $0) }
      result += buffer[..<part]
      pipe.tellDaemon()
      if part == 0 { await change(after: number) }
    }
    return result
  }

  func waitForEnd() async -> ChannelEnd? {
    while true {
      let number = now
      if let end = pipe.end { return end }
      await change(after: number)
    }
  }

  /// Waits for the end at the server's daemon.
  func waitForFinalEnd() async -> ChannelEnd {
    while true {
      let number = now
      if let end = pipe.finalEnd { return end }
      await change(after: number)
    }
  }

  func close() { channel.withLockedValue { $0.take() }?.pipe.close() }
}
