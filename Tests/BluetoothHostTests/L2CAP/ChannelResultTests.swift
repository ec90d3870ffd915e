import BluetoothWire
import Testing

@testable import BluetoothHost

/// Every result of the responses, as this side sends it and as it handles it · Vol 3, Part A, 4.23, 4.26, 4.28.
@Suite("Results of channel requests")
struct ChannelResultTests {
  /// A cause of a result on this side.
  struct Cause: CustomTestStringConvertible {
    let result: L2CAP.ConnectionResult
    var spsm = ChannelHarness.spsm
    var source: UInt16 = 0x60
    var parameters = ChannelHarness.parameters
    var security = ChannelSecurity.none
    var link = HostLinkSecurity.none
    var isFull = false
    var isEnhancedOnly = false
    var testDescription: String { "0x\(result.rawValue.hexadecimal)" }
  }

  private static let key = HostLinkSecurity(hasKey: true)
  private static let encrypted = HostLinkSecurity(level: .encrypted, keySize: 7, hasKey: true)

  static let causes: [Cause] = [
    Cause(result: .successful),
    Cause(result: .successful, security: ChannelSecurity(level: .encrypted), link: encrypted),
    Cause(result: .spsmNotSupported, spsm: 0x0081), Cause(result: .spsmNotSupported, spsm: 0),
    Cause(result: .spsmNotSupported, spsm: 0x0100), Cause(result: .spsmNotSupported, spsm: 0x0027),
    Cause(result: .noResources, isFull: true),
    Cause(result: .insufficientAuthentication, security: ChannelSecurity(level: .encrypted)),
    Cause(result: .insufficientAuthentication, security: ChannelSecurity(level: .authenticated), link: encrypted),
    Cause(result: .insufficientAuthorization, security: ChannelSecurity(needsAuthorization: true)),
    Cause(
      result: .encryptionKeySizeTooShort, security: ChannelSecurity(level: .encrypted, keySize: 16), link: encrypted),
    Cause(result: .insufficientEncryption, security: ChannelSecurity(level: .encrypted), link: key),
    Cause(result: .invalidSourceCID, source: 0x3F), Cause(result: .invalidSourceCID, source: 0x80),
    Cause(result: .invalidSourceCID, source: 0), Cause(result: .sourceCIDAlreadyAllocated, source: 0x41),
    Cause(result: .unacceptableParameters, parameters: .init(mtu: 22, mps: 64, initialCredits: 1)),
    Cause(result: .unacceptableParameters, parameters: .init(mtu: 64, mps: 22, initialCredits: 1)),
    Cause(result: .unacceptableParameters, parameters: .init(mtu: 64, mps: 65_534, initialCredits: 1)),
    Cause(
      result: .unacceptableParameters, parameters: .init(mtu: 63, mps: 64, initialCredits: 1), isEnhancedOnly: true),
    Cause(
      result: .unacceptableParameters, parameters: .init(mtu: 64, mps: 63, initialCredits: 1), isEnhancedOnly: true),
    Cause(result: .invalidParameters, parameters: .init(mtu: 64, mps: 64, initialCredits: 0), isEnhancedOnly: true),
  ]

  @Test("This side answers each request with the right result", arguments: causes, [false, true])
  func given(cause: Cause, isEnhanced: Bool) throws {
    guard isEnhanced || !cause.isEnhancedOnly else { return }
    var stand = ChannelHarness()
    _ = stand.open([0x41])
    if cause.isFull {
      _ = stand.open(Array(0x42...0x5F) + Array(0x61...0x7F) + [0x40])
      _ = try stand.ask()
    }
    let listener = CreditChannels.Listener(settings: ChannelHarness.settings, security: cause.security)
    _ = stand.bench.host.context.listeners.unpublish(ChannelHarness.spsm)
    _ = stand.bench.host.context.listeners.publish(ChannelHarness.spsm, listener)
    stand.bench.host.setSecurity(cause.link, on: stand.handle, at: .zero)
    let source = ChannelHarness.id(cause.source)
    stand.receive(
      isEnhanced
        ? .creditBasedConnectionRequest(
          spsm: cause.spsm, cause.parameters, sources: L2CAP.ChannelList([source]))
        : .leCreditBasedConnectionRequest(spsm: cause.spsm, source: source, cause.parameters))
    let answer = try #require(try stand.contents().first)
    switch answer {
    case .leCreditBasedConnectionResponse(let destination, let parameters, let result):
      #expect(!isEnhanced && result == cause.result)
      #expect((destination == .none) == (result != .successful))
      #expect((parameters == .none) == (result != .successful))
    case .creditBasedConnectionResponse(let parameters, let result, let destinations):
      #expect(isEnhanced && result == cause.result)
      #expect(Array(destinations).count == 1)
      #expect((destinations.first { $0 != .none } == nil) == (result != .successful))
      #expect((parameters == .none) == (result != .successful))
    default: Issue.record("\(answer)")
    }
    #expect(stand.bench.opened.count == (cause.result == .successful ? 1 : 0))
  }

