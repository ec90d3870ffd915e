import BluetoothHost
import BluetoothWire
import Testing

@testable import BluetoothDaemon

/// L2CAP channels of sessions · Vol 3, Part A, 4.22.
@Suite("Channels of sessions")
struct ChannelTests {
  let air: DaemonNetwork
  let sensor: Sensor
  let phone: Phone
  let peer: PeerHandle

  init() throws {
    (air, sensor, phone) = DaemonNetwork.withSensorAndPhone()
    sensor.advertise()
    peer = try phone.findAndConnect()
    air.advance(5)
    _ = sensor.takeEvents()
    _ = phone.takeEvents()
  }

  /// Publishes a channel. Returns the PSM that the sensor's app gets.
  private func publish(_ sensor: Sensor) throws -> UInt16 {
    let events = sensor.send(.publishChannel(isEncrypted: false))
    guard case .channelPublished(let psm, nil)? = events.last else { throw SessionError.notSupported }
    return psm
  }

  private func open(_ psm: UInt16, by phone: Phone) throws -> OpenChannel {
    for case .channelOpened(_, let result) in phone.send(.openChannel(peer, psm: psm)) {
      return try #require(phone.session.takeChannel(result.get()))
    }
    throw SessionError.timeout
  }

  private func accepted(_ sensor: Sensor) throws -> OpenChannel {
    let channels = sensor.recorder.take().compactMap { event -> OpenChannel? in
      if case .channelOpened(_, let channel) = event { sensor.session.takeChannel(channel) } else { nil }
    }
    return try #require(channels.last)
  }

  private func write(_ octets: [UInt8], _ channel: OpenChannel) -> Int {
    let count = octets.withUnsafeBytes { channel.pipe.write($0) }
    channel.pipe.tellDaemon()
    air.run()
    return count
  }

