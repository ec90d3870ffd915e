import BluetoothWire

/// The request of the upper layer for other properties of a link, while it is in progress.
struct PendingLinkRequest {
  let kind: LinkRequest.Kind
  /// The status of LE PHY Update Complete, if the event came before Command Status, as from some controllers.
  var early: HCI.ErrorCode?
}

/// Requests of the upper layer for other properties of a link: one at a time. Each is answered by `linkRequestEnded`,
/// unless the link ends before.
extension HostLink {
  mutating func begin(_ request: LinkRequest, _ context: inout HostContext, at now: Instant) {
    switch request {
    case .connectionParameters(let parameters) where link.role == .peripheral:
      pendingRequest = PendingLinkRequest(kind: request.kind)
      requestUpdate(parameters, &context, at: now)
    case .connectionParameters(let parameters):
      guard link.role == .central, context.controller.capabilities.supports(.leConnectionUpdate) else {
        return refuseRequest(&context)
      }
      pendingRequest = PendingLinkRequest(kind: request.kind)
      update(parameters, &context)
    case .phys(let preference, let options):
      guard context.controller.capabilities.supports(.leSetPHY) else { return refuseRequest(&context) }
      pendingRequest = PendingLinkRequest(kind: request.kind)
      context.controller.append(
        .leSetPHY(link.handle, preference, options: options), for: .changeLink(link.handle))
    case .dataLength(let length):
      guard context.controller.capabilities.supports(.leSetDataLength) else { return refuseRequest(&context) }
      pendingRequest = PendingLinkRequest(kind: request.kind)
      context.controller.append(.leSetDataLength(link.handle, length), for: .changeLink(link.handle))
    }
  }

  private func refuseRequest(_ context: inout HostContext) {
    context.output.tell(.linkRequestEnded(link.handle, .notSupported))
  }

  /// Handles the end of the command of a request.
  mutating func requestAnswered(_ status: HCI.ErrorCode, _ context: inout HostContext) {
    guard let pending = pendingRequest else { return }
    // For PHYs, success only means that the procedure has begun.
    if pending.kind == .phys, status == .success {
      if let early = pending.early { endRequest(.phys, early, &context) }
    } else {
      endRequest(pending.kind, status, &context)
    }
  }

  /// Handles LE PHY Update Complete. The event does not tell which side began the procedure: it belongs to the host's
  /// own choice of PHYs if that is in progress, else to a request that has been sent.
  mutating func phyProcedureEnded(_ status: HCI.ErrorCode, _ context: inout HostContext) {
    if isChoosingPHYs {
      isChoosingPHYs = false
      return
    }
    switch context.controller.progress(of: .changeLink(link.handle)) {
    case .waitsToBeSent: break
    case .isSent: pendingRequest?.early = status
    case nil: endRequest(.phys, status, &context)
    }
  }

  /// Reports the end of the pending request if it has this kind.
  mutating func endRequest(_ kind: LinkRequest.Kind, _ status: HCI.ErrorCode, _ context: inout HostContext) {
    guard pendingRequest?.kind == kind else { return }
    pendingRequest = nil
    context.output.tell(.linkRequestEnded(link.handle, status == .success ? nil : .controller(status)))
  }
}
