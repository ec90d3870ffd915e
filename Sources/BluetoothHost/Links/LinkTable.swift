import BluetoothWire

/// The links of a host, and the distribution of the controller's buffers among them.
struct LinkTable {
  /// The links in the order of their creation.
  var all: [HostLink] = []
  /// The links that the controller has and the host does not know.
  var unknownLinks = UnknownLinks()
  /// The liveness check of links without traffic.
  var check = LinkCheck()
  /// The number of ACL packets in the controller.
  var packetsInController = 0
  /// The position of the link that is served first when the controller has free buffers again.
  private var nextLink = 0

  subscript(index: LinkIndex) -> HostLink {
    @inline(__always) get { all[index.position] }
    @inline(__always) _modify { yield &all[index.position] }
  }

  /// The next instant at which `timeReached` must be called; nil: none.
  ///
  /// Read-only; `mutating` avoids copying the links.
  var deadline: Instant? {
    mutating get {
      var result = earliest(unknownLinks.deadline, check.deadline)
      for position in all.indices { result = earliest(result, all[position].deadline) }
      return result
    }
  }

  // MARK: Search

  /// Returns the index of the link with this handle, unless the link is hidden from the upper layer.
  // Inlined, like `anyIndex(of:)`: a call would copy the whole table.
  @inline(__always)
  func index(of handle: HCI.ConnectionHandle) -> LinkIndex? {
    guard let position = all.position(of: handle), !all[position].isHidden else { return nil }
    return LinkIndex(position: position)
  }

  /// Returns the index of the link with this handle, hidden or not.
  @inline(__always)
  func anyIndex(of handle: HCI.ConnectionHandle) -> LinkIndex? {
    all.position(of: handle).map { LinkIndex(position: $0) }
  }

  /// Returns the index of the link to this device that has not been reported yet.
  func unprovenLink(to address: DeviceAddress) -> LinkIndex? {
    all.firstIndex { $0.visibility == .provisional && $0.link.peer == address }.map { LinkIndex(position: $0) }
  }

  // MARK: Data

  /// Processes an ACL packet.
  mutating func receive(_ data: HCI.ACLData, _ context: inout HostContext, at now: Instant) {
    guard let index = index(of: data.handle) else {
      if anyIndex(of: data.handle) == nil {
        unknownLink(data.handle, &context, at: now)
      } else {
        context.output.metrics.unknownLinks += 1
      }
      return
    }
    all[index.position].receive(data, &context, at: now)
  }

  /// Sends ACL packets while the controller has free buffers, one packet of each link in turn. Each link gets at most
  /// its share of the buffers, so that a link whose peer does not respond cannot block the other links.
  @inline(__always)
  mutating func sendData(_ context: inout HostContext, at now: Instant) {
    guard context.isReady, packetsInController < context.controller.capabilities.aclCount, !all.isEmpty else { return }
    sendPackets(&context, at: now)
  }

  private mutating func sendPackets(_ context: inout HostContext, at now: Instant) {
    let room = context.controller.capabilities.aclCount
    let share = max(1, room / all.count)
    var position = nextLink
    /// The number of consecutive links that have nothing to send or have used their share.
    var idle = 0
    var isReady = false
    while idle < all.count {
      if position >= all.count { position = 0 }
      if idle == 0 { isReady = false }
      if sendPacket(of: position, share: share, &context, at: now) {
        idle = 0
        if packetsInController >= room {
          nextLink = position + 1
          return
        }
      } else {
        idle += 1
        isReady = isReady || all[position].isReady
      }
      position += 1
    }
    context.isReady = isReady
  }

  /// Sends the next packet of a link. Returns false if there is none, or if the link has used its share.
  private mutating func sendPacket(
    of position: Int, share: Int, _ context: inout HostContext, at now: Instant
  ) -> Bool {
    guard all[position].isReady, all[position].packetsInController < share else { return false }
    let packet = all[position].takePacket(
      context.controller.capabilities.aclLength, pool: context.pool, at: now)
    all[position].passOn(&context, at: now)
    guard let packet else { return false }
    all[position].packetSent()
    packetsInController += 1
    context.controller.append(packet)
    return true
  }

  /// Handles completed packets, which free buffers of the controller.
  mutating func packetsCompleted(_ handle: HCI.ConnectionHandle, _ count: Int, _ context: inout HostContext) {
    guard let position = all.position(of: handle) else {
      context.output.metrics.unknownLinks += 1
      return
    }
    let completed = all[position].packetsCompleted(count)
    packetsInController -= completed
    guard completed > 0 else { return }
    all[position].hasShownLife = true
    all[position].heardFromPeer(&context)
  }

  // MARK: Time

  /// Handles the timers of the links, and ends those that the host does not know or whose end is overdue.
  mutating func timeReached(_ now: Instant, _ gap: inout GAP, _ context: inout HostContext) {
    for position in all.indices where !all[position].isHidden { all[position].timeReached(&context, at: now) }
    endOverdueLinks(&gap, &context, at: now)
    endUnknownLinks(&gap, &context, at: now)
    checkLinks(&context, at: now)
  }
}

extension [HostLink] {
  /// Returns the position of the link with this handle.
  fileprivate func position(of handle: HCI.ConnectionHandle) -> Int? {
    // Iterate by index: a closure or an iterator would copy the links.
    var index = 0
    while index < count {
      if self[index].link.handle.rawValue == handle.rawValue { return index }
      index += 1
    }
    return nil
  }
}
