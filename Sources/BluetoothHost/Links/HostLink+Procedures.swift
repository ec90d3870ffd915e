// Design: procedures on a new link
//
// - A central requests the data length as soon as a link exists. If `HostConfiguration.preferredPHYs` names PHYs (LE 1M
//   and 2M; nil: no request), the central also requests the peer's features, and those PHYs if both devices support
//   them. Its MTU request goes out at the same time.
// - With `requestsParametersByLinkLayer`, a peripheral requests other connection parameters by the link layer if both
//   sides support the procedure, else by L2CAP. The peripheral reads the central's features at its first request; if
//   they are not there after 42 s, it asks by L2CAP. It sends the request when the link is 5 s old and the central has
//   sent no data for 1 s (TGAP(conn_pause_peripheral), TGAP(conn_pause_central)); on an older link, at most 5 s after
//   the layer above has asked for it. If the central's link layer refuses, the peripheral asks again by L2CAP, unless
//   the central's host has refused (0x3B). `Host.properties(of:)` returns what the controller has reported about a
//   link.

import BluetoothWire

/// The link layer control procedures that the host starts · Vol 6, Part B, 5.1.
///
/// These procedures do not delay data: the link layer runs them beside its data traffic.
extension HostLink {
  /// Initializes a new link with the stored data about its peer, or disconnects the link if the host does not want it.
  mutating func begin(
    _ values: HCI.ConnectionValues, isWanted: Bool, _ context: inout HostContext, at now: Instant
  ) {
    recallBond(&context, at: now)
    properties.values = values
    offerCache(&context)
    guard isWanted else { return disconnect(.remoteUserTerminatedConnection, &context) }
    resumeDatabase(&context)
    // A peripheral has received the peer's CONNECT_IND; a central waits for the peer's first packets.
    if link.role == .peripheral { heardFromPeer(&context) }
    beginProcedures(&context, at: now)
    bearer.start(at: now)
    serve(&context, at: now)
  }

  /// Starts the procedures of a central on a new link: first data length update, then PHY update. The host reads the
  /// remote features only if something depends on them.
  private mutating func beginProcedures(_ context: inout HostContext, at now: Instant) {
    guard link.role == .central else { return }
    // The link is encrypted with the bond's key whatever its security level: without encryption the peer could be an
    // impostor.
    if context.configuration.encryptsBondedLinks, security.security.hasKey {
      bearer.client.willBeEncrypted()
      secure(.encrypted, &context, at: now)
    }
    if let length = context.controller.capabilities.maximumDataLength,
      context.controller.capabilities.supports(.leSetDataLength)
    {
      context.controller.append(.leSetDataLength(link.handle, length), for: .other)
    }
    if context.controller.capabilities.supportedPHYs(of: context.configuration.preferredPHYs) != nil,
      context.controller.capabilities.supports(.leSetPHY)
    {
      readRemoteFeatures(&context)
    }
  }

  /// Sends LE Read Remote Features. Returns false if the controller does not support it.
  @discardableResult
  private func readRemoteFeatures(_ context: inout HostContext) -> Bool {
    guard context.controller.capabilities.supports(.leReadRemoteFeatures) else { return false }
    context.controller.append(.leReadRemoteFeatures(link.handle), for: .readRemoteFeatures(link.handle))
    return true
  }

  /// Handles the end of LE Read Remote Features; `features` is nil if it failed.
  mutating func remoteFeaturesRead(_ features: HCI.LEFeatures?, _ context: inout HostContext, at now: Instant) {
    if features != nil { heardFromPeer(&context) }
    properties.remoteFeatures = features ?? properties.remoteFeatures ?? []
    if let parameters = parameterUpdates.takePending() {
      perform(parameterUpdates.request(parameters, on: updatePath(&context), at: now), &context, at: now)
    }
    guard link.role == .central, !isHidden, let features, context.controller.capabilities.supports(.leSetPHY),
      let phys = context.controller.capabilities.supportedPHYs(of: context.configuration.preferredPHYs),
      // If LE 1M is the only PHY in common, there is nothing to request.
      !phys.intersection(features.phys).subtracting(.le1M).isEmpty
    else { return }
    let preference = HCI.PHYPreference(transmit: phys, receive: phys)
    context.controller.append(.leSetPHY(link.handle, preference, options: 0), for: .choosePHYs(link.handle))
    isChoosingPHYs = true
  }

