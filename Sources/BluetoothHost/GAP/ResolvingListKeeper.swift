import BluetoothWire

/// The state machine that synchronizes the controller's resolving list with the wanted identities, one command at a
/// time, while the controller neither advertises nor scans nor connects · Vol 4, Part E, 7.8.38 to 7.8.45, 7.8.77.
struct ResolvingListKeeper {
  private enum Step {
    case size
    case timeout
    case remove(HostIdentity)
    case add(HostIdentity)
    case mode(HostIdentity)
    case enable(Bool)
  }

  private var desired: [HostIdentity] = []
  private var usesPrivateAddresses = false
  /// The identities in the controller's list.
  private var present: [HostIdentity] = []
  /// The identities of `present` whose privacy mode is set.
  private var inMode: Set<HostIdentity> = []
  private var isEnabled = false
  private var hasTimeout = false
  /// The size of the controller's list; nil: not read yet.
  private var capacity: Int?
  private var isUnusable = false
  private var inFlight: Step?
  /// The number of times that the controller did not resolve an address of a device on its list. A controller may
  /// miss a device that is just changing its address; some controllers claim a list and have none.
  private var misses = 0
  private static let maximumMisses = 3
  /// True if the controller has resolved a private address.
  private(set) var isProven = false
  /// True if something has changed since the last time that no command was due.
  private(set) var isDirty = false

  mutating func set(_ identities: [HostIdentity], usesPrivateAddresses: Bool) {
    // A key of zeros resolves nothing, and the list holds each address only once.
    let former = (desired, self.usesPrivateAddresses)
    desired = identities.reduce(into: []) { list, identity in
      let isUseful = identity.peerKey != 0 || identity.localKey != 0
      if isUseful, !list.contains(where: { $0.address == identity.address }) { list.append(identity) }
    }
    self.usesPrivateAddresses = usesPrivateAddresses
    if former != (desired, usesPrivateAddresses) { isDirty = true }
  }

  /// Forgets the controller's state after a reset; the wanted identities stay.
  mutating func forgetController() {
    let (desired, usesPrivateAddresses) = (desired, usesPrivateAddresses)
    self = ResolvingListKeeper()
    (self.desired, self.usesPrivateAddresses) = (desired, usesPrivateAddresses)
    isDirty = !desired.isEmpty
  }

  /// Gives up the changes, because the controller has no resolving list.
  mutating func leave() { isDirty = false }

  /// The identities to which the controller resolves private addresses.
  var resolved: [DeviceAddress] { isEnabled ? present.map(\.address) : [] }

  /// Returns true if the host relies on the controller to resolve the private addresses of this device.
  func resolves(_ identity: DeviceAddress) -> Bool {
    isEnabled && misses < Self.maximumMisses && present.contains { $0.address == identity }
  }

  /// Notes that the controller has reported an unresolved address that belongs to this identity. Returns true if the
  /// host stops relying on the controller for it.
  ///
  /// - Parameter isCertain: True if the controller has been connecting to this device without success, so that a
  ///   single miss is sufficient.
  mutating func missed(_ identity: DeviceAddress, isCertain: Bool) -> Bool {
    guard resolves(identity) else { return false }
    misses = isCertain ? Self.maximumMisses : misses + 1
    return misses == Self.maximumMisses
  }

  /// Notes that the controller has resolved an address. Returns true if the resolving list was unproven until now.
  mutating func proved() -> Bool {
    defer { isProven = true }
    return !isProven
  }

  /// The identity whose local key generates this device's private addresses; nil: the controller generates none.
  var privateIdentity: DeviceAddress? {
    guard isEnabled, usesPrivateAddresses else { return nil }
    return present.first { $0.localKey != 0 }?.address
  }

  /// Returns the next command; nil: no command is due now.
  mutating func next(_ controller: ControllerCapabilities, timeout: UInt16) -> HCI.Command? {
    guard isDirty, inFlight == nil else { return nil }
    guard !isUnusable else {
      isDirty = false
      return nil
    }
    guard let capacity else { return send(.size, .leReadResolvingListSize) }
    let targets = desired.prefix(capacity)
    if let stale = present.first(where: { !targets.contains($0) }) {
      return send(.remove(stale), .leRemoveDeviceFromResolvingList(HCI.PeerAddress(stale.address)))
    }
    if let missing = targets.first(where: { !present.contains($0) }) {
      return send(
        .add(missing),
        .leAddDeviceToResolvingList(
          HCI.PeerAddress(missing.address), peerIRK: missing.peerKey, localIRK: missing.localKey))
    }
    if controller.supports(.leSetPrivacyMode),
      let identity = present.first(where: { $0.isDevicePrivacy && !inMode.contains($0) })
    {
      return send(.mode(identity), .leSetPrivacyMode(HCI.PeerAddress(identity.address), isDevicePrivacy: true))
    }
    if !hasTimeout, !present.isEmpty { return send(.timeout, .leSetResolvablePrivateAddressTimeout(timeout)) }
    if isEnabled == present.isEmpty {
      return send(.enable(!isEnabled), .leSetAddressResolutionEnable(!isEnabled))
    }
    isDirty = false
    return nil
  }

  private mutating func send(_ step: Step, _ command: HCI.Command) -> HCI.Command {
    inFlight = step
    return command
  }

  mutating func ended(_ status: HCI.ErrorCode, _ parameters: HCI.ReturnParameters?) {
    defer { inFlight = nil }
    let isSuccess = status == .success
    switch inFlight {
    case .size:
      if case .leResolvingListSize(let size)? = parameters { capacity = Int(size) } else { capacity = 0 }
    case .timeout: hasTimeout = true
    case .remove(let identity): present.removeAll { $0 == identity }
    case .add(let identity):
      if isSuccess {
        present.append(identity)
        inMode.remove(identity)
      } else if status == .memoryCapacityExceeded {
        capacity = present.count
      } else {
        // Leave out an identity that the controller rejects.
        desired.removeAll { $0 == identity }
      }
    case .mode(let identity): inMode.insert(identity)
    case .enable(let on):
      // The list has no effect while address resolution is disabled.
      if isSuccess { isEnabled = on } else { isUnusable = true }
    case nil: break
    }
  }
}
