import BluetoothWire

/// The trains that are received, the synchronization request, the Periodic Advertiser List and the transfer
/// parameters · Vol 6, Part B, 4.4.5; Vol 4, Part E, 7.8.67 to 7.8.73.
struct PeriodicSyncs {
  /// The maximum number of trains received at once.
  static let capacity = 16
  /// The size of the Periodic Advertiser List.
  static let listCapacity = 16

  /// LE Periodic Advertising Create Sync, until it is completed.
  struct Request {
    let command: HCI.PeriodicAdvertisingCreateSync
    /// The train that was found and of which no packet has arrived yet.
    var handle: HCI.SyncHandle?
  }

  private var slots: [PeriodicSync?] = []
  private var lastHandle = HCI.SyncHandle.maximum.rawValue
  var request: Request?
  private(set) var list: [HCI.PeriodicAdvertiser] = []
  /// The transfer parameters of connections with parameters other than `defaultTransfer`.
  private(set) var transfers: [(connection: HCI.ConnectionHandle, parameters: HCI.SyncTransferParameters)] = []
  /// The transfer parameters of all other connections; at first, transfers are ignored.
  var defaultTransfer = HCI.SyncTransferParameters(mode: .ignored, keeping: HCI.SyncKeeping(timeout: 0))
  /// The earliest expiry of a synchronization timeout.
  private(set) var deadline = Instant.distantFuture

  var indices: Range<Int> { slots.indices }

  subscript(index: Int) -> PeriodicSync? {
    get { slots.indices.contains(index) ? slots[index] : nil }
    set {
      guard slots.indices.contains(index), let newValue else { return }
      let isLater = slots[index]?.deadline == deadline
      slots[index] = newValue
      if isLater { refreshDeadline() } else { deadline = min(deadline, newValue.deadline) }
    }
  }

  func index(of handle: HCI.SyncHandle) -> Int? { slots.firstIndex { $0?.handle == handle } }

  /// True if the train of the advertiser with this identity is received already.
  func contains(_ advertiser: DeviceAddress, _ sid: UInt8) -> Bool {
    slots.contains { $0?.advertiser.identity == advertiser && $0?.advertisingSID == sid }
  }

  /// The index for another train; nil: no room.
  var vacantIndex: Int? { slots.firstIndex { $0 == nil } ?? (slots.count < Self.capacity ? slots.count : nil) }

  mutating func insert(_ sync: PeriodicSync, at index: Int) {
    if index == slots.count { slots.append(sync) } else { slots[index] = sync }
    deadline = min(deadline, sync.deadline)
  }

  mutating func remove(_ index: Int, scheduler: inout RadioScheduler) {
    guard let sync = self[index] else { return }
    scheduler.remove(sync.activityID)
    slots[index] = nil
    if request?.handle == sync.handle { request = nil }
    refreshDeadline()
  }

  private mutating func refreshDeadline() {
    deadline = .distantFuture
    for index in slots.indices { deadline = min(deadline, slots[index]?.deadline ?? .distantFuture) }
  }

  /// Returns the next handle. Handles, 0x0000 to 0x0EFF, are assigned in turn, so that a new train never gets the
  /// handle of a train that was just lost.
  mutating func newHandle() -> HCI.SyncHandle {
    repeat {
      lastHandle = lastHandle >= HCI.SyncHandle.maximum.rawValue ? 0 : lastHandle + 1
    } while index(of: HCI.SyncHandle(rawValue: lastHandle)) != nil
    return HCI.SyncHandle(rawValue: lastHandle)
  }

  /// True if the request may be for this set of the advertiser with this identity; nil stands for an unknown value,
  /// which may match.
  func wants(_ advertiser: DeviceAddress?, _ sid: UInt8?) -> Bool {
    guard let request, request.handle == nil else { return false }
    if let advertiser, let sid, contains(advertiser, sid) { return false }
    func matches(_ wanted: HCI.PeriodicAdvertiser) -> Bool {
      (sid == nil || wanted.advertisingSID == sid)
        && (advertiser == nil || wanted.address.deviceAddress == advertiser)
    }
    return request.command.options.contains(.usesAdvertiserList)
      ? list.contains(where: matches) : matches(request.command.advertiser)
  }

  // MARK: The Periodic Advertiser List · 4.3.5

  mutating func add(_ advertiser: HCI.PeriodicAdvertiser) -> HCI.ErrorCode {
    guard !isListInUse else { return .commandDisallowed }
    guard advertiser.address.type <= 1, !list.contains(advertiser) else { return .invalidHCICommandParameters }
    guard list.count < Self.listCapacity else { return .memoryCapacityExceeded }
    list.append(advertiser)
    return .success
  }

  mutating func remove(_ advertiser: HCI.PeriodicAdvertiser) -> HCI.ErrorCode {
    guard !isListInUse else { return .commandDisallowed }
    guard advertiser.address.type <= 1 else { return .invalidHCICommandParameters }
    guard let index = list.firstIndex(of: advertiser) else { return .unknownAdvertisingIdentifier }
    list.remove(at: index)
    return .success
  }

  mutating func clearList() -> HCI.ErrorCode {
    guard !isListInUse else { return .commandDisallowed }
    list.removeAll()
    return .success
  }

  /// True while a request is pending, whether it uses the list or not: the list can't be changed then · 7.8.70 to
  /// 7.8.72.
  private var isListInUse: Bool { request != nil }

  // MARK: Transfers · 7.8.91, 7.8.92

  func transfer(of connection: HCI.ConnectionHandle) -> HCI.SyncTransferParameters? {
    transfers.first { $0.connection == connection }?.parameters
  }

  mutating func setTransfer(_ parameters: HCI.SyncTransferParameters, of connection: HCI.ConnectionHandle) {
    forgetTransfer(of: connection)
    transfers.append((connection, parameters))
  }

  mutating func forgetTransfer(of connection: HCI.ConnectionHandle) {
    transfers.removeAll { $0.connection == connection }
  }
}
