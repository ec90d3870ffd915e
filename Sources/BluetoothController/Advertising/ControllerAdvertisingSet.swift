import BluetoothWire

/// An advertising set: its settings and its activity · Vol 4, Part E, 7.8.53. Legacy advertising is a set without a
/// handle.
struct ControllerAdvertisingSet {
  /// The settings and the activity of periodic advertising.
  struct Periodic {
    var properties: PeriodicAdvertisingProperties
    var data = ByteSlice()
    var isDataPartial = false
    /// True if the host has enabled the train; it begins when the set advertises.
    var isEnabled = false
    var includesDataInfo = false
    /// The ADI of the train's data.
    var dataID: UInt16 = 0
    var advertiser: PeriodicAdvertiser?

    init(properties: PeriodicAdvertisingProperties) { self.properties = properties }

    /// Chooses the shortest interval that has time for the data, else the longest.
    mutating func chooseInterval(modulation: Modulation) {
      properties.interval = properties.intervals.lowerBound
      if !canCarryData(modulation: modulation) { properties.interval = properties.intervals.upperBound }
    }

    mutating func discardData() {
      data = ByteSlice()
      isDataPartial = false
    }

    /// True if an event ends before the next one begins.
    func canCarryData(modulation: Modulation) -> Bool {
      PeriodicAdvertiser.canCarry(
        data, interval: LL.SyncInfo.intervalUnit * Int64(properties.interval), modulation: modulation)
    }
  }

  let handle: HCI.AdvertisingHandle?
  var properties: AdvertisingProperties
  var randomAddress: DeviceAddress?
  /// The kinds of data whose change also changes the resolvable private address.
  var addressChanges: HCI.AddressChangeReasons = []
  var content = AdvertisingContent()
  var periodic: Periodic?
  /// The advertising state; nil while the set is disabled.
  var advertiser: Advertiser?

  init(handle: HCI.AdvertisingHandle?, properties: AdvertisingProperties) {
    self.handle = handle
    self.properties = properties
  }

  /// True if the set or its train is on the air, or about to be.
  var isInUse: Bool { advertiser != nil || periodic?.isEnabled == true }
  /// True if the data fit into an advertising event.
  var canCarryContent: Bool {
    properties.usesLegacyPDUs
      || content.canBeCarried(by: properties, hasTrain: periodic?.isEnabled == true)
  }

  /// Chooses the shortest interval that has time for the data, else the longest.
  mutating func chooseInterval() {
    properties.takeInterval(properties.intervals.lowerBound)
    if !canCarryContent { properties.takeInterval(properties.intervals.upperBound) }
  }

  /// Returns the error for parameters that contradict the set's data or activity; nil: they are possible · 7.8.53.
  func refusal(of new: AdvertisingProperties) -> HCI.ErrorCode? {
    if advertiser != nil { return .commandDisallowed }
    if periodic?.isEnabled == true && !new.canHaveTrain { return .invalidHCICommandParameters }
    // A running train keeps its PHY.
    if hasTrain && new.secondary.phy != properties.secondary.phy { return .commandDisallowed }
    let fits =
      !new.usesLegacyPDUs || max(content.data.count, content.response.count) <= LL.maximumAdvertisingDataLength
    return fits && (new.hasData || content.data.isEmpty) ? nil : .invalidHCICommandParameters
  }

  /// The set's next timeslots on the radio; nil while the set is disabled. Read-only; `mutating` avoids a copy of the
  /// set.
  var timeslots: Advertiser.Timeslots? {
    mutating get {
      let hasTrain = hasTrain
      return advertiser?.timeslots(hasSyncInfo: hasTrain)
    }
  }

  /// Begins an event: announces AUX_ADV_IND, if the set has one, and returns its timeslot.
  mutating func announce(at now: Instant, scheduler: RadioScheduler) -> Advertiser.AuxiliaryTimeslot? {
    let hasTrain = hasTrain
    return advertiser?.announce(at: now, hasSyncInfo: hasTrain, scheduler: scheduler)
  }

  var dataInfo: LL.AdvertisingDataInfo { LL.AdvertisingDataInfo(sid: properties.sid, did: content.dataID) }
  /// The ADI of AUX_SYNC_IND; nil: none.
  var trainDataInfo: LL.AdvertisingDataInfo? {
    guard let periodic, periodic.includesDataInfo else { return nil }
    return LL.AdvertisingDataInfo(sid: properties.sid, did: periodic.dataID)
  }
  // MARK: Addresses

