// Design: lost events about links
//
// - If no data has passed on a link for a minute, the host sends Read RSSI (`LinkCheck`). The answer 0x02 means that
//   the link's Disconnection Complete was lost.
// - A link is gone when Disconnect is answered with 0x02, or when its supervision timeout has passed since Disconnect,
//   whatever the controller reports. Data that waited for the link is not sent to the next link with the same handle.
//   ACL packets that the controller had for the link count as completed then, and only then.
// - A handle that the host does not know, and that is still unknown after 1 s, belongs to a link whose LE Connection
//   Complete was lost. The host ends that link, and starts advertising and connecting again, since the controller may
//   have stopped both for the link. LE Connection Complete with a handle that is in use means that the Disconnection
//   Complete of the older link was lost. If a controller refuses to advertise while it has a link, the host retries
//   every 30 s.

import BluetoothWire

/// The creation and the end of links.
extension LinkTable {
  // MARK: New links

  /// Handles LE Connection Complete.
  mutating func connectionCompleted(
    _ complete: HCI.ConnectionComplete, _ gap: inout GAP, _ context: inout HostContext, at now: Instant
  ) {
    let heard = complete.peer.deviceAddress
    gap.noteResolution(of: complete.peer)
    let peer = heard.map { gap.identity(of: $0, &context.security) }
    guard complete.status == .success else { return gap.attemptFailed(complete.status, with: peer, &context) }
    guard context.controller.isOn, let heard, let peer, let role = Link.Role(rawValue: complete.role),
      complete.handle.rawValue <= HCI.ConnectionHandle.maximum.rawValue, !isRepeated(complete, at: now)
    else {
      context.output.metrics.unexpectedPackets += 1
      return
    }
    unknownLinks.remove(complete.handle)
    // The controller has reused the handle: the host missed the disconnection of the previous link.
    if anyIndex(of: complete.handle) != nil {
      disconnected(complete.handle, .connectionTimeout, &gap, &context, at: now)
    }
    let isWanted = gap.linkCreated(role, with: peer, heard: heard, &context, at: now)
    let link = Link(handle: complete.handle, role: role, peer: peer)
    let (local, remote) = (complete.localResolvablePrivateAddress, complete.peerResolvablePrivateAddress)
    // The Security Manager takes the addresses that were used on the air. If the host and not the controller has
    // resolved the peer's address, the event contains the unresolved address.
    let manager = SecurityManager(
      role: role, own: local == 0 ? gap.addressOnAir(&context) : DeviceAddress(local, .random),
      peer: remote == 0 ? heard : DeviceAddress(remote, .random))
    all.append(
      HostLink(
        link, manager, context.configuration, visibility: isWanted ? .provisional : .hidden, at: now,
        pool: context.pool))
    check.begin(at: now)
    all[all.count - 1].begin(complete.values, isWanted: isWanted, &context, at: now)
  }

  /// Returns true for the second of two Connection Complete events with one handle within 100 ms, too short a time
  /// for a link to end and for another to be created.
  private func isRepeated(_ complete: HCI.ConnectionComplete, at now: Instant) -> Bool {
    anyIndex(of: complete.handle).map { now - self[$0].beginning < .milliseconds(100) } ?? false
  }

  // MARK: Ends of links

  /// Handles the end of a link.
  mutating func disconnected(
    _ handle: HCI.ConnectionHandle, _ reason: HCI.ErrorCode, _ gap: inout GAP, _ context: inout HostContext,
    at now: Instant
  ) {
    guard let index = anyIndex(of: handle) else {
      context.output.metrics.unknownLinks += 1
      unknownLinks.remove(handle)
      gap.restart()
      return
    }
    var link = all.remove(at: index.position)
    if all.isEmpty { check.end() }
    link.endSecurity(&context, at: now)
    link.keepGATTState(&context)
    // Another link may get the handle of a held one.
    if link.pace?.isHeld == true { context.pacedLinksChanged = true }
    context.controller.linkEnded(handle, &context.output)
    // The controller discards its packets for this link without completing them · Vol 4, Part E, 4.3.
    packetsInController -= link.packetsInController
    // For Connection Failed to be Established, the peer never answered, so the host connects again. With any other
    // reason, the link existed and ended before the peer sent anything.
    let goesOn = link.visibility == .provisional && reason == .connectionFailedToBeEstablished
    gap.linkEnded(with: link.link.peer, goesOn: goesOn)
    switch link.visibility {
    case .hidden: break
    case .reported:
      link.reportDeliveredChannels(&context)
      context.output.tell(.disconnected(handle, reason))
    case .provisional:
      if !goesOn {
        context.output.tell(.connected(link.link))
        context.output.tell(.disconnected(handle, reason))
      }
    }
    if all.isEmpty { context.controller.linksEnded() }
  }

