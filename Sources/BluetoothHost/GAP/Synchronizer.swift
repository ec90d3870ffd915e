// Design: received trains
//
// Trains that are received are `SyncID`s of the host's `Synchronizer`. A controller looks for one train at a time, so
// the host looks for awaited ones in turn, and scans meanwhile. `TrainBroker` lets sessions share a train.

import BluetoothWire

/// The host's synchronization to periodic trains · Vol 3, Part C, 9.5; Vol 4, Part E, 7.8.67 to 7.8.69. It compares the
/// requested trains with the controller's state and issues one command at a time.
///
/// A controller looks for one train at a time. If several trains are awaited, the host looks for each in turn, so that
/// an absent advertiser does not keep it from the others.
struct Synchronizer {
  /// The time for which the controller looks for one train while others are awaited, too.
  static let turn = TimeSpan.seconds(5)

  private struct Train {
    let id: SyncID
    let request: SyncRequest
    /// The handle of the synchronization; nil: the train is awaited.
    var handle: HCI.SyncHandle?
    /// The beginning of data that come in several reports.
    var octets: [UInt8] = []
    var isOverlong = false
  }

  private enum Step {
    case create, cancel
    case terminate(HCI.SyncHandle)
  }

  /// The requested trains. The awaited ones are in the order in which the host looks for them.
  private var trains: [Train] = []
  /// The synchronizations that the controller must end, because their requests have been withdrawn.
  private var unwanted: [HCI.SyncHandle] = []
  /// The end of the turn of `wanted`.
  private var turnEnd = Instant.distantFuture
  /// The train for which the controller looks; nil: none.
  private var wanted: SyncID?
  private var isTurnOver = false
  /// True if the host has cancelled the search for `wanted`, whose end has not been reported yet.
  private var isCancelled = false
  private var inFlight: Step?
  private var isPaused = false
  /// True if the scanning that the host needs may have changed.
  var isChanged = false

  /// The number of requested trains.
  var count: Int { trains.count }

  // MARK: Requests

  /// Adds a request. Returns false if the train has been requested already.
  mutating func start(_ id: SyncID, _ request: SyncRequest) -> Bool {
    guard !trains.contains(where: { $0.request.isSameTrain(as: request) || $0.id == id }) else { return false }
    trains.append(Train(id: id, request: request))
    isChanged = true
    return true
  }

  mutating func stop(_ id: SyncID) {
    guard let index = trains.firstIndex(where: { $0.id == id }) else { return }
    if let handle = trains.remove(at: index).handle { unwanted.append(handle) }
    isChanged = true
  }

  /// Removes all requests and forgets the controller's state. Returns the requests.
  mutating func removeAll() -> [SyncID] {
    let (all, isPaused) = (trains.map(\.id), isPaused)
    self = Synchronizer()
    (self.isPaused, isChanged) = (isPaused, !all.isEmpty)
    return all
  }

  // MARK: Commands

  /// True if the host must scan: the controller synchronizes only while it scans.
  var listens: Bool { !isPaused && trains.contains { $0.handle == nil } }

  /// True if an awaited train is announced on LE Coded.
  var includesLECoded: Bool { trains.contains { $0.handle == nil && $0.request.includesLECoded } }

  /// Suspends or resumes the search for trains. Established synchronizations go on.
  mutating func pause(_ isPaused: Bool) {
    guard isPaused != self.isPaused else { return }
    self.isPaused = isPaused
    isChanged = true
  }

  /// True if the controller neither looks for a train nor executes a command.
  var isQuiet: Bool { wanted == nil && inFlight == nil }

  /// True if the search for `wanted` must end.
  private var mustCancel: Bool {
    guard let wanted, !isCancelled else { return false }
    return isPaused || isTurnOver || !trains.contains { $0.id == wanted }
  }

  /// The train for which the controller looks next; nil: none.
  private var next: Train? { isPaused || wanted != nil ? nil : trains.first { $0.handle == nil } }

  /// True if a command is due.
  var hasWork: Bool {
    if isChanged { return true }
    guard !trains.isEmpty || wanted != nil || !unwanted.isEmpty, inFlight == nil else { return false }
    return !unwanted.isEmpty || mustCancel || next != nil
  }

  /// The next instant at which `timeReached` must be called; nil: none.
  var deadline: Instant? {
    wanted == nil || isTurnOver || isCancelled || trains.count { $0.handle == nil } < 2 ? nil : turnEnd
  }

  mutating func timeReached(_ now: Instant) {
    if let deadline, deadline <= now { isTurnOver = true }
  }