  /// Returns the identity address of the set; each set has a separate random address · 7.8.52.
  func ownAddress(on device: inout LocalDevice) -> DeviceAddress? {
    switch properties.ownAddressType {
    case .public, .resolvableOrPublic: device.configuration.publicAddress
    case .random, .resolvableOrRandom: randomAddress
    }
  }

  /// Returns the address that the set can use: its identity address, or the private one for its peer · 7.8.56. An
  /// undirected anonymous set sends no address, so its own address type does not matter · 7.8.53.
  func usableAddress(on device: inout LocalDevice, at now: Instant) -> DeviceAddress? {
    let own = ownAddress(on: &device)
    if properties.isAnonymous && !properties.isDirected { return own ?? device.configuration.address }
    return device.usableAddress(properties.ownAddressType, to: properties.peer.deviceAddress, identity: own, at: now)
  }

  // MARK: Periodic advertising

  /// True if AUX_ADV_IND has SyncInfo.
  var hasTrain: Bool { periodic?.advertiser != nil }
  /// True if ADV_EXT_IND can't carry everything · Vol 6, Part B, 2.3.1.5: a connectable or scannable set has
  /// AUX_ADV_IND, and so has a set with data, without address, or with a periodic advertising train.
  var needsAuxiliary: Bool {
    !properties.usesLegacyPDUs
      && (properties.isAnswerable || properties.isAnonymous || !content.data.isEmpty || periodic?.isEnabled == true)
  }
}

/// All advertising sets, each in a slot with a fixed index.
///
/// A slot is an object because a set is large: a mutating access to an array element of this size allocates its frame
/// on the heap. The object outlives its set, so that a new set allocates nothing; a `SlotMap` would allocate an object
/// for each set. An index needs no generation, because the activities of a set are removed with it.
struct ControllerAdvertisingSets: ~Copyable {
  private final class Slot {
    @exclusivity(unchecked) var set: ControllerAdvertisingSet?

    init(_ set: ControllerAdvertisingSet) { self.set = set }
  }

  /// The maximum number of sets with a handle.
  static let capacity = 16

  private var slots: [Slot] = []
  /// The earliest time at which the duration of a set ends.
  private(set) var deadline = Instant.distantFuture

  var indices: Range<Int> { slots.indices }
  var isEmpty: Bool { slots.allSatisfy { $0.set == nil } }

  subscript(index: Int) -> ControllerAdvertisingSet? {
    @inline(__always) get { slots[index].set }
    _modify { yield &slots[index].set }
  }

  func index(of handle: HCI.AdvertisingHandle?) -> Int? {
    slots.firstIndex { $0.set != nil && $0.set?.handle == handle }
  }

  func contains(where condition: (borrowing ControllerAdvertisingSet) -> Bool) -> Bool {
    slots.contains { slot in slot.set.map { condition($0) } ?? false }
  }

  var isAdvertising: Bool { contains { $0.advertiser != nil } }

  /// Inserts a set and returns its index; nil if there is no room.
  mutating func insert(_ set: ControllerAdvertisingSet) -> Int? {
    if let vacant = slots.firstIndex(where: { $0.set == nil }) {
      slots[vacant].set = set
      return vacant
    }
    guard set.handle == nil || slots.count(where: { $0.set?.handle != nil }) < Self.capacity else { return nil }
    slots.append(Slot(set))
    return slots.count - 1
  }

  mutating func remove(_ index: Int) { slots[index].set = nil }
  mutating func removeAll() { self = ControllerAdvertisingSets() }

  /// Updates the deadline after sets have started or ended.
  mutating func refreshDeadline() {
    deadline = .distantFuture
    for index in slots.indices { deadline = min(deadline, slots[index].set?.advertiser?.events.end ?? .distantFuture) }
  }

  /// Returns a set whose duration has elapsed.
  func ended(at now: Instant) -> Int? {
    guard deadline <= now else { return nil }
    return slots.indices.first { slots[$0].set?.advertiser?.events.end ?? .distantFuture <= now }
  }
}