  /// Disconnects all links with the reason for power-off, and reports their ends immediately.
  mutating func shutDown(_ context: inout HostContext) {
    for position in all.indices where !all[position].isHidden {
      let handle = all[position].link.handle
      if all[position].visibility == .reported {
        context.output.tell(.disconnected(handle, .connectionTerminatedByLocalHost))
      }
      all[position].visibility = .hidden
      context.controller.append(.disconnect(handle, reason: .remoteDeviceTerminatedPowerOff), for: .other)
    }
  }

  /// Reports the ends of all links, because the controller has failed. `forgetAll` follows.
  mutating func controllerFailed(_ context: inout HostContext, at now: Instant) {
    for position in all.indices {
      all[position].endSecurity(&context, at: now)
      let link = all[position].link
      switch all[position].visibility {
      case .reported: context.output.tell(.disconnected(link.handle, .hardwareFailure))
      case .provisional: context.output.tell(.connectionFailed(link.peer, .hardwareFailure))
      case .hidden: break
      }
    }
  }

  /// Removes all links without an event.
  mutating func forgetAll(_ context: inout HostContext) {
    for position in all.indices {
      all[position].keepCounters(&context)
      all[position].keepGATTState(&context)
    }
    all.removeAll()
    unknownLinks.removeAll()
    check.end()
    packetsInController = 0
  }

  /// Handles the status of Disconnect.
  mutating func disconnectEnded(
    _ handle: HCI.ConnectionHandle, _ status: HCI.ErrorCode, _ gap: inout GAP, _ context: inout HostContext,
    at now: Instant
  ) {
    // Another link may have the same handle by now.
    guard let index = anyIndex(of: handle), self[index].isDisconnecting else { return }
    if status == .unknownConnectionIdentifier {
      disconnected(handle, .connectionTimeout, &gap, &context, at: now)
    } else {
      self[index].disconnectAccepted(at: now)
    }
  }

  /// Removes links whose end is overdue.
  mutating func endOverdueLinks(_ gap: inout GAP, _ context: inout HostContext, at now: Instant) {
    var position = 0
    while position < all.count {
      if let endsBy = all[position].endsBy, endsBy <= now {
        let handle = all[position].link.handle
        context.output.tell(.trouble(.linkNotEnded(handle)))
        disconnected(handle, .connectionTimeout, &gap, &context, at: now)
      } else {
        position += 1
      }
    }
  }

  // MARK: Unknown and lost links

  /// Notes an event of the controller about a link that the host does not know. The host disconnects the link if it
  /// is still unknown after `UnknownLinks.grace`.
  mutating func unknownLink(_ handle: HCI.ConnectionHandle, _ context: inout HostContext, at now: Instant) {
    context.output.metrics.unknownLinks += 1
    if context.controller.isOn, handle.rawValue <= HCI.ConnectionHandle.maximum.rawValue {
      unknownLinks.heard(handle, at: now)
    }
  }

  /// Disconnects the unknown links that are due.
  mutating func endUnknownLinks(_ gap: inout GAP, _ context: inout HostContext, at now: Instant) {
    while let handle = unknownLinks.takeDue(now) {
      guard context.controller.isOn, anyIndex(of: handle) == nil else { continue }
      context.output.tell(.trouble(.unknownLink(handle)))
      context.controller.append(
        .disconnect(handle, reason: .remoteUserTerminatedConnection), for: .disconnect(handle))
      gap.restart()
    }
  }

  /// Checks each link without received data or completed packets since the last check. Read RSSI fails for a link that
  /// does not exist · Vol 4, Part E, 7.5.4.
  mutating func checkLinks(_ context: inout HostContext, at now: Instant) {
    guard check.isDue(at: now, hasLinks: context.controller.isOn && !all.isEmpty) else { return }
    for position in all.indices {
      defer { all[position].hasShownLife = false }
      guard !all[position].hasShownLife, !all[position].isDisconnecting,
        context.controller.capabilities.supports(.readRSSI)
      else { continue }
      let handle = all[position].link.handle
      context.controller.append(.readRSSI(handle), for: .checkLink(handle))
    }
  }

  /// Handles the result of a link's check.
  mutating func linkChecked(
    _ handle: HCI.ConnectionHandle, _ status: HCI.ErrorCode, _ gap: inout GAP, _ context: inout HostContext,
    at now: Instant
  ) {
    guard status == .unknownConnectionIdentifier, anyIndex(of: handle) != nil else { return }
    context.output.tell(.trouble(.lostLink(handle)))
    disconnected(handle, .connectionTimeout, &gap, &context, at: now)
  }
}
