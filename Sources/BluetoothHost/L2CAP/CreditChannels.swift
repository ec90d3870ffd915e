import BluetoothWire
import DequeModule

/// The LE credit based channels of one link, of both kinds and in both roles · Vol 3, Part A, 4.6, 4.7, 4.22 to 4.28.
///
/// After each call the owner takes the signals and the events.
struct CreditChannels {
  /// Whom this device lets in: what each SPSM takes.
  typealias Listeners = [UInt16: ChannelSettings]

  private struct Request {
    enum Kind {
      case open([L2CAP.ChannelID], ChannelToken)
      case reconfigure([L2CAP.ChannelID], mtu: UInt16, mps: UInt16)
      case close(L2CAP.ChannelID)
    }

    let identifier: UInt8
    let kind: Kind
    let until: Instant
  }

  private var channels: [CreditChannel] = []
  private var requests: [Request] = []
  private var signals: Deque<L2CAP.Signal> = []
  private var events: Deque<ChannelEvent> = []
  /// The channel that sends next.
  private var turn = 0
  /// Those that have refused an SDU for want of room.
  private var isWaited: Set<L2CAP.ChannelID> = []

  var isEmpty: Bool { channels.isEmpty && requests.isEmpty && signals.isEmpty && events.isEmpty }
  var deadline: Instant? { requests.map(\.until).min() }

  mutating func takeSignal() -> L2CAP.Signal? { signals.popFirst() }
  mutating func takeEvent() -> ChannelEvent? { events.popFirst() }

  // MARK: What the owner wants

  /// Asks for `count` channels, of which only the enhanced kind gives more than one at once.
  mutating func open(
    spsm: UInt16, count: Int, isEnhanced: Bool, _ settings: ChannelSettings, token: ChannelToken,
    identifiers: inout SignalIdentifiers, at now: Instant
  ) {
    let count = isEnhanced ? min(max(count, 1), L2CAP.ChannelList.maximumCount) : 1
    var opening: [L2CAP.ChannelID] = []
    for _ in 0..<count {
      guard let local = vacantID else {
        events.append(.openFailed(token, .outOfChannels))
        continue
      }
      channels.append(
        CreditChannel(local: local, spsm: spsm, isEnhanced: isEnhanced, isIncoming: false, settings: settings))
      opening.append(local)
    }
    guard let first = opening.first, let offer = index(local: first).map({ channels[$0].offer }) else { return }
    request(
      isEnhanced
        ? .creditBasedConnectionRequest(spsm: spsm, offer, sources: L2CAP.ChannelList(opening))
        : .leCreditBasedConnectionRequest(spsm: spsm, source: first, offer),
      .open(opening, token), &identifiers, at: now)
  }

  /// Tells the peer that this side takes more from now on. Channels that are not open, or not enhanced, are left out.
  mutating func reconfigure(
    _ ids: [L2CAP.ChannelID], mtu: UInt16, mps: UInt16, identifiers: inout SignalIdentifiers, at now: Instant
  ) {
    let settings = ChannelSettings(mtu: mtu, mps: mps)
    let ids = ids.filter { id in
      channels.contains { $0.local == id && $0.isEnhanced && $0.standing == .open && $0.receiveMTU <= settings.mtu }
    }
    guard !ids.isEmpty, ids.count <= L2CAP.ChannelList.maximumCount else { return }
    // What the peer sends as soon as it knows is taken.
    for index in channels.indices where ids.contains(channels[index].local) {
      channels[index].setOwnLimits(
        mtu: settings.mtu, mps: max(settings.mps, UInt16(truncatingIfNeeded: channels[index].receiveMPS)))
    }
    request(
      .creditBasedReconfigureRequest(mtu: settings.mtu, mps: settings.mps, destinations: L2CAP.ChannelList(ids)),
      .reconfigure(ids, mtu: settings.mtu, mps: settings.mps), &identifiers, at: now)
  }

