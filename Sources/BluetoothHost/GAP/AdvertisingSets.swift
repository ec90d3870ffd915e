// Design: further advertising sets
//
// Further advertising sets (`PeripheralCommand.startSet`) exclude nothing. The host has a `HostAdvertiser` for each set
// (`AdvertisingSets`): it compares the requested set, with its periodic train, with what the controller holds, and
// sends one command at a time. A new link ends the advertising of one set: the only connectable one, else the one that
// LE Advertising Set Terminated names.

import BluetoothWire

/// The advertising sets of a host · Vol 4, Part E, 7.8.53: the main set, which also works with a controller that has
/// legacy commands only, and the further sets, which need extended commands.
struct AdvertisingSets {
  private struct Further {
    let handle: HCI.AdvertisingHandle
    var advertiser = HostAdvertiser()
  }

  private(set) var main = HostAdvertiser()
  /// The further sets in the order of their creation.
  private var others: [Further] = []
  /// The number of new links whose advertising set is not known yet. LE Advertising Set Terminated names the set.
  private var openLinks = 0

  /// The advertiser of a set, which is read and changed in place. The first change creates it.
  subscript(handle: HCI.AdvertisingHandle) -> HostAdvertiser {
    @inline(__always) get {
      if handle == .main {
        main
      } else if let index = index(of: handle) {
        others[index].advertiser
      } else {
        HostAdvertiser()
      }
    }
    _modify {
      if handle == .main {
        yield &main
      } else {
        let position = index(of: handle) ?? others.endIndex
        if position == others.endIndex { others.append(Further(handle: handle)) }
        yield &others[position].advertiser
      }
    }
  }

  private func index(of handle: HCI.AdvertisingHandle) -> Int? { others.firstIndex { $0.handle == handle } }

  /// The handles of all sets, the main set first.
  var handles: [HCI.AdvertisingHandle] { [HCI.AdvertisingHandle.main] + others.map(\.handle) }

  /// Returns true if the controller has accepted the parameters of this set, and the command does not remove the set.
  func holds(_ handle: HCI.AdvertisingHandle, despite command: HCI.Command) -> Bool {
    if case .leRemoveAdvertisingSet = command { false } else { !self[handle].isNew }
  }

  // MARK: All sets

  @inline(__always)
  var hasWork: Bool { main.hasWork || !others.isEmpty && others.contains { $0.advertiser.hasWork } }

  /// True if the controller neither advertises nor executes an advertising command.
  var isQuiet: Bool { main.isQuiet && others.allSatisfy(\.advertiser.isQuiet) }

  /// The next instant at which an advertiser must be called; nil: none.
  var deadline: Instant? {
    others.isEmpty ? main.deadline : others.reduce(main.deadline) { earliest($0, $1.advertiser.deadline) }
  }

  private mutating func forEach(_ body: (inout HostAdvertiser) -> Void) {
    body(&main)
    for index in others.indices { body(&others[index].advertiser) }
  }

  mutating func pause(_ isPaused: Bool) { forEach { $0.pause(isPaused) } }

  mutating func linkEnded() { forEach { $0.linkEnded() } }

  mutating func restart() { forEach { $0.restart() } }

  /// The sets for which a command may be due. No set is created while another is being removed, because the controller
  /// may have room only afterwards.
  var setsWithWork: [HCI.AdvertisingHandle] {
    guard !others.isEmpty else { return main.hasWork ? [.main] : [] }
    let isRemoving = main.isEnding || others.contains { $0.advertiser.isEnding }
    return handles.filter { self[$0].hasWork && !(isRemoving && self[$0].isRequested && self[$0].isNew) }
  }

  /// Handles an expired timer. Returns the sets whose advertising ends now.
  mutating func timeReached(_ now: Instant) -> [HCI.AdvertisingHandle] {
    guard let deadline, deadline <= now else { return [] }
    var ended: [HCI.AdvertisingHandle] = []
    for handle in handles where self[handle].timeReached(now) { ended.append(handle) }
    return ended
  }

  // MARK: Further sets

  /// Starts the advertising of a set, in place of its former one.
  mutating func start(_ advertising: HostAdvertising, on handle: HCI.AdvertisingHandle) {
    if handle != .main {
      // The controller has room for a limited number of sets.
      main.removeUnusedSet()
      self[handle].removeUnusedSet()
      self[handle].pause(main.isPaused)
    }
    self[handle].start(advertising)
  }

  /// Stops the advertising of a set. A further set is then removed from the controller.
  mutating func stop(_ handle: HCI.AdvertisingHandle) {
    guard handles.contains(handle) else { return }
    self[handle].stop()
    removeUnused()
  }

  /// Forgets the further sets that the controller does not hold any more.
  mutating func removeUnused() {
    guard !others.isEmpty else { return }
    others.removeAll { $0.advertiser.isUnused }
  }

  /// Cancels everything that needs extended commands, because the controller has legacy commands only. Returns the sets
  /// whose start is answered with a failure, and those whose advertising ends.
  mutating func fallBack() -> (failed: [HCI.AdvertisingHandle], ended: [HCI.AdvertisingHandle]) {
    var failed: [HCI.AdvertisingHandle] = []
    if case .failure? = main.fallBack() { failed.append(.main) }
    failed += others.filter(\.advertiser.isAwaited).map(\.handle)
    let ended = others.filter { $0.advertiser.isRequested && !$0.advertiser.isAwaited }.map(\.handle)
    others.removeAll()
    return (failed, ended)
  }

  // MARK: Links

  /// Handles a new link in the peripheral role, which ends the advertising of the set to which the central has
  /// responded · Vol 4, Part E, 7.8.56. If several sets are connectable, LE Advertising Set Terminated names the set.
  mutating func linkCreated() {
    guard !others.isEmpty else { return main.linkCreated() }
    let connectable = handles.filter { self[$0].isConnectable }
    guard let only = connectable.first, connectable.count == 1 else {
      openLinks += connectable.isEmpty ? 0 : 1
      return
    }
    self[only].linkCreated()
  }

  /// Handles LE Advertising Set Terminated. Returns true if the set's advertising does not start again.
  mutating func terminated(_ handle: HCI.AdvertisingHandle, _ status: HCI.ErrorCode) -> Bool {
    guard handles.contains(handle) else { return false }
    guard status == .success else { return self[handle].setTerminated(status) }
    if openLinks > 0 {
      openLinks -= 1
      self[handle].linkCreated()
    }
    return false
  }
}