  /// Handles a change of the link's PHYs.
  mutating func phyUpdated(transmit: UInt8, receive: UInt8, _ context: inout HostContext) {
    heardFromPeer(&context)
    if let phy = HCI.PHYs(number: transmit) { properties.transmitPHY = phy }
    if let phy = HCI.PHYs(number: receive) { properties.receivePHY = phy }
    context.tellLinkChanged(link.handle)
  }

  // MARK: Connection parameters

  /// Updates the connection parameters with LE Connection Update.
  ///
  /// - Parameter requested: The parameters that a peripheral requests; nil: this side is the central.
  mutating func update(
    _ parameters: LinkParameters, requested: LinkParameters? = nil, _ context: inout HostContext
  ) {
    parameterUpdates.begin(requested: requested)
    context.controller.append(
      .leConnectionUpdate(link.handle, parameters, HCI.ConnectionEventLength()), for: .updateConnection(link.handle))
  }

  /// Requests connection parameters as peripheral, as soon as GAP permits it · Vol 3, Part C, 9.3.12.
  mutating func requestUpdate(_ parameters: LinkParameters, _ context: inout HostContext, at now: Instant) {
    parameterUpdates.postpone(PostponedParameterRequest(parameters, beginning: beginning, lastData: lastData, at: now))
    requestDueUpdate(&context, at: now)
  }

  /// Sends the request for connection parameters if it is due.
  mutating func requestDueUpdate(_ context: inout HostContext, at now: Instant) {
    guard !isDisconnecting, let parameters = parameterUpdates.takeDue(lastData: lastData, at: now) else { return }
    perform(parameterUpdates.request(parameters, on: updatePath(&context), at: now), &context, at: now)
  }

  /// Sends the request that waits for the peer's features by L2CAP if the controller has not reported them in time.
  mutating func endOverdueFeatures(_ context: inout HostContext, at now: Instant) {
    guard !isDisconnecting, parameterUpdates.areFeaturesOverdue(at: now) else { return }
    remoteFeaturesRead(nil, &context, at: now)
  }

  /// Handles LE Connection Update Complete. The event belongs to this side's update unless the command has not been
  /// sent yet. Some controllers send the event before Command Status; the host then processes it together with
  /// Command Status.
  mutating func updateCompleted(_ status: HCI.ErrorCode, _ context: inout HostContext, at now: Instant) {
    switch context.controller.progress(of: .updateConnection(link.handle)) {
    case .waitsToBeSent: break
    case .isSent: parameterUpdates.completedEarly(status)
    case nil: updateEnded(status, &context, at: now)
    }
  }

  /// Handles the end of LE Connection Update.
  mutating func updateEnded(_ status: HCI.ErrorCode, _ context: inout HostContext, at now: Instant) {
    // A central can update the parameters while a request of this peripheral waits for its time.
    let isOwn = link.role == .central || parameterUpdates.isRunning
    let step = parameterUpdates.ended(
      status, isPeripheral: link.role == .peripheral && !isHidden, on: updatePath(&context), at: now)
    perform(step, &context, at: now)
    // The central answers a request by L2CAP.
    if case .requestByL2CAP = step { return }
    if isOwn { endRequest(.connectionParameters, status, &context) }
  }

  private func updatePath(_ context: inout HostContext) -> ParameterUpdates.Path {
    ParameterUpdates.Path(
      hasLinkLayerProcedure: context.configuration.requestsParametersByLinkLayer
        && context.controller.capabilities.leFeatures.contains(.connectionParametersRequestProcedure)
        && context.controller.capabilities.supports(.leConnectionUpdate),
      remoteFeatures: properties.remoteFeatures)
  }

  private mutating func perform(_ step: ParameterUpdates.Step, _ context: inout HostContext, at now: Instant) {
    switch step {
    case .none: break
    case .readRemoteFeatures:
      if !readRemoteFeatures(&context), let parameters = parameterUpdates.takePending() {
        perform(.requestByL2CAP(parameters), &context, at: now)
      }
    case .requestByLinkLayer(let parameters): update(parameters, requested: parameters, &context)
    case .requestByL2CAP(let parameters):
      signalling.requestUpdate(parameters, at: now)
      markReady(&context)
    }
  }
}