  mutating func close(_ id: L2CAP.ChannelID, identifiers: inout SignalIdentifiers, at now: Instant) {
    guard let index = index(local: id), channels[index].standing == .open else { return }
    disconnect(index, &identifiers, at: now)
  }

  /// Closes all channels that peers have opened to a service that is not offered any more.
  mutating func closeAll(spsm: UInt16, identifiers: inout SignalIdentifiers, at now: Instant) {
    for index in channels.indices
    where channels[index].spsm == spsm && channels[index].isIncoming
      && channels[index].standing == .open
    {
      disconnect(index, &identifiers, at: now)
    }
  }

  private mutating func disconnect(_ index: Int, _ identifiers: inout SignalIdentifiers, at now: Instant) {
    let (local, remote) = (channels[index].local, channels[index].remote)
    channels[index].standing = .closing
    isWaited.remove(local)
    events.append(.closed(local))
    request(.disconnectionRequest(destination: remote, source: local), .close(local), &identifiers, at: now)
  }

  private mutating func request(
    _ content: L2CAP.SignalContent, _ kind: Request.Kind, _ identifiers: inout SignalIdentifiers, at now: Instant
  ) {
    let identifier = identifiers.next()
    requests.append(Request(identifier: identifier, kind: kind, until: now + SignallingChannel.responseTimeout))
    signals.append(L2CAP.Signal(identifier: identifier, content: content))
  }

  // MARK: Data

  /// Takes in the payload of a frame on a channel of this host; false: there is no such channel.
  mutating func receive(
    _ payload: ByteSlice, on id: L2CAP.ChannelID, pool: PacketPool, identifiers: inout SignalIdentifiers,
    at now: Instant
  ) -> Bool {
    guard let index = index(local: id), channels[index].standing != .opening else { return false }
    guard channels[index].standing == .open else { return true }
    do throws(CreditChannel.Violation) {
      if let sdu = try channels[index].receive(payload, pool: pool) { events.append(.received(id, sdu)) }
      grant(index, &identifiers)
    } catch {
      disconnect(index, &identifiers, at: now)
    }
    return true
  }

  mutating func acknowledge(_ id: L2CAP.ChannelID, identifiers: inout SignalIdentifiers) {
    guard let index = index(local: id) else { return }
    channels[index].acknowledge()
    grant(index, &identifiers)
  }

  private mutating func grant(_ index: Int, _ identifiers: inout SignalIdentifiers) {
    guard let credits = channels[index].takeCredits() else { return }
    signals.append(
      L2CAP.Signal(
        identifier: identifiers.next(),
        content: .flowControlCreditIndication(channels[index].local, credits: credits)))
  }

  /// Takes an SDU to send; false: there is no room, or no such channel, or it does not fit.
  mutating func send(_ sdu: ByteSlice, on id: L2CAP.ChannelID) -> Bool {
    guard let index = index(local: id) else { return false }
    if channels[index].send(sdu) { return true }
    if channels[index].standing == .open, !channels[index].hasRoom { isWaited.insert(id) }
    return false
  }

  /// The next frame, of one channel after the other; nil: there is none.
  mutating func takeFrame(pool: PacketPool) -> ByteSlice? {
    for offset in channels.indices {
      let index = (turn + offset) % channels.count
      guard let frame = channels[index].takeFrame(pool: pool) else { continue }
      turn = index + 1
      if !isWaited.isEmpty, channels[index].hasRoom, isWaited.remove(channels[index].local) != nil {
        events.append(.hasRoom(channels[index].local))
      }
      return frame
    }
    return nil
  }

  // MARK: Signals of the peer

