import BluetoothWire

/// An advertising set: what the host has said of it, and what it is doing · Vol 4, Part E, 7.8.53. Legacy advertising is one
/// that has no handle.
struct AdvertisingSet {
  /// Periodic advertising, as far as the host has said something of it.
  struct Periodic {
    var properties: PeriodicAdvertisingProperties
    var data = ByteSlice()
    var isDataPartial = false
    /// The host wants the train; it begins when the set advertises.
    var isEnabled = false
    var includesDataInfo = false
    /// The ADI of the train's data.
    var dataID: UInt16 = 0
    var advertiser: PeriodicAdvertiser?

    init(properties: PeriodicAdvertisingProperties) { self.properties = properties }

    /// Takes the shortest interval that has time for the data, else the longest.
    mutating func chooseInterval(modulation: Modulation) {
      properties.interval = properties.intervals.lowerBound
      if !canCarryData(modulation: modulation) { properties.interval = properties.intervals.upperBound }
    }

    mutating func discardData() {
      data = ByteSlice()
      isDataPartial = false
    }

    /// Whether an event is over before the next one.
    func canCarryData(modulation: Modulation) -> Bool {
      PeriodicAdvertiser.canCarry(
        data, interval: LL.SyncInfo.intervalUnit * Int64(properties.interval), modulation: modulation)
    }
  }

  let handle: HCI.AdvertisingHandle?
  var properties: AdvertisingProperties
  var randomAddress: DeviceAddress?
  /// Which new data bring a new resolvable private address.
  var addressChanges: HCI.AddressChangeReasons = []
  var content = AdvertisingContent()
  var periodic: Periodic?
  /// nil: it is not enabled.
  var advertiser: Advertiser?

  init(handle: HCI.AdvertisingHandle?, properties: AdvertisingProperties) {
    self.handle = handle
    self.properties = properties
  }

  /// Whether it or its train is on the air, or about to be.
  var isInUse: Bool { advertiser != nil || periodic?.isEnabled == true }
  /// Whether the data fit into an advertising event.
  var canCarryContent: Bool {
    properties.usesLegacyPDUs
      || content.canBeCarried(by: properties, hasTrain: periodic?.isEnabled == true)
  }

  /// Takes the shortest interval that has time for the data, else the longest.
  mutating func chooseInterval() {
    properties.takeInterval(properties.intervals.lowerBound)
    if !canCarryContent { properties.takeInterval(properties.intervals.upperBound) }
  }

  /// The error for parameters that do not go with what the set has and does; nil: they do · 7.8.53.
  func refusal(of new: AdvertisingProperties) -> HCI.ErrorCode? {
    if advertiser != nil { return .commandDisallowed }
    if periodic?.isEnabled == true && !new.canHaveTrain { return .invalidHCICommandParameters }
    // A train goes on with the PHY that it has.
    if hasTrain && new.secondary.phy != properties.secondary.phy { return .commandDisallowed }
    let fits =
      !new.usesLegacyPDUs || max(content.data.count, content.response.count) <= LL.maximumAdvertisingDataLength
    return fits && (new.hasData || content.data.isEmpty) ? nil : .invalidHCICommandParameters
  }

  /// What the set wants of the radio next; nil: it is not enabled.
  ///
  /// It changes nothing: `mutating` has it read the set where it is instead of in a copy.
  var claims: Advertiser.Claims? {
    mutating get {
      let hasTrain = hasTrain
      return advertiser?.claims(hasSyncInfo: hasTrain)
    }
  }

  /// An event begins: announces AUX_ADV_IND, if the set has one, and says what that needs.
  mutating func announce(at now: Instant, agenda: RadioAgenda) -> Advertiser.AuxiliaryClaim? {
    let hasTrain = hasTrain
    return advertiser?.announce(at: now, hasSyncInfo: hasTrain, agenda: agenda)
  }

  var dataInfo: LL.AdvertisingDataInfo { LL.AdvertisingDataInfo(sid: properties.sid, did: content.dataID) }
  /// ADI of AUX_SYNC_IND; nil: it has none.
  var trainDataInfo: LL.AdvertisingDataInfo? {
    guard let periodic, periodic.includesDataInfo else { return nil }
    return LL.AdvertisingDataInfo(sid: properties.sid, did: periodic.dataID)
  }
  /// Whether AUX_ADV_IND has SyncInfo.
  var hasTrain: Bool { periodic?.advertiser != nil }
  /// Whether ADV_EXT_IND can't say it all · Vol 6, Part B, 2.3.1.5: a set that can be answered has AUX_ADV_IND, and so has
  /// one with data, without address, or with a periodic advertising train.
  var needsAuxiliary: Bool {
    !properties.usesLegacyPDUs
      && (properties.isAnswerable || properties.isAnonymous || !content.data.isEmpty || periodic?.isEnabled == true)
  }
}

/// All advertising sets, each in a slot whose number does not change.
///
/// A slot is an object: a set is large, and of an array's element of its size a changing access takes a frame from the heap.
struct AdvertisingSets: ~Copyable {
  private final class Slot {
    @exclusivity(unchecked) var set: AdvertisingSet?

    init(_ set: AdvertisingSet) { self.set = set }
  }

  /// How many sets with a handle there can be.
  static let capacity = 16

  private var slots: [Slot] = []
  /// When the first set ends by itself.
  private(set) var deadline = Instant.distantFuture

  var indices: Range<Int> { slots.indices }
  var isEmpty: Bool { slots.allSatisfy { $0.set == nil } }

  subscript(index: Int) -> AdvertisingSet? {
    _read { yield slots[index].set }
    _modify { yield &slots[index].set }
  }

  func index(of handle: HCI.AdvertisingHandle?) -> Int? {
    slots.firstIndex { $0.set != nil && $0.set?.handle == handle }
  }

  func contains(where condition: (borrowing AdvertisingSet) -> Bool) -> Bool {
    slots.contains { slot in slot.set.map { condition($0) } ?? false }
  }

  var isAdvertising: Bool { contains { $0.advertiser != nil } }

  /// Takes a set in; nil: there is no room for one more.
  mutating func insert(_ set: AdvertisingSet) -> Int? {
    if let vacant = slots.firstIndex(where: { $0.set == nil }) {
      slots[vacant].set = set
      return vacant
    }
    guard set.handle == nil || slots.count(where: { $0.set?.handle != nil }) < Self.capacity else { return nil }
    slots.append(Slot(set))
    return slots.count - 1
  }

  mutating func remove(_ index: Int) { slots[index].set = nil }
  mutating func removeAll() { self = AdvertisingSets() }

  /// Sets have begun or ended.
  mutating func refreshDeadline() {
    deadline = .distantFuture
    for index in slots.indices { deadline = min(deadline, slots[index].set?.advertiser?.events.end ?? .distantFuture) }
  }

  /// A set whose time is over.
  func ended(at now: Instant) -> Int? {
    guard deadline <= now else { return nil }
    return slots.indices.first { slots[$0].set?.advertiser?.events.end ?? .distantFuture <= now }
  }
}
