import BluetoothDaemon
import BluetoothHost
import CoreBluetooth
import DequeModule
import NIOConcurrencyHelpers

/// An advertising set: one of several advertisements that a device sends at the same time, each with its own parameters
/// and data · Vol 6, Part B, 4.4.2.10.
///
/// ```swift
/// var near = AdvertisingParameters([.name("Near")])
/// near.interval = .milliseconds(100)
/// var far = AdvertisingParameters([.name("Far")])
/// far.extended = ExtendedAdvertising(primaryPHY: .leCoded, secondaryPHY: .leCoded)
/// let sets = [try await device.startAdvertisingSet(near), try await device.startAdvertisingSet(far)]
/// ```
///
/// The set advertises until `stop`, until Bluetooth is turned off, or until the last reference to the object is
/// released. The controller must have extended advertising; it has room for a limited number of sets.
public final class AdvertisingSet: Sendable {
  private let owner: LocalPeripheral
  let id: LocalSetID
  /// The reason for which the set has ended without `stop`; nil: it has not.
  let endReason = NIOLockedValueBox<(any Error)?>(nil)

  init(_ id: LocalSetID, of owner: LocalPeripheral) { (self.id, self.owner) = (id, owner) }

  deinit { owner.stopSet(id) }

  /// True while the set advertises.
  public var isAdvertising: Bool { owner.with { $0.sets[id]?.isAdvertising ?? false } }

  /// Advertises with other parameters and data from now on. Returns when they are on the air.
  ///
  /// Other data interrupt the advertising only if they are longer than 251 octets, and a periodic train only if its
  /// data are longer than 252 octets; other parameters interrupt both for a moment.
  ///
  /// - Parameters:
  ///   - parameters: the kind, the data and the timing of the set.
  ///   - limit: the time limit; nil: none. After its end, as after a cancellation, the set goes on, with the former or
  ///     the new values.
  /// - Throws: `AdvertisingError`, which ends the set, except for `invalidParameters`; `CBError.operationCancelled` if
  ///   the set has ended.
  public func update(_ parameters: AdvertisingParameters, within limit: TimeLimit? = nil) async throws {
    try await owner.update(id, parameters, within: limit)
  }

  /// Stops the set with its periodic train. It can't be started again.
  public func stop() { owner.stopSet(id) }

  /// Waits for the end of the set. Returns after `stop`, and throws the reason of any other end, also if the set has
  /// ended before the call.
  ///
  /// - Parameter limit: the time limit of the wait, after which the set goes on; nil: none.
  /// - Throws: `AdvertisingError` if the controller has ended the set, `CBError.operationCancelled` if Bluetooth was
  ///   turned off or the device closed.
  public func waitUntilStopped(within limit: TimeLimit? = nil) async throws {
    try await owner.waitForEnd(of: self, within: limit)
  }
}

/// The error of an advertising set.
public enum AdvertisingError: Error, Hashable, Sendable {
  /// A value is out of its range, or the values do not fit together.
  case invalidParameters
  /// The data are longer than the PDUs, or the controller, permit.
  case dataTooLong
  /// The controller has no extended advertising, no periodic advertising, or not the PHY.
  case notSupported
  /// The controller has no room for another set.
  case noRoom
  /// The controller has refused with this error code.
  case refused(HCIErrorCode)
  /// The controller has ended the set.
  case ended

  init(_ error: SessionError) {
    switch error {
    case .invalidParameters, .link(.invalidHCICommandParameters): self = .invalidParameters
    case .outOfSpace, .link(.packetTooLong): self = .dataTooLong
    case .notSupported, .link(.unsupportedFeatureOrParameterValue), .link(.unknownHCICommand): self = .notSupported
    case .link(.memoryCapacityExceeded), .link(.limitReached): self = .noRoom
    case .link(let code): self = .refused(code)
    default: self = .refused(.unspecifiedError)
    }
  }
}

extension AdvertisingError: CustomStringConvertible {
  /// The error as a sentence.
  public var description: String {
    switch self {
    case .invalidParameters: "The values are out of range, or do not fit together."
    case .dataTooLong: "The advertising data are too long."
    case .notSupported: "The controller does not support this advertising."
    case .noRoom: "The controller has no room for another advertising set."
    case .refused(let code): "The controller refused the advertising: \(code)."
    case .ended: "The controller has ended the advertising set."
    }
  }
}