  /// Returns the next command; nil: none is due now.
  mutating func nextCommand(at now: Instant) -> HCI.Command? {
    guard inFlight == nil else { return nil }
    if let handle = unwanted.first {
      inFlight = .terminate(handle)
      return .lePeriodicAdvertisingTerminateSync(handle)
    }
    if mustCancel {
      inFlight = .cancel
      isCancelled = true
      return .lePeriodicAdvertisingCreateSyncCancel
    }
    guard let next else { return nil }
    inFlight = .create
    (wanted, isCancelled, isTurnOver, turnEnd) = (next.id, false, false, now + Self.turn)
    return .lePeriodicAdvertisingCreateSync(
      HCI.PeriodicAdvertisingCreateSync(
        advertiser: HCI.PeriodicAdvertiser(
          HCI.PeerAddress(next.request.advertiser), advertisingSID: next.request.advertisingSID),
        keeping: HCI.SyncKeeping(skip: next.request.skip, timeout: next.request.timeout)))
  }

  /// Handles the end of a command. Returns the event for the upper layer; nil: none.
  mutating func ended(_ status: HCI.ErrorCode) -> (SyncID, SyncEvent)? {
    let step = inFlight
    inFlight = nil
    switch step {
    case .create: return status == .success ? nil : searchEnded(status)
    case .cancel:
      // A refusal means that the controller does not look for a train any more.
      if status != .success { wanted = nil }
    case .terminate(let handle): unwanted.removeAll { $0 == handle }
    case nil: break
    }
    return nil
  }

  // MARK: Events

  /// Handles LE Periodic Advertising Sync Established. Returns the event for the upper layer; nil: none.
  mutating func established(_ status: HCI.ErrorCode, _ sync: HCI.PeriodicSync) -> (SyncID, SyncEvent)? {
    guard status == .success else { return searchEnded(status) }
    let index = trains.firstIndex {
      $0.handle == nil && $0.request.advertisingSID == sync.advertiser.advertisingSID
        && $0.request.advertiser == sync.advertiser.address.deviceAddress
    }
    guard let index else {
      // The request was withdrawn before the event arrived.
      wanted = nil
      unwanted.append(sync.handle)
      return nil
    }
    if wanted == trains[index].id { wanted = nil }
    trains[index].handle = sync.handle
    isChanged = true
    return (trains[index].id, .established(SyncProperties(sync)))
  }

  /// Handles the end of the search without a synchronization.
  private mutating func searchEnded(_ status: HCI.ErrorCode) -> (SyncID, SyncEvent)? {
    guard let id = wanted else { return nil }
    wanted = nil
    guard let index = trains.firstIndex(where: { $0.id == id }) else { return nil }
    let train = trains.remove(at: index)
    isChanged = true
    switch status {
    // The controller has found the train and lost it again, or its turn is over: it is looked for again.
    case .operationCancelledByHost, .connectionFailedToBeEstablished:
      trains.append(train)
      return nil
    default: return (id, .ended(.refused(.controller(status))))
    }
  }

  /// Handles LE Periodic Advertising Report. Returns the event for the upper layer; nil: more reports belong to the
  /// same data, or the request has been withdrawn.
  mutating func received(_ report: HCI.PeriodicAdvertisingReport) -> (SyncID, SyncEvent)? {
    guard let index = trains.firstIndex(where: { $0.handle == report.handle }) else { return nil }
    let isFirst = trains[index].octets.isEmpty
    if isFirst, report.status != .moreToCome {
      return (trains[index].id, .report(PeriodicReport(report, report.data, isTruncated: report.status == .truncated)))
    }
    let room = HostAdvertising.maximumExtendedLength - trains[index].octets.count
    if report.data.count > room { trains[index].isOverlong = true }
    trains[index].octets += report.data.prefix(room).bytes
    guard report.status != .moreToCome else { return nil }
    let isTruncated = report.status == .truncated || trains[index].isOverlong
    let octets = exchange(&trains[index].octets, with: [])
    trains[index].isOverlong = false
    return (trains[index].id, .report(PeriodicReport(report, ByteSlice(octets), isTruncated: isTruncated)))
  }

  /// Handles LE Periodic Advertising Sync Lost. Returns the event for the upper layer; nil: none.
  mutating func lost(_ handle: HCI.SyncHandle) -> (SyncID, SyncEvent)? {
    guard let index = trains.firstIndex(where: { $0.handle == handle }) else { return nil }
    return (trains.remove(at: index).id, .ended(.lost))
  }
}
