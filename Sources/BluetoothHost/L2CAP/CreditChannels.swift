// Design: the channels of a link
//
// The host sends signalling first, then ATT and the credit based channels in turn, and of the credit based channels one
// frame each in turn, so no channel blocks another. The credit of a frame returns to the peer as soon as the frame is
// received, except for the frame that completes an SDU: that credit returns when the owner acknowledges the SDU. So no
// segmentation of SDUs into frames can stall a channel, and the waiting data is bounded by the window times the MTU.
// Credits are returned in lots of half a window.
//
// The signalling for channels is no queue: it is derived from the requests that were not sent yet and the channels that
// owe credits. So credits add up instead of waiting, signalling for a closed channel is not sent, and a peer that
// accepts nothing cannot make anything grow. Answers go first; a request of the peer has no effect if there is no room
// for its answer. Up to eight requests are with the peer at a time, each under an identifier that is not reused before
// the request has ended. A channel that is being closed accepts nothing. Its number is free when the peer has answered,
// and is assigned again when all other numbers have been used. An invalid answer (limits out of range, one end named
// twice), or an answer up to 30 s after its timeout, closes the peer's end; an answer that names an end in use closes
// both channels. The values that a reconfiguration offers are permitted as soon as the peer may know of them, and are
// in force when the peer agrees.
//
// The frames of an SDU are copied into one storage of the pool as they arrive; an SDU in one frame is not copied. A
// channel requires the link security that its listener specifies (`ChannelSecurity`). ATT over enhanced channels is
// refused as unsupported.

import BluetoothWire
import DequeModule

/// The LE credit based channels of one link, of both kinds and in both roles · Vol 3, Part A, 4.6, 4.7, 4.22 to 4.28.
///
/// Signals to the peer are not queued: they are derived from the unsent requests and from the channels with credits
/// to return. So their number is limited by the number of channels, and a signal disappears with its channel. After
/// each call, the owner takes the events, and takes the signals when they can be sent.
struct CreditChannels {
  /// The settings of the channels that peers open to one SPSM, and the security that these channels require.
  struct Listener {
    let settings: ChannelSettings
    let security: ChannelSecurity
  }

  /// The listeners by SPSM.
  typealias Listeners = [UInt16: Listener]

  private static let localIDs: ClosedRange<UInt16> = 0x40...0x7F

  var channels: [CreditChannel] = []
  var requests: [ChannelRequest] = []
  var events: Deque<ChannelEvent> = []
  /// True if signals may have to be sent.
  var owesSignals = false
  /// True if K-frames may have to be sent.
  var hasFrames = false
  /// The index of the channel that sends next; `creditTurn` is that of the channel that returns credits next.
  private var nextChannel = 0
  private var creditTurn = 0
  /// The local channel identifier that was assigned last.
  private var lastID = localIDs.upperBound
  /// The channels that have refused an SDU because their queue was full.
  private var isWaited: Set<L2CAP.ChannelID> = []

  var isEmpty: Bool { channels.isEmpty && requests.isEmpty }

  var deadline: Instant? {
    if requests.isEmpty { return nil }
    return requests.reduce(nil) { earliest($0, $1.deadline) }
  }

  var hasEvents: Bool { !events.isEmpty }

  mutating func takeEvent() -> ChannelEvent? { events.popFirst() }

  // MARK: Requests of the owner

  /// Requests `count` channels; only enhanced requests can open more than one at once.
  mutating func open(
    spsm: UInt16, count: Int, isEnhanced: Bool, _ settings: ChannelSettings, token: ChannelToken,
    identifiers: inout SignalIdentifiers, at now: Instant
  ) {
    var opening: [L2CAP.ChannelID] = []
    for _ in 0..<Self.possibleCount(count, isEnhanced: isEnhanced) {
      guard requests.count < ChannelRequest.maximumCount, let local = takeID() else {
        events.append(.openFailed(token, .outOfChannels))
        continue
      }
      channels.append(
        CreditChannel(local: local, spsm: spsm, isEnhanced: isEnhanced, isIncoming: false, settings: settings))
      opening.append(local)
    }
    if !opening.isEmpty { ask(.open(opening, token), &identifiers, at: now) }
  }

  /// Returns the number of channels that one request can open.
  static func possibleCount(_ count: Int, isEnhanced: Bool) -> Int {
    isEnhanced ? min(max(count, 1), L2CAP.ChannelList.maximumCount) : 1
  }

  /// Requests new receive limits of this side on enhanced channels · 4.27.
  mutating func reconfigure(
    _ ids: [L2CAP.ChannelID], mtu: UInt16, mps: UInt16, identifiers: inout SignalIdentifiers, at now: Instant
  ) {
    let settings = ChannelSettings(mtu: mtu, mps: mps)
    let chosen = ids.compactMap { index(local: $0) }
    let isPossible =
      requests.count < ChannelRequest.maximumCount && chosen.count == ids.count && Set(ids).count == ids.count
      && 1...L2CAP.ChannelList.maximumCount ~= ids.count
      && chosen.allSatisfy { place in
        channels[place].canReconfigure && channels[place].receiveMTU <= Int(settings.mtu)
          // The MPS may decrease only if the request is for a single channel.
          && (ids.count == 1 || channels[place].receiveMPS <= Int(settings.mps))
      }
    guard isPossible else {
      events.append(.reconfigurationFailed(ids, .notPossible))
      return
    }
    for place in chosen { channels[place].offerLimits(mtu: settings.mtu, mps: settings.mps) }
    ask(.reconfigure(ids, mtu: settings.mtu, mps: settings.mps), &identifiers, at: now)
  }