  private func read(_ channel: OpenChannel, _ maximum: Int = 70_000) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: maximum)
    let count = buffer.withUnsafeMutableBytes { channel.pipe.read(into: $0) }
    channel.pipe.tellDaemon()
    air.run()
    return Array(buffer.prefix(count))
  }

  private var links: [LinkState] { air.devices[1].daemon.links }

  @Test("Written data is read at the other end, and reading returns the credits")
  func data() throws {
    let here = try open(try publish(sensor), by: phone)
    let there = try accepted(sensor)
    var expected: [UInt8] = []
    for round in 0..<100 {
      let octets = (0..<1_000).map { UInt8(truncatingIfNeeded: $0 + round) }
      #expect(write(octets, here) == 1_000)
      expected += octets
      #expect(read(there) == octets)
    }
    #expect(write([1, 2], there) == 2 && read(here) == [1, 2])
  }

  @Test("An app that never reads uses a bounded amount of memory; the sender is stopped")
  func unread() throws {
    let here = try open(try publish(sensor), by: phone)
    let there = try accepted(sensor)
    var sent = 0
    for _ in 0..<100 { sent += write([UInt8](repeating: 1, count: 5_000), here) }
    #expect(there.pipe.available <= 32 * 2_048)
    #expect(sent <= 32 * 2_048 + 8 * 2_048 + ChannelPipe.capacity)
    #expect(here.pipe.room == 0)
    var received = 0
    while there.pipe.available > 0 { received += read(there, 10_000).count }
    #expect(received == sent && here.pipe.room == ChannelPipe.capacity)
  }

  @Test("With SDUs of one octet, no more of them wait to be read than there were credits")
  func smallSDUs() throws {
    let here = try open(try publish(sensor), by: phone)
    let there = try accepted(sensor)
    for _ in 0..<200 { _ = write([7], here) }
    #expect(there.pipe.available <= 8 * 2_048, "they were joined when there were no credits")
    var received = 0
    while there.pipe.available > 0 { received += read(there).count }
    #expect(received == 200)
  }

  @Test("Both ends of a link may publish channels and open the other's")
  func bothWays() throws {
    let (offered, opener) = (Sensor(air, 1), Phone(air, 0))
    let handle = try #require(air.devices[0].daemon.links.first?.peer)
    #expect(
      opener.send(.connect(handle, delay: .zero, reconnects: false)).last?.text == "connected \(handle.index) 512")
    let there = try open(try publish(sensor), by: phone)
    let psm = try publish(offered)
    var back: OpenChannel?
    for case .channelOpened(_, let result) in opener.send(.openChannel(handle, psm: psm)) {
      back = opener.session.takeChannel(try result.get())
    }
    let channel = try #require(back)
    _ = write([1, 2, 3], channel)
    #expect(read(try accepted(offered)) == [1, 2, 3])
    // An app that only shares the link disconnects; the other apps' channels stay.
    opener.send(.cancelConnection(handle))
    #expect(channel.pipe.end == .closed && there.pipe.end == nil)
  }

  @Test("A PSM of another app can't be withdrawn")
  func foreignNumber() throws {
    let other = Sensor(air, 0)
    let psm = try publish(sensor)
    #expect(other.send(.unpublishChannel(psm: psm)).map(\.text).last == "unpublished \(psm) invalidParameters")
    #expect(try open(psm, by: phone).psm == psm)
  }

  @Test("When an app that publishes channels ends, its PSMs are withdrawn and its open channels close")
  func closedSession() throws {
    let psm = try publish(sensor)
    let here = try open(psm, by: phone)
    sensor.session.close()
    air.run()
    #expect(here.pipe.end == .closed)
    #expect(phone.send(.openChannel(peer, psm: psm)).map(\.text) == ["channel refused"])
    #expect(air.devices[0].daemon.publishedChannels.owners.isEmpty)
  }

  @Test("If two apps use a link, the one that leaves closes its own channels, and the other's stay open")
  func sharedLink() throws {
    let other = Phone(air, 1)
    other.send(.connect(peer, delay: .zero, reconnects: false))
    let psm = try publish(sensor)
    let (mine, others) = (try open(psm, by: phone), try open(psm, by: other))
    phone.send(.cancelConnection(peer))
    #expect(mine.pipe.end == .closed && others.pipe.end == nil)
    #expect(links[0].channels.entries.count == 1)
    other.session.close()
    air.run()
    #expect(others.pipe.end == .closed && links.isEmpty)
  }

  @Test("A released channel closes after the written data has been sent")
  func releasing() throws {
    var here: OpenChannel? = try open(try publish(sensor), by: phone)
    let there = try accepted(sensor)
    _ = here.map { write([UInt8](repeating: 3, count: ChannelPipe.capacity), $0) }
    here = nil
    air.run()
    #expect(there.pipe.end == .closed)
    #expect(read(there).count == ChannelPipe.capacity)
    #expect(links[0].channels.entries.isEmpty && air.devices[0].daemon.links[0].channels.entries.isEmpty)
  }

  @Test("A channel that its app has closed ends when the peer has all octets, and as lost if that fails")
  func delivery() throws {
    let psm = try publish(sensor)
    let here = try open(psm, by: phone)
    let there = try accepted(sensor)
    // The peer confirms nothing before it has received everything.
    air.setCongested(true, 1)
    _ = write([UInt8](repeating: 3, count: 10_000), here)
    here.pipe.close()
    air.run()
    #expect(here.pipe.end == .closed && here.pipe.finalEnd == nil)
    air.setCongested(false, 1)
    #expect(here.pipe.finalEnd == .closed && read(there).count == 10_000)
    // The peer closes the channel before it has given the credits for everything.
    let second = try open(psm, by: phone)
    let other = try accepted(sensor)
    while write([UInt8](repeating: 4, count: 10_000), second) > 0 {}
    second.pipe.close()
    air.run()
    #expect(second.pipe.finalEnd == nil)
    other.pipe.close()
    air.run()
    #expect(second.pipe.finalEnd == .lost(.link(.connectionTerminatedByLocalHost)))
    // The link ends before.
    let third = try open(psm, by: phone)
    let last = try accepted(sensor)
    while write([UInt8](repeating: 5, count: 10_000), third) > 0 {}
    third.pipe.close()
    phone.send(.cancelConnection(peer))
    withExtendedLifetime(last) {}
    #expect(third.pipe.finalEnd == .lost(.link(.connectionTerminatedByLocalHost)))
  }

  @Test("If the peer closes a channel before it has all written octets, the final end is a loss and the end is not")
  func peerCloses() throws {
    let psm = try publish(sensor)
    let here = try open(psm, by: phone)
    let there = try accepted(sensor)
    while write([UInt8](repeating: 3, count: 10_000), here) > 0 {}
    #expect(here.pipe.end == nil && !here.pipe.isDrained)
    there.pipe.close()
    air.run()
    #expect(here.pipe.end == .closed)
    #expect(here.pipe.finalEnd == .lost(.link(.connectionTerminatedByLocalHost)))
    here.pipe.close()
    air.run()
    #expect(here.pipe.finalEnd == .lost(.link(.connectionTerminatedByLocalHost)), "the app's close changes nothing")
    // Only the host's queue has octets.
    let second = try open(psm, by: phone)
    let other = try accepted(sensor)
    while write([4], second) == 1, second.pipe.isDrained, other.pipe.available < 32 {}
    for _ in 0..<4 { _ = write([4], second) }
    #expect(second.pipe.isDrained && other.pipe.available == 32, "the peer has 32 SDUs, and the host has more")
    // The peer's close of the pipe would return the credits of the SDUs before.
    withExtendedLifetime(other) { _ = sensor.send(.unpublishChannel(psm: psm)) }
    #expect(second.pipe.end == .closed)
    #expect(second.pipe.finalEnd == .lost(.link(.connectionTerminatedByLocalHost)))
    // The peer has everything.
    let third = try open(try publish(sensor), by: phone)
    let last = try accepted(sensor)
    #expect(write([5, 6], third) == 2 && read(last) == [5, 6])
    last.pipe.close()
    air.run()
    #expect(third.pipe.end == .closed && third.pipe.finalEnd == .closed)
  }

  @Test("A peer that receives nothing has 30 s for the data written before the channel was closed")
  func closeTimeout() throws {
    var here: OpenChannel? = try open(try publish(sensor), by: phone)
    let there = try accepted(sensor)
    while let channel = here, write([UInt8](repeating: 3, count: 10_000), channel) > 0 {}
    here = nil
    air.advance(299)
    #expect(there.pipe.end == nil && links[0].channels.entries.count == 1)
    air.advance(2)
    #expect(there.pipe.end == .closed && links[0].channels.entries.isEmpty)
  }

  @Test("A channel that opens after its app has left is closed again")
  func lateOpening() throws {
    let other = Phone(air, 1)
    other.send(.connect(peer, delay: .zero, reconnects: false))
    let psm = try publish(sensor)
    phone.session.send(.openChannel(peer, psm: psm))
    phone.session.send(.cancelConnection(peer))
    air.run()
    #expect(phone.takeEvents() == ["disconnected 0 ok"])
    #expect(try accepted(sensor).pipe.end == .closed)
    #expect(links[0].channels.entries.isEmpty && links[0].channels.opening.isEmpty)
  }

  @Test("A channel that its app receives and does not keep is closed")
  func unusedChannel() throws {
    let here = try open(try publish(sensor), by: phone)
    _ = try accepted(sensor)
    air.run()
    #expect(here.pipe.end == .closed)
  }

  @Test("Switching Bluetooth off ends all channels")
  func powerOff() throws {
    let here = try open(try publish(sensor), by: phone)
    let there = try accepted(sensor)
    air.setPower(false, of: 1)
    #expect(here.pipe.end == .lost(.link(.connectionTerminatedByLocalHost)))
    #expect(write([1], here) == 0)
    air.setPower(false, of: 0)
    #expect(there.pipe.end != nil)
    #expect(air.devices[0].daemon.publishedChannels.owners.isEmpty)
    air.setPower(true, of: 0)
    #expect(try publish(sensor) == 0x80)
  }

  @Test("A channel beyond the link's limit is refused with a reason, and opens after another closes")
  func tooMany() throws {
    let psm = try publish(sensor)
    var channels: [OpenChannel] = []
    while channels.count < 100, let channel = try? open(psm, by: phone) { channels.append(channel) }
    #expect(channels.count == 64)
    #expect(phone.send(.openChannel(peer, psm: psm)).map(\.text) == ["channel outOfSpace"])
    channels.removeLast()
    air.run()
    #expect(try open(psm, by: phone).psm == psm)
  }
}