  @Test("Each refusal of the peer is reported unchanged, for each requested channel", arguments: UInt16(1)...0x12)
  func taken(number: UInt16) throws {
    let result = L2CAP.ConnectionResult(rawValue: number)
    var stand = ChannelHarness()
    var identifier = try stand.ask()
    stand.receive(.leCreditBasedConnectionResponse(destination: .none, .none, result), identifier: identifier)
    // The host secures the link first; the peer never answers that.
    let isAboutSecurity = [.insufficientAuthentication, .encryptionKeySizeTooShort, .insufficientEncryption].contains(
      result)
    #expect(stand.bench.openFailures == (isAboutSecurity ? [] : [.refused(result)]))
    if isAboutSecurity { stand.bench.passToDeadline() }
    #expect(stand.bench.openFailures == [.refused(result)])
    stand.clear()
    guard !(0x0D...0x0F ~= number) else { return }
    identifier = try stand.ask(count: 3, isEnhanced: true)
    stand.receive(
      .creditBasedConnectionResponse(.none, result, destinations: ChannelHarness.list([0, 0, 0])),
      identifier: identifier)
    if isAboutSecurity { stand.bench.passToDeadline() }
    #expect(stand.bench.openFailures == Array(repeating: .refused(result), count: 3))
    #expect(stand.channels?.isEmpty == true)
  }

  @Test(
    "Some of the enhanced channels open even if others are refused",
    arguments: [L2CAP.ConnectionResult.noResources, .invalidSourceCID, .sourceCIDAlreadyAllocated])
  func some(result: L2CAP.ConnectionResult) throws {
    var stand = ChannelHarness()
    let identifier = try stand.ask(count: 5, isEnhanced: true)
    stand.receive(
      .creditBasedConnectionResponse(
        ChannelHarness.parameters, result, destinations: ChannelHarness.list([0x50, 0, 0x51, 0, 0x52])),
      identifier: identifier)
    #expect(stand.bench.opened.map(\.id.rawValue) == [0x40, 0x42, 0x44])
    #expect(stand.bench.openFailures == [.refused(result), .refused(result)])
  }

  @Test("An acceptor with room for three of five requested channels opens three")
  func roomForThree() throws {
    var stand = ChannelHarness()
    _ = stand.open(Array(0x43...0x7F))
    stand.receive(
      .creditBasedConnectionRequest(
        spsm: ChannelHarness.spsm, ChannelHarness.parameters,
        sources: ChannelHarness.list([0x40, 0x41, 0x42, 0x30, 0x43])))
    guard case .creditBasedConnectionResponse(let offer, let result, let destinations)? = try stand.contents().first
    else {
      Issue.record("no answer")
      return
    }
    #expect(offer.initialCredits == 4)
    #expect(result == .sourceCIDAlreadyAllocated)
    #expect(destinations.map { $0 != .none } == [true, true, true, false, false])
    #expect(stand.bench.opened.count == 3)
  }

  @Test("Each result of a reconfiguration is sent and reported")
  func reconfiguration() throws {
    var stand = ChannelHarness()
    _ = stand.open([0x41, 0x42], isEnhanced: true)
    for (ids, mtu, mps, result) in [
      ([0x41, 0x42], 120, 70, .successful), ([0x41], 119, 70, .mtuReductionNotAllowed),
      ([0x41, 0x42], 120, 69, .mpsReductionNotAllowed), ([0x43], 120, 70, .invalidDestinationCID),
      ([0x41], 120, 63, .otherUnacceptableParameters), ([0x41], 63, 70, .otherUnacceptableParameters),
      ([0x41], 120, 65_534, .otherUnacceptableParameters),
    ] as [([UInt16], UInt16, UInt16, L2CAP.ReconfigureResult)] {
      stand.receive(
        .creditBasedReconfigureRequest(mtu: mtu, mps: mps, destinations: ChannelHarness.list(ids)))
      #expect(try stand.contents() == [.creditBasedReconfigureResponse(result)])
    }
    for number in UInt16(1)...5 {
      let own = try #require(stand.channels?.channels.first?.local)
      stand.bench.events.removeAll()
      stand.reconfigure([own], mtu: 500)
      let identifier = try #require(try stand.signals().last?.identifier)
      stand.receive(.creditBasedReconfigureResponse(.init(rawValue: number)), identifier: identifier)
      #expect(stand.bench.reconfigurationFailures == [.refused(.init(rawValue: number))])
    }
  }

  @Test("SPSMs: the first free dynamic one, up to 128; fixed ones by number; none twice, and never that of ATT")
  func allocation() {
    var host = HostHarness().host
    let chosen = host.publishChannel(spsm: 0x0082, ChannelHarness.settings)
    #expect(chosen == 0x0082)
    var given: [UInt16] = []
    while let spsm = host.publishChannel(ChannelHarness.settings) { given.append(spsm) }
    #expect(given == [0x80, 0x81] + Array(0x83...0xFF))
    host.unpublishChannel(spsm: 0x00A0, at: .zero)
    let free = host.publishChannel(ChannelHarness.settings)
    #expect(free == 0x00A0)
    for (spsm, isPossible) in [(0, false), (1, true), (0x7F, true), (0x27, false), (0x0080, false), (0x0100, false)] {
      let published = host.publishChannel(spsm: UInt16(spsm), ChannelHarness.settings)
      #expect(published == (isPossible ? UInt16(spsm) : nil))
    }
  }
}
