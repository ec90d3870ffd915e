import BluetoothHost
import BluetoothWire
import Testing

@testable import BluetoothDaemon

/// The channels of terminated apps whose sessions are preserved.
@Suite("Channels of terminated apps")
struct TerminatedChannelTests {
  private static let owner = SessionOwner(app: "app", restoreIdentifier: "channels")

  let air = DaemonNetwork()

  private func send(_ request: AppRequest, to device: Int) {
    air.devices[device].sessions.send(request, ofApp: "app")
    air.run()
  }

  private func octets(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0) } }

  private func write(_ octets: [UInt8], to channel: OpenChannel) -> Int {
    let count = octets.withUnsafeBytes { channel.pipe.write($0) }
    channel.pipe.tellDaemon()
    air.run()
    return count
  }

  /// Reads until nothing more arrives.
  private func readAll(_ channel: OpenChannel) -> [UInt8] {
    var received: [UInt8] = []
    while channel.pipe.available > 0 {
      var buffer = [UInt8](repeating: 0, count: 4_096)
      let count = buffer.withUnsafeMutableBytes { channel.pipe.read(into: $0) }
      received += buffer.prefix(count)
      channel.pipe.tellDaemon()
      air.run()
    }
    return received
  }

  /// Lets the app of a device write to a channel while its controller sends nothing, and terminates the app. All octets
  /// arrive, and then the channel ends.
  private func terminate(_ device: Int, writingTo mine: OpenChannel, readBy theirs: OpenChannel) {
    air.setCongested(true, device)
    let written = octets(10_000)
    #expect(write(written, to: mine) == written.count)
    send(.terminated(.system), to: device)
    #expect(mine.pipe.end == .closed && mine.pipe.finalEnd == nil)
    #expect(theirs.pipe.end == nil)
    air.setCongested(false, device)
    #expect(readAll(theirs) == written)
    #expect(theirs.pipe.end == .closed)
    #expect(mine.pipe.finalEnd == .closed, "the peer has all octets")
    #expect(air.linkCount(device) == 1, "the link of the preserved session stays")
  }

  @Test("A channel of a terminated central app ends when its peer has all octets that the app had written")
  func central() throws {
    let sensor = Sensor(air, air.add("Sensor"))
    sensor.advertise()
    guard case .channelPublished(let psm, nil)? = sensor.send(.publishChannel(isEncrypted: false)).last else {
      Issue.record("no channel was published")
      return
    }
    let device = air.add("Phone", policy: .open)
    send(.launched(AppManifest(), isInFront: true), to: device)
    let recorder = CentralRecorder()
    let session = CentralSession(client: recorder, owner: Self.owner, in: air.devices[device].sessions)
    air.run()
    session.send(.scan(ScanRequest(services: nil, solicitedServices: [], allowsDuplicates: false)))
    air.advance()
    let peer = try #require(recorder.take().lazy.compactMap(\.discovery).first).peer.handle
    session.send(.stopScan)
    session.send(.connect(peer, delay: .zero, reconnects: false))
    air.advance(5)
    session.send(.openChannel(peer, psm: psm))
    air.run()
    let opened = recorder.take().lazy.compactMap { event -> ChannelInfo? in
      if case .channelOpened(_, .success(let channel)) = event { channel } else { nil }
    }
    let info = try #require(opened.first)
    let mine = try #require(session.takeChannel(info))
    let accepted = sensor.recorder.take().lazy.compactMap { event -> ChannelInfo? in
      if case .channelOpened(_, let channel) = event { channel } else { nil }
    }
    let peerInfo = try #require(accepted.first)
    let theirs = try #require(sensor.session.takeChannel(peerInfo))
    terminate(device, writingTo: mine, readBy: theirs)
  }

  @Test("A channel of a terminated peripheral app ends after its octets, and its PSM is withdrawn at once")
  func peripheral() throws {
    let device = air.add("Sensor", policy: .open)
    send(.launched(AppManifest(), isInFront: true), to: device)
    let recorder = PeripheralRecorder()
    let session = PeripheralSession(client: recorder, owner: Self.owner, in: air.devices[device].sessions)
    air.run()
    session.send(.startAdvertising(localName: nil, services: [0x180D]))
    session.send(.publishChannel(isEncrypted: false))
    air.run()
    let psms = recorder.take().lazy.compactMap { event -> UInt16? in
      if case .channelPublished(let psm, nil) = event { psm } else { nil }
    }
    let psm = try #require(psms.first)
    let phone = Phone(air, air.add("Phone"))
    _ = phone.takeEvents()
    let peer = try phone.findAndConnect()
    air.advance(5)
    let opened = phone.send(.openChannel(peer, psm: psm)).lazy.compactMap { event -> ChannelInfo? in
      if case .channelOpened(_, .success(let channel)) = event { channel } else { nil }
    }
    let peerInfo = try #require(opened.first)
    let theirs = try #require(phone.session.takeChannel(peerInfo))
    let accepted = recorder.take().lazy.compactMap { event -> ChannelInfo? in
      if case .channelOpened(_, let channel) = event { channel } else { nil }
    }
    let info = try #require(accepted.first)
    let mine = try #require(session.takeChannel(info))
    terminate(device, writingTo: mine, readBy: theirs)
    #expect(phone.send(.openChannel(peer, psm: psm)).map(\.text).contains("channel refused"))
  }
}
