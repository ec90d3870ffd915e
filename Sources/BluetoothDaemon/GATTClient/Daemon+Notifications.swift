import BluetoothHost
import BluetoothWire

extension Daemon {
  /// Subscribes a session to a characteristic's notifications or indications, or unsubscribes it.
  mutating func setNotify(
    _ isOn: Bool, _ attribute: RemoteAttributeID, at peer: PeerHandle, for session: CentralSessionID, now: Instant
  ) {
    guard let link = usedLink(of: peer, by: session) else { return }
    guard let characteristic = links[link].database.characteristic(withValue: attribute.handle) else {
      deliverNotify(attribute.handle, .att(.invalidHandle), isOn: false, on: link, to: session)
      return
    }
    guard !characteristic.properties.isDisjoint(with: [.notify, .indicate]) else {
      deliverNotify(attribute.handle, .att(.requestNotSupported), isOn: false, on: link, to: session)
      return
    }
    links[link].notifications.append(.init(session: session, isOn: isOn), for: attribute.handle)
    advanceNotifications(of: link, at: now)
  }

  /// Advances the changes of all characteristics as far as possible now.
  mutating func advanceNotifications(of link: Int, at now: Instant) {
    for index in links[link].notifications.entries.indices { advanceNotification(index, of: link, at: now) }
  }

  private mutating func advanceNotification(_ index: Int, of link: Int, at now: Instant) {
    let characteristic = links[link].notifications[index].characteristic
    while let decision = links[link].notifications.decide(index) {
      switch decision {
      case .settled(let session, let isOn):
        if let session { deliverNotify(characteristic, nil, isOn: isOn, on: link, to: session) }
      case .configure(let isOn):
        configure(index, isOn: isOn, on: link, at: now)
      }
    }
  }

  private mutating func configure(_ index: Int, isOn: Bool, on link: Int, at now: Instant) {
    let characteristic = links[link].notifications[index].characteristic
    let procedure = DiscoveryProcedure.descriptors(of: characteristic)
    guard links[link].database.knows(procedure) else {
      links[link].notifications[index].state = .findingDescriptor
      find(procedure, on: link, at: now)
      return
    }
    links[link].notifications[index].state = .writing
    guard
      let descriptor = links[link].database.descriptors(ofValue: characteristic)?.first(where: {
        $0.uuid == SystemAttribute.clientCharacteristicConfiguration
      })
    else {
      configured(characteristic, .att(.attributeNotFound), on: link, at: now)
      return
    }
    let properties = links[link].database.characteristic(withValue: characteristic)?.properties ?? []
    // Apple prefers notifications where both are offered.
    let kind: GATTSubscription = properties.contains(.notify) ? .notification : .indication
    let value: GATTSubscription = isOn ? kind : []
    send(.write(descriptor.handle, value.octets), for: .configuration(characteristic), on: link, at: now)
  }

  /// Continues a subscription after the discovery of the characteristic's descriptors.
  mutating func descriptorsFound(
    of characteristic: AttributeHandle, _ outcome: Result<Void, SessionError>, on link: Int, at now: Instant
  ) {
    guard let index = links[link].notifications.index(of: characteristic),
      links[link].notifications[index].state == .findingDescriptor
    else { return }
    if case .failure(let error) = outcome {
      configured(characteristic, error, on: link, at: now)
    } else {
      links[link].notifications[index].state = .idle
      advanceNotification(index, of: link, at: now)
    }
  }

  /// Handles the peer's answer to a write of the Client Characteristic Configuration, or the failure to find it.
  mutating func configured(
    _ characteristic: AttributeHandle, _ error: SessionError?, on link: Int, at now: Instant
  ) {
    guard let index = links[link].notifications.index(of: characteristic),
      let change = links[link].notifications.configured(index, succeeded: error == nil)
    else { return }
    if let session = change.session {
      let isOn = links[link].notifications[index].subscribers.contains(session)
      deliverNotify(characteristic, error, isOn: isOn, on: link, to: session)
    }
    advanceNotification(index, of: link, at: now)
  }

  private mutating func deliverNotify(
    _ characteristic: AttributeHandle, _ error: SessionError?, isOn: Bool, on link: Int, to session: CentralSessionID
  ) {
    deliver(
      .notifyStateChanged(links[link].peer, RemoteAttributeID(characteristic), isNotifying: isOn, error), to: session)
  }

  /// Delivers a notification or an indication to all subscribed sessions.
  mutating func valueReceived(_ characteristic: AttributeHandle, _ value: ByteSlice, on link: Int) {
    guard let index = links[link].notifications.index(of: characteristic) else { return }
    let peer = links[link].peer
    for subscriber in links[link].notifications[index].subscribers.indices {
      let session = links[link].notifications[index].subscribers[subscriber]
      if let counters = centralCounters(of: session), discards(counters.backlog) { continue }
      deliver(.valueChanged(peer, RemoteAttributeID(characteristic), value), to: session)
    }
  }
}