  /// Takes in a signal that concerns channels; the result is the answer to a request.
  mutating func receive(
    _ signal: L2CAP.Signal, listeners: Listeners, identifiers: inout SignalIdentifiers, at now: Instant
  ) -> L2CAP.SignalContent? {
    switch signal.content {
    case .leCreditBasedConnectionRequest(let spsm, let source, let parameters):
      return accept(spsm, source, parameters, listeners)
    case .creditBasedConnectionRequest(let spsm, let parameters, let sources):
      return accept(spsm, Array(sources), parameters, listeners)
    case .creditBasedReconfigureRequest(let mtu, let mps, let destinations):
      return .creditBasedReconfigureResponse(reconfigure(Array(destinations), mtu: mtu, mps: mps))
    case .disconnectionRequest(let destination, let source):
      return disconnected(destination, source)
    case .flowControlCreditIndication(let remote, let credits):
      guard let index = index(remote: remote), channels[index].standing == .open else { return nil }
      do throws(CreditChannel.Violation) { try channels[index].receiveCredits(credits) } catch {
        disconnect(index, &identifiers, at: now)
      }
    case .leCreditBasedConnectionResponse(let destination, let parameters, let result):
      guard case .open(let ids, let token)? = takeRequest(signal.identifier, isEnhanced: false) else { return nil }
      opened(ids, [destination], parameters, result, token, isEnhanced: false)
    case .creditBasedConnectionResponse(let parameters, let result, let destinations):
      guard case .open(let ids, let token)? = takeRequest(signal.identifier, isEnhanced: true) else { return nil }
      opened(ids, Array(destinations), parameters, result, token, isEnhanced: true)
    case .creditBasedReconfigureResponse(let result):
      guard case .reconfigure(let ids, let mtu, let mps)? = takeReconfiguration(signal.identifier) else { return nil }
      reconfigured(ids, mtu: mtu, mps: mps, result)
    case .disconnectionResponse(let destination, let source):
      guard let index = index(local: source), channels[index].remote == destination,
        channels[index].standing == .closing
      else { return nil }
      requests.removeAll { if case .close(source) = $0.kind { true } else { false } }
      channels.remove(at: index)
    case .commandReject: rejected(signal.identifier)
    case .connectionParameterUpdateRequest, .connectionParameterUpdateResponse: break
    }
    return nil
  }

  mutating func timeReached(_ now: Instant) {
    while let index = requests.firstIndex(where: { $0.until <= now }) { fail(requests.remove(at: index), .timeout) }
  }

  // MARK: The peer asks for channels

  private func refusal(
    of parameters: L2CAP.CreditParameters, minimum: UInt16, isEnhanced: Bool
  ) -> L2CAP.ConnectionResult? {
    // 65,533 octets are the most that a frame with an SDU's length has · 4.22.
    guard parameters.mtu >= minimum, parameters.mps >= minimum, parameters.mps <= 65_533 else {
      return .unacceptableParameters
    }
    return isEnhanced && parameters.initialCredits == 0 ? .invalidParameters : nil
  }

  private mutating func accept(
    _ spsm: UInt16, _ source: L2CAP.ChannelID, _ parameters: L2CAP.CreditParameters, _ listeners: Listeners
  ) -> L2CAP.SignalContent {
    func refuse(_ result: L2CAP.ConnectionResult) -> L2CAP.SignalContent {
      .leCreditBasedConnectionResponse(destination: .none, .none, result)
    }
    guard let settings = listeners[spsm] else { return refuse(.spsmNotSupported) }
    if let result = refusal(of: parameters, minimum: ChannelSettings.minimum, isEnhanced: false) {
      return refuse(result)
    }
    if let result = refusal(ofSource: source) { return refuse(result) }
    guard let index = add(spsm, source, parameters, settings, isEnhanced: false) else { return refuse(.noResources) }
    return .leCreditBasedConnectionResponse(destination: channels[index].local, channels[index].offer, .successful)
  }

