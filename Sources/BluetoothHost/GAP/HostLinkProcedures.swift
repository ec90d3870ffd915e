import BluetoothWire

/// The link layer control procedures that the host starts · Vol 6, Part B, 5.1.
///
/// These procedures do not delay data: the link layer runs them beside its data traffic.
extension Host {
  /// Returns the properties of a link; nil: the link does not exist.
  package func properties(of handle: HCI.ConnectionHandle) -> LinkProperties? {
    index(of: handle).map { allLinks[$0].properties }
  }

  /// Starts the procedures of a central on a new link: first data length update, then PHY update. The host reads the
  /// remote features only if something depends on them.
  mutating func beginLinkProcedures(_ index: Int, at now: Instant) {
    let handle = allLinks[index].link.handle
    guard allLinks[index].link.role == .central else { return }
    // The link is encrypted with the bond's key whatever its security level: without encryption the peer could be an
    // impostor.
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

  /// Sends LE Read Remote Features. Returns false if the controller does not support it.
  @discardableResult
  private mutating func readRemoteFeatures(_ index: Int) -> Bool {
    guard controller.supports(.leReadRemoteFeatures) else { return false }
    let handle = allLinks[index].link.handle
    commands.append(.leReadRemoteFeatures(handle), for: .readRemoteFeatures(handle))
    return true
  }

  /// Handles the end of LE Read Remote Features; `features` is nil if it failed.
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
      // If LE 1M is the only PHY in common, there is nothing to request.
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

  /// Requests connection parameters as peripheral, as soon as GAP permits it · Vol 3, Part C, 9.3.12.
  mutating func wishUpdate(_ index: Int, _ parameters: ConnectionParameters, at now: Instant) {
    allLinks[index].wish = ParameterWish(parameters, on: allLinks[index], at: now)
    wishDue(index, at: now)
  }

  /// Sends the pending parameter request if it is due. Recent traffic of the central postpones it.
  mutating func wishDue(_ index: Int, at now: Instant) {
    guard var wish = allLinks[index].wish, !allLinks[index].isDisconnecting else { return }
    wish.update(lastData: allLinks[index].lastData)
    allLinks[index].wish = wish.due <= now ? nil : wish
    if wish.due <= now { requestUpdate(index, wish.parameters, at: now) }
  }

  /// Requests connection parameters as peripheral, with the link layer procedure if both sides have it, and with
  /// L2CAP if not · Vol 3, Part A, 4.20. One request is open at a time; of the requests made meanwhile only the last
  /// one is kept.
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

  /// Handles LE Connection Update Complete. The event belongs to this side's update unless the command has not been
  /// sent yet. Some controllers send the event before Command Status; the host then processes it together with
  /// Command Status.
  mutating func updateCompleted(_ handle: HCI.ConnectionHandle, _ status: HCI.ErrorCode, at now: Instant) {
    switch commands.progress(of: .updateConnection(handle)) {
    case .waitsToBeSent: break
    case .isSent: if let index = anyIndex(of: handle) { allLinks[index].earlyUpdate = status }
    case nil: updateEnded(handle, status, at: now)
    }
  }

  /// Handles the status of LE Connection Update.
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

/// The connection parameters that a peripheral will request.
struct ParameterWish {
  /// TGAP(conn_pause_peripheral): the minimum age of a link at which its peripheral requests parameters
  /// · Vol 3, Part C, Appendix A.
  private static let pause = TimeSpan.seconds(5)
  /// TGAP(conn_pause_central): the time without initiatives of the central before its peripheral requests parameters
  /// · Vol 3, Part C, Appendix A.
  private static let quietTime = TimeSpan.seconds(1)
  /// The time after which a peripheral sends its request even though the central is never quiet.
  private static let patience = TimeSpan.seconds(5)

  let parameters: ConnectionParameters
  /// The earliest and the latest time of the request.
  private let bounds: ClosedRange<Instant>
  /// The time of the request, unless the central sends data before.
  private(set) var due: Instant

  init(_ parameters: ConnectionParameters, on link: HostLink, at now: Instant) {
    self.parameters = parameters
    let earliest = link.beginning + Self.pause
    bounds = earliest...max(earliest, now + Self.patience)
    due = bounds.upperBound
    update(lastData: link.lastData)
  }

  /// Postpones the request after traffic of the central.
  ///
  /// - Parameter lastData: The time at which the central last sent data.
  mutating func update(lastData: Instant) {
    due = min(bounds.upperBound, max(bounds.lowerBound, lastData + Self.quietTime))
  }
}

extension HCI.ErrorCode {
  /// True if a refusal of the link layer procedure does not express a decision of the central's host: the peer lacks
  /// the procedure, or its controller or driver has refused before a host could decide. (Linux answers Unknown
  /// Connection Identifier to a request that comes before it has read the remote features.)
  fileprivate var letsL2CAPAsk: Bool { self != .success && self != .unacceptableConnectionParameters }
}

extension ControllerCapabilities {
  /// Returns the PHYs of `preferred` that this controller supports; nil: the controller supports only LE 1M, or none
  /// of them.
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
