import BluetoothWire

/// What the link layers of both sides are asked to agree on · Vol 6, Part B, 5.1.
///
/// None of it holds data back: the link layer has a procedure under way beside what it sends.
extension Host {
  /// What a link is like; nil: it does not exist.
  package func properties(of handle: HCI.ConnectionHandle) -> LinkProperties? {
    index(of: handle).map { allLinks[$0].properties }
  }

  /// As central, on a new link: longer packets, then faster ones. What the peer has is asked for only where something
  /// depends on it.
  mutating func beginLinkProcedures(_ index: Int, at now: Instant) {
    let handle = allLinks[index].link.handle
    guard allLinks[index].link.role == .central else { return }
    // With the bond's own key, however good that is: anybody could be there before.
    if configuration.encryptsBondedLinks, allLinks[index].security.security.hasKey {
      allLinks[index].bearer.willBeEncrypted()
      secure(index, .encrypted, at: now)
    }
    if let length = controller.maximumDataLength, controller.supports(.leSetDataLength) {
      commands.append(.leSetDataLength(handle, length), for: .other)
    }
    if controller.wishes(for: configuration.preferredPHYs) != nil, controller.supports(.leSetPHY) {
      readRemoteFeatures(index)
    }
  }

  /// false: it can't be asked.
  @discardableResult
  private mutating func readRemoteFeatures(_ index: Int) -> Bool {
    guard controller.supports(.leReadRemoteFeatures) else { return false }
    let handle = allLinks[index].link.handle
    commands.append(.leReadRemoteFeatures(handle), for: .readRemoteFeatures(handle))
    return true
  }

  /// LE Read Remote Features has ended; without features where that failed.
  mutating func remoteFeaturesRead(_ handle: HCI.ConnectionHandle, _ features: HCI.LEFeatures?, at now: Instant) {
    guard let index = anyIndex(of: handle) else {
      metrics.unknownLinks += 1
      return
    }
    if features != nil { heardFromPeer(on: index) }
    allLinks[index].properties.remoteFeatures = features ?? allLinks[index].properties.remoteFeatures ?? []
    if let parameters = allLinks[index].pendingParameters {
      allLinks[index].pendingParameters = nil
      requestUpdate(index, parameters, at: now)
    }
    guard allLinks[index].link.role == .central, !allLinks[index].isHidden, let features,
      controller.supports(.leSetPHY),
      let wishes = controller.wishes(for: configuration.preferredPHYs),
      // Without anything but LE 1M in common there is nothing to agree on.
      !wishes.intersection(features.phys).subtracting(.le1M).isEmpty
    else { return }
    let preference = HCI.PHYPreference(transmit: wishes, receive: wishes)
    commands.append(.leSetPHY(handle, preference, options: 0), for: .other)
  }

  mutating func phyUpdated(
    _ handle: HCI.ConnectionHandle, _ status: HCI.ErrorCode, transmit: UInt8, receive: UInt8, at now: Instant
  ) {
    guard status == .success else { return }
    guard let index = anyIndex(of: handle) else { return unknownLink(handle, at: now) }
    heardFromPeer(on: index)
    if let phy = HCI.PHYs(number: transmit) { allLinks[index].properties.transmitPHY = phy }
    if let phy = HCI.PHYs(number: receive) { allLinks[index].properties.receivePHY = phy }
  }

  // MARK: Connection parameters

  /// As peripheral: asks for other parameters as soon as GAP lets it · Vol 3, Part C, 9.3.12.
  mutating func wishUpdate(_ index: Int, _ parameters: ConnectionParameters, at now: Instant) {
    allLinks[index].wish = ParameterWish(parameters, on: allLinks[index], at: now)
    wishDue(index, at: now)
  }

  /// A wish may be due: it is not if the central has had something to do meanwhile.
  mutating func wishDue(_ index: Int, at now: Instant) {
    guard var wish = allLinks[index].wish, !allLinks[index].isDisconnecting else { return }
    wish.update(lastData: allLinks[index].lastData)
    allLinks[index].wish = wish.due <= now ? nil : wish
    if wish.due <= now { requestUpdate(index, wish.parameters, at: now) }
  }

  /// As peripheral: asks for other parameters, by the link layer where both sides have its procedure, else by L2CAP ·
  /// Vol 3, Part A, 4.20.
  /// One request is open at a time; of those that are made meanwhile the last one follows.
  mutating func requestUpdate(_ index: Int, _ parameters: ConnectionParameters, at now: Instant) {
    guard configuration.requestsParametersByLinkLayer,
      controller.leFeatures.contains(.connectionParametersRequestProcedure),
      controller.supports(.leConnectionUpdate)
    else { return requestUpdateByL2CAP(index, parameters, at: now) }
    guard !allLinks[index].isUpdating else {
      allLinks[index].pendingParameters = parameters
      return
    }
    guard let features = allLinks[index].properties.remoteFeatures else {
      let isAsked = allLinks[index].pendingParameters != nil
      allLinks[index].pendingParameters = parameters
      if !isAsked, !readRemoteFeatures(index) {
        allLinks[index].pendingParameters = nil
        requestUpdateByL2CAP(index, parameters, at: now)
      }
      return
    }
    if features.contains(.connectionParametersRequestProcedure) {
      allLinks[index].requestedParameters = parameters
      update(index, parameters)
    } else {
      requestUpdateByL2CAP(index, parameters, at: now)
    }
  }