  private mutating func accept(
    _ spsm: UInt16, _ sources: [L2CAP.ChannelID], _ parameters: L2CAP.CreditParameters, _ listeners: Listeners
  ) -> L2CAP.SignalContent {
    func refuse(_ result: L2CAP.ConnectionResult) -> L2CAP.SignalContent {
      .creditBasedConnectionResponse(
        .none, result, destinations: L2CAP.ChannelList(sources.map { _ in L2CAP.ChannelID.none }))
    }
    guard let settings = listeners[spsm] else { return refuse(.spsmNotSupported) }
    if let result = refusal(of: parameters, minimum: ChannelSettings.enhancedMinimum, isEnhanced: true) {
      return refuse(result)
    }
    var result = L2CAP.ConnectionResult.successful
    var offer = L2CAP.CreditParameters.none
    // Those that are refused get no channel; the result says why of the last one · 4.26.
    let destinations = sources.map { source in
      if let refusal = refusal(ofSource: source) {
        result = refusal
      } else if let index = add(spsm, source, parameters, settings, isEnhanced: true) {
        offer = channels[index].offer
        return channels[index].local
      } else {
        result = .noResources
      }
      return L2CAP.ChannelID.none
    }
    return .creditBasedConnectionResponse(offer, result, destinations: L2CAP.ChannelList(destinations))
  }

  private func refusal(ofSource source: L2CAP.ChannelID) -> L2CAP.ConnectionResult? {
    guard source.isDynamic else { return .invalidSourceCID }
    return index(remote: source) == nil ? nil : .sourceCIDAlreadyAllocated
  }

  private mutating func add(
    _ spsm: UInt16, _ source: L2CAP.ChannelID, _ parameters: L2CAP.CreditParameters, _ settings: ChannelSettings,
    isEnhanced: Bool
  ) -> Int? {
    guard let local = vacantID else { return nil }
    var channel = CreditChannel(
      local: local, spsm: spsm, isEnhanced: isEnhanced, isIncoming: true, settings: settings)
    channel.open(remote: source, parameters)
    channels.append(channel)
    events.append(.opened(Channel(channel), nil))
    return channels.count - 1
  }

  /// The peer takes something else from now on · 4.27. Its channels are named by its own ends.
  private mutating func reconfigure(_ remotes: [L2CAP.ChannelID], mtu: UInt16, mps: UInt16) -> L2CAP.ReconfigureResult {
    var chosen: [Int] = []
    for remote in remotes {
      guard let index = index(remote: remote), channels[index].standing == .open, channels[index].isEnhanced,
        !chosen.contains(index)
      else { return .invalidDestinationCID }
      chosen.append(index)
    }
    guard mtu >= ChannelSettings.enhancedMinimum, mps >= ChannelSettings.enhancedMinimum, mps <= 65_533 else {
      return .otherUnacceptableParameters
    }
    guard chosen.allSatisfy({ channels[$0].sendMTU <= Int(mtu) }) else { return .mtuReductionNotAllowed }
    // Of one channel alone it may be made smaller.
    guard chosen.count == 1 || chosen.allSatisfy({ channels[$0].sendMPS <= Int(mps) }) else {
      return .mpsReductionNotAllowed
    }
    for index in chosen {
      channels[index].setLimits(mtu: mtu, mps: mps)
      events.append(.reconfigured(Channel(channels[index])))
    }
    return .successful
  }

  private mutating func disconnected(
    _ destination: L2CAP.ChannelID, _ source: L2CAP.ChannelID
  ) -> L2CAP.SignalContent? {
    guard let index = index(local: destination), channels[index].standing != .opening else {
      return .commandReject(.invalidCID(local: destination, remote: source))
    }
    // A request with the right destination and another source is not answered · 4.6.
    guard channels[index].remote == source else { return nil }
    let channel = channels.remove(at: index)
    isWaited.remove(channel.local)
    requests.removeAll { if case .close(channel.local) = $0.kind { true } else { false } }
    if channel.standing == .open { events.append(.closed(channel.local)) }
    return .disconnectionResponse(destination: destination, source: source)
  }

  // MARK: The peer answers

