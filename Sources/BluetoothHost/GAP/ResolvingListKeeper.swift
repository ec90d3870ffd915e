import BluetoothWire

/// A device that is known by more than its address: what a bond brings · Vol 3, Part H, 2.4.2.
package struct HostIdentity: Hashable, Sendable {
  /// What the device is called, whatever addresses it uses.
  package var address: DeviceAddress
  private var peerSecret: Secret<UInt128>
  private var localSecret: Secret<UInt128>
  /// The device may use its identity address although it has private ones: device privacy mode · Vol 6, Part B, 4.7.
  package var isDevicePrivacy: Bool

  package init(address: DeviceAddress, peerKey: UInt128, localKey: UInt128, isDevicePrivacy: Bool = false) {
    self.address = address
    peerSecret = Secret(peerKey)
    localSecret = Secret(localKey)
    self.isDevicePrivacy = isDevicePrivacy
  }

  /// What its private addresses are made with; 0: it has none.
  package var peerKey: UInt128 {
    get { peerSecret.value }
    set { peerSecret.value = newValue }
  }
  /// What this device's private addresses are made with for it; 0: none.
  package var localKey: UInt128 {
    get { localSecret.value }
    set { localSecret.value = newValue }
  }
}

/// Brings the controller's resolving list to what is wanted, one command at a time, while it neither advertises nor scans
/// nor connects · Vol 4, Part E, 7.8.38 to 7.8.45, 7.8.77.
struct ResolvingListKeeper {
  private enum Step {
    case size
    case timeout
    case remove(HostIdentity)
    case add(HostIdentity)
    case mode(HostIdentity)
    case enable(Bool)
  }

  private var wanted: [HostIdentity] = []
  private var usesPrivateAddresses = false
  /// What the controller has.
  private var present: [HostIdentity] = []
  /// Those of `present` whose mode is set.
  private var inMode: Set<HostIdentity> = []
  private var isEnabled = false
  private var hasTimeout = false
  /// nil: not asked yet.
  private var capacity: Int?
  private var isUnusable = false
  private var inFlight: Step?
  /// How often the controller did not know somebody who is on its list. It may lose one who changes the address just then;
  /// some claim a list and have none.
  private var misses = 0
  private static let maximumMisses = 3
  /// The controller has known somebody by a private address.
  private(set) var isProven = false
  /// Something has changed since nothing was to be done.
  private(set) var isDirty = false

  mutating func set(_ identities: [HostIdentity], usesPrivateAddresses: Bool) {
    // A key of zeros resolves nothing, and an address stands in the list once.
    let former = (wanted, self.usesPrivateAddresses)
    wanted = identities.reduce(into: []) { list, identity in
      let isUseful = identity.peerKey != 0 || identity.localKey != 0
      if isUseful, !list.contains(where: { $0.address == identity.address }) { list.append(identity) }
    }
    self.usesPrivateAddresses = usesPrivateAddresses
    if former != (wanted, usesPrivateAddresses) { isDirty = true }
  }

  /// The controller was reset.
  mutating func forgetController() {
    let (wanted, usesPrivateAddresses) = (wanted, usesPrivateAddresses)
    self = ResolvingListKeeper()
    (self.wanted, self.usesPrivateAddresses) = (wanted, usesPrivateAddresses)
    isDirty = !wanted.isEmpty
  }

  /// The controller has no such list.
  mutating func leave() { isDirty = false }

  /// The identities that the controller resolves addresses to.
  var resolved: [DeviceAddress] { isEnabled ? present.map(\.address) : [] }

  /// Whether the controller knows a device by whatever private address it has.
  func resolves(_ identity: DeviceAddress) -> Bool {
    isEnabled && misses < Self.maximumMisses && present.contains { $0.address == identity }
  }

  /// The controller has reported an address as it was on the air that it should have resolved to this identity. True: it is
  /// not relied upon any more.
  ///
  /// - Parameter isCertain: it has been connecting to that one in vain, so once is enough.
  mutating func missed(_ identity: DeviceAddress, isCertain: Bool) -> Bool {
    guard resolves(identity) else { return false }
    misses = isCertain ? Self.maximumMisses : misses + 1
    return misses == Self.maximumMisses
  }

  /// The controller has resolved an address. True: nobody knew that it can.
  mutating func proved() -> Bool {
    defer { isProven = true }
    return !isProven
  }

  /// Whose key own private addresses are made with; nil: they are not private.
  var privateIdentity: DeviceAddress? {
    guard isEnabled, usesPrivateAddresses else { return nil }
    return present.first { $0.localKey != 0 }?.address
  }

  /// The next command; nil: there is nothing to do now.
  mutating func next(_ controller: ControllerFacts, timeout: UInt16) -> HCI.Command? {
    guard isDirty, inFlight == nil else { return nil }
    guard !isUnusable else {
      isDirty = false
      return nil
    }
    guard let capacity else { return send(.size, .leReadResolvingListSize) }
    let targets = wanted.prefix(capacity)
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
        // One that the controller does not like is done without.
        wanted.removeAll { $0 == identity }
      }
    case .mode(let identity): inMode.insert(identity)
    case .enable(let on):
      // Without it, the list is of no use.
      if isSuccess { isEnabled = on } else { isUnusable = true }
    case nil: break
    }
  }
}
