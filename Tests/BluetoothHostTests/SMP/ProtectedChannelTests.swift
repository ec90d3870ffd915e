import BluetoothWire
import Testing

@testable import BluetoothHost

/// Channels that need a protected link · Vol 3, Part C, 10.3.
@Suite struct ProtectedChannelTests {
  private typealias Side = WritableKeyPath<SecuredHosts, SecuredHosts.Side>
  private static let token = ChannelToken(rawValue: 5)
  private static let spsm: UInt16 = 0x0080

  /// Returns two hosts with a link, whose users see and confirm numbers; `side` opens channels that the other one has
  /// published.
  private func pair(_ security: ChannelSecurity, openedBy side: Side) -> SecuredHosts {
    var policy = PairingPolicy()
    policy.ioCapability = .displayYesNo
    policy.asksForAuthentication = true
    var pair = SecuredHosts(policy, policy)
    let listener = side == \.central ? \SecuredHosts.peripheral : \SecuredHosts.central
    pair[keyPath: listener].bench.perform { host, _ in
      _ = host.publishChannel(spsm: Self.spsm, ChannelSettings(), security: security)
    }
    pair.link()
    return pair
  }

  /// Opens channels on `side`. Returns the events about them.
  private func open(_ pair: inout SecuredHosts, by side: Side, count: Int = 1, isEnhanced: Bool = false) -> [String] {
    let handle = pair[keyPath: side].handle
    let before = pair[keyPath: side].bench.events.count
    pair[keyPath: side].bench.perform { host, now in
      host.openChannels(
        spsm: Self.spsm, count: count, isEnhanced: isEnhanced, ChannelSettings(), token: Self.token, on: handle, at: now
      )
    }
    pair.run()
    return pair[keyPath: side].bench.events.dropFirst(before).compactMap { event in
      switch event {
      case .channel(_, .opened(_, Self.token)): "opened"
      case .channel(_, .openFailed(Self.token, .refused(let result))): "\(result)"
      case .channel: "other"
      default: nil
      }
    }
  }

  @Test(
    "A channel that needs a protected link opens after the devices have paired for it, in both roles",
    arguments: [HostLinkSecurity.Level.encrypted, .authenticated], [true, false])
  func pairs(_ level: HostLinkSecurity.Level, openedByCentral: Bool) throws {
    let side: Side = openedByCentral ? \.central : \.peripheral
    var pair = pair(ChannelSecurity(level: level), openedBy: side)
    #expect(open(&pair, by: side) == ["opened"])
    #expect(pair.central.security.level >= level)
    #expect(pair.central.prompts.count == 1 && pair.peripheral.prompts.count == 1)
    #expect(open(&pair, by: side) == ["opened"])
    #expect(pair.central.prompts.count == 1)
  }

  @Test("Five enhanced channels that are refused together are requested again together")
  func enhanced() {
    var pair = pair(ChannelSecurity(level: .encrypted), openedBy: \.central)
    #expect(open(&pair, by: \.central, count: 5, isEnhanced: true) == Array(repeating: "opened", count: 5))
    #expect(pair.central.prompts.count == 1)
  }

  @Test("If a user refuses, the peer's refusal is reported for each channel, and the next request starts pairing again")
  func refused() throws {
    var pair = pair(ChannelSecurity(level: .encrypted), openedBy: \.central)
    pair.central.says = { _, _ in .no }
    let refusal = "\(L2CAP.ConnectionResult.insufficientAuthentication)"
    #expect(open(&pair, by: \.central, count: 3, isEnhanced: true) == Array(repeating: refusal, count: 3))
    pair.central.says = SecuredHosts.Side.agree
    pair.central.bench.now += .seconds(60)
    pair.peripheral.bench.now += .seconds(60)
    #expect(open(&pair, by: \.central) == ["opened"])
    try pair.peripheral.expectUnharmed()
  }

  @Test("A refusal that no protection can resolve is reported unchanged")
  func authorization() {
    var pair = pair(ChannelSecurity(needsAuthorization: true), openedBy: \.central)
    #expect(open(&pair, by: \.central) == ["\(L2CAP.ConnectionResult.insufficientAuthorization)"])
    #expect(pair.central.prompts.isEmpty)
  }

  @Test("A channel requested in clear and refused after the link was encrypted is requested again")
  func refusedLate() throws {
    var pair = pair(ChannelSecurity(level: .encrypted), openedBy: \.central)
    pair.secure(.encrypted, by: \.central)
    pair.unlink()
    pair.forget()
    let handle = pair.central.handle
    pair.central.bench.link(.central, handle: handle.rawValue, to: SecuredHosts.peripheralAddress)
    pair.central.bench.perform { host, now in
      host.openChannels(
        spsm: Self.spsm, count: 1, isEnhanced: false, ChannelSettings(), token: Self.token, on: handle, at: now)
    }
    func requests() throws -> [[UInt8]] {
      try pair.central.bench.payloads(on: handle, .signalling).filter { $0.first == 0x14 }
    }
    let request = try #require(try requests().first)
    pair.central.bench.receive(.encryptionChange(.success, handle, enabled: 1))
    #expect(try requests().count == 1)
    // LE Credit Based Connection Response: insufficient encryption.
    pair.central.bench.receive(.signalling, [0x15, request[1], 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0], on: handle)
    let again = try #require(try requests().last)
    #expect(try requests().count == 2 && pair.central.bench.channelEvents.isEmpty)
    pair.central.bench.receive(.signalling, [0x15, again[1], 10, 0, 0x50, 0, 64, 0, 64, 0, 1, 0, 0, 0], on: handle)
    #expect(pair.central.bench.channelEvents.count == 1)
    let isOpen = pair.central.bench.channelEvents.contains { if case .opened = $0 { true } else { false } }
    #expect(isOpen)
  }

  @Test("On the next link a channel to a bonded device is requested once, without prompts")
  func bonded() {
    var pair = pair(ChannelSecurity(level: .encrypted), openedBy: \.central)
    #expect(open(&pair, by: \.central) == ["opened"])
    pair.unlink()
    pair.forget()
    pair.link()
    #expect(open(&pair, by: \.central) == ["opened"])
    #expect(pair.central.prompts.isEmpty)
  }
}