  private mutating func takeRequest(_ identifier: UInt8, isEnhanced: Bool) -> Request.Kind? {
    let place = requests.firstIndex { request in
      guard request.identifier == identifier, case .open(let ids, _) = request.kind else { return false }
      return channels.contains { $0.local == ids.first && $0.isEnhanced == isEnhanced }
    }
    return place.map { requests.remove(at: $0).kind }
  }

  private mutating func takeReconfiguration(_ identifier: UInt8) -> Request.Kind? {
    let place = requests.firstIndex { request in
      if case .reconfigure = request.kind { request.identifier == identifier } else { false }
    }
    return place.map { requests.remove(at: $0).kind }
  }

  private mutating func opened(
    _ ids: [L2CAP.ChannelID], _ destinations: [L2CAP.ChannelID], _ parameters: L2CAP.CreditParameters,
    _ result: L2CAP.ConnectionResult, _ token: ChannelToken, isEnhanced: Bool
  ) {
    let minimum = isEnhanced ? ChannelSettings.enhancedMinimum : ChannelSettings.minimum
    let isPossible = refusal(of: parameters, minimum: minimum, isEnhanced: isEnhanced) == nil
    for (place, id) in ids.enumerated() {
      guard let index = index(local: id) else { continue }
      let destination = destinations.indices.contains(place) ? destinations[place] : .none
      let isGiven = destination != .none && (result == .successful || isEnhanced && result.refusesSome)
      guard isGiven, isPossible, destination.isDynamic, self.index(remote: destination) == nil else {
        channels.remove(at: index)
        events.append(.openFailed(token, result == .successful || isGiven ? .invalidAnswer : .refused(result)))
        continue
      }
      channels[index].open(remote: destination, parameters)
      events.append(.opened(Channel(channels[index]), token))
    }
  }

  private mutating func reconfigured(
    _ ids: [L2CAP.ChannelID], mtu: UInt16, mps: UInt16, _ result: L2CAP.ReconfigureResult
  ) {
    guard result == .successful else {
      events.append(.reconfigurationFailed(result))
      return
    }
    for index in channels.indices where ids.contains(channels[index].local) && channels[index].standing == .open {
      channels[index].setOwnLimits(mtu: mtu, mps: mps)
      events.append(.reconfigured(Channel(channels[index])))
    }
  }

  private mutating func rejected(_ identifier: UInt8) {
    if let place = requests.firstIndex(where: { $0.identifier == identifier }) {
      fail(requests.remove(at: place), .notUnderstood)
    }
  }

  private mutating func fail(_ request: Request, _ error: ChannelError) {
    switch request.kind {
    case .open(let ids, let token):
      for id in ids {
        channels.removeAll { $0.local == id }
        events.append(.openFailed(token, error))
      }
    case .reconfigure: events.append(.reconfigurationFailed(.otherUnacceptableParameters))
    case .close(let id): channels.removeAll { $0.local == id }
    }
  }

  // MARK: Ends

  private func index(local id: L2CAP.ChannelID) -> Int? {
    for index in channels.indices where channels[index].local == id { return index }
    return nil
  }

  private func index(remote id: L2CAP.ChannelID) -> Int? {
    for index in channels.indices where channels[index].remote == id && id != .none { return index }
    return nil
  }

  /// The first of this side's dynamic channel identifiers that is free · 2.1, table 2.3.
  private var vacantID: L2CAP.ChannelID? {
    (UInt16(0x40)...0x7F).lazy.map { L2CAP.ChannelID(rawValue: $0) }.first { index(local: $0) == nil }
  }
}

extension Channel {
  init(_ channel: CreditChannel) {
    self.init(
      id: channel.local, spsm: channel.spsm, sendMTU: channel.sendMTU, receiveMTU: channel.receiveMTU,
      isEnhanced: channel.isEnhanced)
  }
}

extension L2CAP.ConnectionResult {
  /// Whether some of the channels that were asked for may be there all the same · 4.26.
  fileprivate var refusesSome: Bool {
    self == .noResources || self == .invalidSourceCID || self == .sourceCIDAlreadyAllocated
  }
}