  /// LE Connection Update Complete has come: of this side's update, unless its command was not sent yet. Some controllers
  /// say it before Command Status, and then it counts when that comes.
  mutating func updateCompleted(_ handle: HCI.ConnectionHandle, _ status: HCI.ErrorCode, at now: Instant) {
    switch commands.progress(of: .updateConnection(handle)) {
    case .waitsToBeSent: break
    case .isSent: if let index = anyIndex(of: handle) { allLinks[index].earlyUpdate = status }
    case nil: updateEnded(handle, status, at: now)
    }
  }

  /// LE Connection Update was taken, or refused.
  mutating func updateAnswered(_ handle: HCI.ConnectionHandle, _ status: HCI.ErrorCode, at now: Instant) {
    if status != .success {
      updateEnded(handle, status, at: now)
    } else if let early = anyIndex(of: handle).flatMap({ allLinks[$0].earlyUpdate }) {
      updateEnded(handle, early, at: now)
    }
  }

  private mutating func updateEnded(_ handle: HCI.ConnectionHandle, _ status: HCI.ErrorCode, at now: Instant) {
    guard let index = anyIndex(of: handle) else { return }
    allLinks[index].isUpdating = false
    allLinks[index].earlyUpdate = nil
    let requested = allLinks[index].requestedParameters
    allLinks[index].requestedParameters = nil
    guard allLinks[index].link.role == .peripheral, !allLinks[index].isHidden else { return }
    if let parameters = allLinks[index].pendingParameters, allLinks[index].properties.remoteFeatures != nil {
      allLinks[index].pendingParameters = nil
      requestUpdate(index, parameters, at: now)
    } else if status.letsL2CAPAsk, let requested {
      requestUpdateByL2CAP(index, requested, at: now)
    }
  }

  private mutating func requestUpdateByL2CAP(_ index: Int, _ parameters: ConnectionParameters, at now: Instant) {
    allLinks[index].signalling.requestUpdate(parameters, at: now)
    markReady(index)
  }
}

/// Connection parameters that a peripheral is going to ask for.
struct ParameterWish {
  /// TGAP(conn_pause_peripheral): how long a link exists before its peripheral asks · Vol 3, Part C, Appendix A.
  private static let pause = TimeSpan.seconds(5)
  /// TGAP(conn_pause_central): how long the central initiates nothing before its peripheral asks · Vol 3, Part C, Appendix A.
  private static let quietTime = TimeSpan.seconds(1)
  /// A central that is never quiet is asked so long after the wish.
  private static let patience = TimeSpan.seconds(5)

  let parameters: ConnectionParameters
  /// When the peripheral asks at the earliest and at the latest.
  private let bounds: ClosedRange<Instant>
  /// When the peripheral asks, unless the central sends data until then.
  private(set) var due: Instant

  init(_ parameters: ConnectionParameters, on link: HostLink, at now: Instant) {
    self.parameters = parameters
    let earliest = link.beginning + Self.pause
    bounds = earliest...max(earliest, now + Self.patience)
    due = bounds.upperBound
    update(lastData: link.lastData)
  }

  /// - Parameter lastData: when the central has last sent data.
  mutating func update(lastData: Instant) {
    due = min(bounds.upperBound, max(bounds.lowerBound, lastData + Self.quietTime))
  }
}

extension HCI.ErrorCode {
  /// True if a refusal of the link layer procedure says nothing of the central's host: the peer lacks the procedure, or its
  /// controller or driver has refused before a host could decide. (Linux answers Unknown Connection Identifier to a request
  /// that comes before it has read the remote features.)
  fileprivate var letsL2CAPAsk: Bool { self != .success && self != .unacceptableConnectionParameters }
}

extension ControllerFacts {
  /// What of `preferred` this controller has, if that is more than what everybody has; nil: there is nothing to ask for.
  func wishes(for preferred: HCI.PHYs?) -> HCI.PHYs? {
    guard let preferred, leFeatures.phys != .le1M else { return nil }
    let wishes = preferred.intersection(leFeatures.phys)
    return wishes.isEmpty ? nil : wishes
  }
}

extension HCI.LEFeatures {
  fileprivate var phys: HCI.PHYs {
    var phys = HCI.PHYs.le1M
    if contains(.le2MPHY) { phys.insert(.le2M) }
    if contains(.leCodedPHY) { phys.insert(.leCoded) }
    return phys
  }
}
