import BluetoothHost
import BluetoothWire

extension GATTClientBroker {
  /// Subscribes a session to a characteristic's notifications or indications, or unsubscribes it.
  mutating func setNotify(
    _ isOn: Bool, _ attribute: RemoteAttributeID, on used: SessionLink<CentralRole>, at now: Instant,
    _ context: inout DaemonContext
  ) {
    let (link, session) = (used.index, used.session)
    guard let characteristic = context.database(of: link).characteristic(withValue: attribute.handle) else {
      deliverNotify(attribute.handle, .invalidHandle, isOn: false, on: link, to: session, &context)
      return
    }
    guard !characteristic.properties.isDisjoint(with: [.notify, .indicate]) else {
      deliverNotify(attribute.handle, .att(.requestNotSupported), isOn: false, on: link, to: session, &context)
      return
    }
    context.links[link].client.notifications.append(.init(session: session, isOn: isOn), for: attribute.handle)
    shareConfiguration(of: attribute.handle, with: session, on: link, &context)
    advanceNotifications(of: link, at: now, &context)
  }

  /// Lets a session not wait for all requests of the one whose change of the same characteristic is in progress.
  private func shareConfiguration(
    of characteristic: AttributeHandle, with session: CentralSessionID, on link: DaemonLinkIndex,
    _ context: inout DaemonContext
  ) {
    guard let index = context.links[link].client.notifications.index(of: characteristic),
      context.links[link].client.notifications[index].state != .idle
    else { return }
    let token = operations.token(on: context.links[link].link.handle) { operation in
      switch operation {
      case .configuration(characteristic), .discovery(.descriptors(of: characteristic)): true
      default: false
      }
    }
    share(token, with: session, on: link, &context)
  }

  /// Advances the changes of all characteristics as far as possible now.
  mutating func advanceNotifications(of link: DaemonLinkIndex, at now: Instant, _ context: inout DaemonContext) {
    for index in context.links[link].client.notifications.entries.indices {
      advanceNotification(index, of: link, at: now, &context)
    }
  }

  private mutating func advanceNotification(
    _ index: Int, of link: DaemonLinkIndex, at now: Instant, _ context: inout DaemonContext
  ) {
    let characteristic = context.links[link].client.notifications[index].characteristic
    while let decision = context.links[link].client.notifications.decide(index) {
      switch decision {
      case .settled(let session, let isOn):
        if let session { deliverNotify(characteristic, nil, isOn: isOn, on: link, to: session, &context) }
      case .configure(let isOn):
        configure(index, isOn: isOn, on: link, at: now, &context)
      }
    }
  }

  private mutating func configure(
    _ index: Int, isOn: Bool, on link: DaemonLinkIndex, at now: Instant, _ context: inout DaemonContext
  ) {
    let characteristic = context.links[link].client.notifications[index].characteristic
    let procedure = DiscoveryRequest.descriptors(of: characteristic)
    let session = context.links[link].client.notifications[index].changes.first?.session
    guard knows(procedure, on: link, context) else {
      context.links[link].client.notifications.beginFinding(index)
      find(procedure, for: session, on: link, at: now, &context)
      return
    }
    context.links[link].client.notifications.beginWriting(index)
    let database = context.database(of: link)
    guard
      let descriptor = database.descriptors(ofValue: characteristic)?.first(where: {
        $0.uuid == SystemAttribute.clientCharacteristicConfiguration
      })
    else {
      configured(characteristic, .att(.attributeNotFound), on: link, at: now, &context)
      return
    }
    let properties = database.characteristic(withValue: characteristic)?.properties ?? []
    // Apple prefers notifications where both are offered.
    let kind: GATTSubscription = properties.contains(.notify) ? .notification : .indication
    let value: GATTSubscription = isOn ? kind : []
    send(
      .write(descriptor.handle, value.octets), for: .configuration(characteristic), of: session, on: link, at: now,
      &context)
  }

  /// Continues a subscription after the discovery of the characteristic's descriptors.
  mutating func descriptorsFound(
    of characteristic: AttributeHandle, _ outcome: Result<Void, SessionError>, on link: DaemonLinkIndex,
    at now: Instant,
    _ context: inout DaemonContext
  ) {
    guard let index = context.links[link].client.notifications.index(of: characteristic),
      context.links[link].client.notifications[index].state == .findingDescriptor
    else { return }
    if case .failure(let error) = outcome {
      configured(characteristic, error, on: link, at: now, &context)
    } else {
      context.links[link].client.notifications.endFinding(index)
      advanceNotification(index, of: link, at: now, &context)
    }
  }

  /// Handles the peer's answer to a write of the Client Characteristic Configuration, or the failure to find it.
  mutating func configured(
    _ characteristic: AttributeHandle, _ error: SessionError?, on link: DaemonLinkIndex, at now: Instant,
    _ context: inout DaemonContext
  ) {
    guard let index = context.links[link].client.notifications.index(of: characteristic),
      let change = context.links[link].client.notifications.configured(index, succeeded: error == nil)
    else { return }
    if let session = change.session {
      let isOn = context.links[link].client.notifications[index].subscribers.contains(session)
      deliverNotify(characteristic, error, isOn: isOn, on: link, to: session, &context)
    }
    advanceNotification(index, of: link, at: now, &context)
  }

  private mutating func deliverNotify(
    _ characteristic: AttributeHandle, _ error: SessionError?, isOn: Bool, on link: DaemonLinkIndex,
    to session: CentralSessionID, _ context: inout DaemonContext
  ) {
    context.deliver(
      .notifyStateChanged(context.links[link].peer, RemoteAttributeID(characteristic), isNotifying: isOn, error),
      to: session)
  }

  /// Delivers a notification or an indication to all subscribed sessions.
  mutating func valueReceived(
    _ characteristic: AttributeHandle, _ value: ByteSlice, on link: DaemonLinkIndex, _ context: inout DaemonContext
  ) {
    guard let index = context.links[link].client.notifications.index(of: characteristic) else { return }
    let peer = context.links[link].peer
    for subscriber in context.links[link].client.notifications[index].subscribers.indices {
      let session = context.links[link].client.notifications[index].subscribers[subscriber]
      if let counters = context.sessions.counters(of: session), context.backlogs.discards(counters.backlog) { continue }
      context.deliver(.valueChanged(peer, RemoteAttributeID(characteristic), value), to: session)
    }
  }
}