  mutating func close(_ id: L2CAP.ChannelID, identifiers: inout SignalIdentifiers, at now: Instant) {
    guard let index = index(local: id), channels[index].state == .open else { return }
    disconnect(index, &identifiers, at: now)
  }

  /// Closes a channel when all its queued SDUs have been sent.
  mutating func closeWhenSent(_ id: L2CAP.ChannelID) {
    guard let index = index(local: id), channels[index].state == .open else {
      events.append(.closeEnded(id, isConfirmed: false))
      return
    }
    channels[index].endWhenSent()
    if channels[index].isAtEnd { owesSignals = true }
  }

  /// The channels of `closeWhenSent` that wait for the answer to the request that closes them.
  var closingWithAllSent: [L2CAP.ChannelID] {
    channels.compactMap { $0.state == .closing && $0.endsWhenSent && $0.hasSentAll ? $0.local : nil }
  }

  /// Closes all channels that peers have opened to an SPSM that is no longer offered.
  mutating func closeAll(spsm: UInt16, identifiers: inout SignalIdentifiers, at now: Instant) {
    for index in channels.indices
    where channels[index].spsm == spsm && channels[index].isIncoming
      && channels[index].state == .open
    {
      disconnect(index, &identifiers, at: now)
    }
  }

  mutating func disconnect(_ index: Int, _ identifiers: inout SignalIdentifiers, at now: Instant) {
    let local = channels[index].local
    channels[index].beginClosing()
    forget(local, &identifiers)
    events.append(.closed(local, hasSentAll: channels[index].hasSentAll))
    ask(.close(local), &identifiers, at: now)
  }

  private mutating func ask(_ kind: ChannelRequest.Kind, _ identifiers: inout SignalIdentifiers, at now: Instant) {
    requests.append(ChannelRequest(identifier: identifiers.nextOfRequest(), kind: kind, at: now))
    owesSignals = true
  }

  /// Disconnects a channel that the peer has opened on its side but that the owner does not know.
  mutating func abandon(
    _ index: Int, remote: L2CAP.ChannelID, _ identifiers: inout SignalIdentifiers, at now: Instant
  ) {
    channels[index].beginClosing(remote: remote)
    ask(.close(channels[index].local), &identifiers, at: now)
  }

  // MARK: Signals to the peer

  /// Returns the next signal: requests in the order of their creation, then credits, with the channels taking turns.
  mutating func takeSignal(_ identifiers: inout SignalIdentifiers, at now: Instant) -> L2CAP.Signal? {
    guard owesSignals else { return nil }
    for index in channels.indices where channels[index].isAtEnd { disconnect(index, &identifiers, at: now) }
    for index in requests.indices where !requests[index].isSent && hasRoom(forClose: requests[index].isClose) {
      requests[index].send(at: now)
      guard let content = content(of: requests[index].kind) else { continue }
      return L2CAP.Signal(identifier: requests[index].identifier, content: content)
    }
    for offset in channels.indices {
      let index = (creditTurn + offset) % channels.count
      guard let credits = channels[index].takeCredits() else { continue }
      creditTurn = index + 1
      return L2CAP.Signal(
        identifier: identifiers.next(), content: .flowControlCreditIndication(channels[index].local, credits: credits))
    }
    owesSignals = false
    return nil
  }

  /// Returns true if another request may be sent to the peer. Disconnections do not wait for the responses to other
  /// requests, which may take minutes.
  private func hasRoom(forClose isClose: Bool) -> Bool {
    requests.count { $0.isSent && !$0.isLapsed && $0.isClose == isClose } < ChannelRequest.maximumSent
  }

  private func content(of kind: ChannelRequest.Kind) -> L2CAP.SignalContent? {
    switch kind {
    case .open(let ids, _):
      guard let first = ids.first, let index = index(local: first) else { return nil }
      let (spsm, offer) = (channels[index].spsm, channels[index].offer)
      return channels[index].isEnhanced
        ? .creditBasedConnectionRequest(spsm: spsm, offer, sources: L2CAP.ChannelList(ids))
        : .leCreditBasedConnectionRequest(spsm: spsm, source: first, offer)
    case .reconfigure(let ids, let mtu, let mps):
      return .creditBasedReconfigureRequest(mtu: mtu, mps: mps, destinations: L2CAP.ChannelList(ids))
    case .close(let id):
      guard let index = index(local: id) else { return nil }
      return .disconnectionRequest(destination: channels[index].remote, source: id)
    }
  }

  // MARK: Data