extension LocalPeripheral {
  /// An advertising set in progress.
  struct SetEntry {
    /// `AdvertisingSet.endReason`, which outlives the entry.
    let endReason: NIOLockedValueBox<(any Error)?>
    var isAdvertising = false
    /// The starts and updates without an answer, in the order of the calls.
    var starts: Deque<PendingOperation<Void>> = []
    /// The calls that wait for the end.
    var waiters: [PendingOperation<Void>] = []

    /// Notes the reason of an end without `stop`. Called under the lock under which the entry is removed, so that a call
    /// which finds no entry finds the reason.
    func noteEnd(_ reason: any Error) { endReason.withLockedValue { $0 = reason } }

    /// Ends all calls.
    ///
    /// - Parameter error: the reason; nil: the app has stopped the set.
    func finish(_ error: (any Error)?) {
      for start in starts { start.fail(error ?? CBError.cancelled("The advertising set was stopped.")) }
      for waiter in waiters { waiter.finish(error.map { .failure($0) } ?? .success(())) }
    }
  }

  /// Starts an advertising set, beside all other advertising of this adapter. Returns when it advertises.
  ///
  /// - Parameters:
  ///   - parameters: the kind, the data and the timing of the set.
  ///   - limit: the time limit for the start; nil: none.
  /// - Throws: `AdvertisingError`, beside the errors of every call.
  public func startAdvertisingSet(
    _ parameters: AdvertisingParameters, within limit: TimeLimit? = nil
  ) async throws -> AdvertisingSet {
    guard let advertising = parameters.host else { throw AdvertisingError.invalidParameters }
    let id = with { state in
      state.setCount += 1
      return LocalSetID(number: state.setCount)
    }
    // The release of the object stops a set whose start has failed or was cancelled.
    let set = AdvertisingSet(id, of: self)
    try await limited(limit) { [self] in
      try Task.checkCancellation()
      let start = PendingOperation<Void>()
      try with { state in
        let manager = try manager(state)
        var entry = SetEntry(endReason: set.endReason)
        entry.starts.append(start)
        state.sets[id] = entry
        manager.start(id, advertising)
      }
      try await start.value(onCancel: {})
    }
    return set
  }

  func update(_ id: LocalSetID, _ parameters: AdvertisingParameters, within limit: TimeLimit?) async throws {
    guard let advertising = parameters.host else { throw AdvertisingError.invalidParameters }
    try await limited(limit) { [self] in
      try Task.checkCancellation()
      let start = PendingOperation<Void>()
      try with { state in
        let manager = try manager(state)
        guard state.sets[id] != nil else { throw CBError.cancelled("The advertising set has ended.") }
        state.sets[id]?.starts.append(start)
        manager.start(id, advertising)
      }
      try await start.value(onCancel: {})
    }
  }

  func stopSet(_ id: LocalSetID) {
    let entry = with { state -> SetEntry? in
      guard let entry = state.sets.removeValue(forKey: id) else { return nil }
      if let manager = try? manager(state) { manager.stop(id) }
      return entry
    }
    entry?.finish(nil)
  }

  func waitForEnd(of set: AdvertisingSet, within limit: TimeLimit?) async throws {
    try await limited(limit) { [self] in
      try Task.checkCancellation()
      let id = set.id
      let waiter = PendingOperation<Void>()
      let exists = with { state in
        state.sets[id]?.waiters.append(waiter)
        return state.sets[id] != nil
      }
      guard exists else {
        if let reason = set.endReason.withLockedValue({ $0 }) { throw reason }
        return
      }
      try await waiter.value(onCancel: { [weak self] in
        self?.with { state in state.sets[id]?.waiters.removeAll { $0 === waiter } }
      })
    }
  }

  func setStarted(_ id: LocalSetID, _ error: SessionError?) {
    let failure = error.map { AdvertisingError($0) }
    let (start, ended) = with { state -> (PendingOperation<Void>?, SetEntry?) in
      let start = state.sets[id]?.starts.popFirst()
      guard let failure else {
        if start != nil { state.sets[id]?.isAdvertising = true }
        return (start, nil)
      }
      let entry = state.sets.removeValue(forKey: id)
      entry?.noteEnd(failure)
      return (start, entry)
    }
    start?.finish(failure.map { .failure($0) } ?? .success(()))
    ended?.finish(failure)
  }

  func setEnded(_ id: LocalSetID) {
    let entry = with { state -> SetEntry? in
      let entry = state.sets.removeValue(forKey: id)
      entry?.noteEnd(AdvertisingError.ended)
      return entry
    }
    entry?.finish(AdvertisingError.ended)
  }
}