  /// Processes the payload of a frame on a channel. Returns false if the channel does not exist.
  mutating func receive(
    _ payload: ByteSlice, on id: L2CAP.ChannelID, pool: PacketPool, identifiers: inout SignalIdentifiers,
    at now: Instant
  ) -> Bool {
    guard let index = index(local: id), channels[index].state != .opening else { return false }
    guard channels[index].state == .open else { return true }
    do throws(CreditChannel.Violation) {
      if let sdu = try channels[index].receive(payload, pool: pool) { events.append(.received(id, sdu)) }
      if channels[index].owesCredits { owesSignals = true }
    } catch {
      disconnect(index, &identifiers, at: now)
    }
    return true
  }

  /// Disconnects a channel after a frame that was longer than any channel accepts and was discarded · 3.4.3.
  mutating func receivedTooLong(on id: L2CAP.ChannelID, identifiers: inout SignalIdentifiers, at now: Instant) {
    close(id, identifiers: &identifiers, at: now)
  }

  mutating func acknowledge(_ id: L2CAP.ChannelID) {
    guard let index = index(local: id) else { return }
    channels[index].acknowledge()
    if channels[index].owesCredits { owesSignals = true }
  }

  /// Queues an SDU. Returns false if the queue is full, the channel does not exist, or the SDU does not fit.
  mutating func send(_ sdu: ByteSlice, on id: L2CAP.ChannelID) -> Bool {
    guard let index = index(local: id) else { return false }
    if channels[index].send(sdu) {
      hasFrames = true
      return true
    }
    if channels[index].state == .open, !channels[index].hasRoom { isWaited.insert(id) }
    return false
  }

  /// Returns the next K-frame, with the channels taking turns; nil: there is none.
  mutating func takeFrame(pool: PacketPool) -> ByteSlice? {
    guard hasFrames else { return nil }
    for offset in channels.indices {
      let index = (nextChannel + offset) % channels.count
      guard let frame = channels[index].takeFrame(pool: pool) else { continue }
      nextChannel = index + 1
      if channels[index].isAtEnd { owesSignals = true }
      if !isWaited.isEmpty, channels[index].hasRoom, isWaited.remove(channels[index].local) != nil {
        events.append(.hasRoom(channels[index].local))
      }
      return frame
    }
    hasFrames = false
    return nil
  }

  // MARK: Channel identifiers and removal

  func index(local id: L2CAP.ChannelID) -> Int? {
    for index in channels.indices where channels[index].local == id { return index }
    return nil
  }

  func index(remote id: L2CAP.ChannelID) -> Int? {
    for index in channels.indices where channels[index].remote == id && id != .none { return index }
    return nil
  }

  /// Returns a free local dynamic channel identifier · 2.1, table 2.3; nil: all are in use. An identifier is reused
  /// only after all other identifiers, so that late packets for a closed channel do not reach its successor.
  mutating func takeID() -> L2CAP.ChannelID? {
    for _ in Self.localIDs {
      lastID = lastID == Self.localIDs.upperBound ? Self.localIDs.lowerBound : lastID + 1
      let id = L2CAP.ChannelID(rawValue: lastID)
      if index(local: id) == nil { return id }
    }
    return nil
  }

  /// Removes a channel that exists on neither side any more.
  ///
  /// - Parameter isConfirmed: false if the peer did not answer the request to close it, or closed the channel when it
  ///   may not have had all K-frames.
  mutating func remove(at index: Int, _ identifiers: inout SignalIdentifiers, isConfirmed: Bool = true) {
    let channel = channels.remove(at: index)
    if nextChannel > index { nextChannel -= 1 }
    if creditTurn > index { creditTurn -= 1 }
    forget(channel.local, &identifiers)
    if channel.endsWhenSent {
      events.append(.closeEnded(channel.local, isConfirmed: isConfirmed && channel.hasSentAll))
    }
  }

  mutating func endRequest(at place: Int, _ identifiers: inout SignalIdentifiers) -> ChannelRequest {
    let request = requests.remove(at: place)
    identifiers.close(request.identifier)
    // Further requests may now be sent.
    owesSignals = true
    return request
  }

  /// Withdraws the requests about a channel that has closed.
  private mutating func forget(_ id: L2CAP.ChannelID, _ identifiers: inout SignalIdentifiers) {
    isWaited.remove(id)
    for place in requests.indices.reversed() {
      switch requests[place].kind {
      case .reconfigure(var ids, let mtu, let mps) where ids.contains(id):
        ids.removeAll { $0 == id }
        requests[place].kind = .reconfigure(ids, mtu: mtu, mps: mps)
        // A request that was sent keeps its identifier until the peer has answered.
        if ids.isEmpty, !requests[place].isSent { _ = endRequest(at: place, &identifiers) }
      case .close(id): _ = endRequest(at: place, &identifiers)
      default: break
      }
    }
  }
}

extension Channel {
  init(_ channel: CreditChannel) {
    self.init(
      id: channel.local, spsm: channel.spsm, sendMTU: channel.sendMTU, receiveMTU: channel.receiveMTU,
      isEnhanced: channel.isEnhanced)
  }
}
