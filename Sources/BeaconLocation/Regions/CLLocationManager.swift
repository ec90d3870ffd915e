// Overview
//
// Apps for beacons use Core Location, not Core Bluetooth. BeaconLocation has the interface of Core Location for regions
// and ranging of iBeacons, frames of Eddystone, and distances from signal strengths with their uncertainty.
//
// The idea: a beacon is a packet, so nothing but a passive scan is needed. `CLLocationManager` scans with
// CoreBluetoothExtras and feeds an engine, `BeaconTracker`, with packets and the time; the tracker gives the events
// (entered, left, ranged), and the manager calls the delegate.
//
// Callers: apps, and `ble` for distances and frames of Eddystone. The module calls CoreBluetoothExtras' `Central`, and
// BluetoothWire for the formats of beacons. It makes no connection and knows no position on the earth.
//
// Invariants:
// - The tracker has no clock: tests feed it packets and instants, and virtual time works.
// - A device leaves a region only after a time without a packet (`exitDelay`), so the border does not flicker.
// - A distance is never one number: `DistanceEstimate` has its interval, and the distance is unknown where the level
//   is.
// - The scan runs only while something is monitored or ranged, and transmits nothing.
//
// Where to begin: this file and `BeaconTracker.swift`; `DistanceModel.swift` for distances; `EddystoneFrame.swift` for
// Eddystone.
//
// Specification: Apple's documentation of Core Location, and the formats of iBeacon and Eddystone.
// Documentation/Beacons.md lists what differs.

import CoreBluetooth
import CoreBluetoothExtras
import NIOConcurrencyHelpers

/// Monitors the regions of beacons, and ranges beacons, with the interface of Core Location's class.
///
/// ```swift
/// let manager = CLLocationManager()
/// manager.delegate = visitor
/// manager.startMonitoring(for: CLBeaconRegion(uuid: museum, identifier: "museum"))
/// manager.startRangingBeacons(satisfying: CLBeaconIdentityConstraint(uuid: museum))
/// ```
///
/// The manager scans passively while it monitors or ranges, and transmits nothing. The app must retain it. Where the
/// interface differs from Apple's, `Documentation/Beacons.md` says so.
public final class CLLocationManager: NSObject, @unchecked Sendable {
  // Unchecked: `content` has a lock, and the delegate, which may not be Sendable, is called on its queue only.

  private struct State {
    weak var delegate: (any CLLocationManagerDelegate)?
    var tracker = BeaconTracker()
    var regions: [String: CLRegion] = [:]
    var ranged: [BeaconConstraint: CLBeaconIdentityConstraint] = [:]
    /// The regions that `startRangingBeacons(in:)` ranges, by their identifiers.
    var rangedRegions: [String: CLBeaconRegion] = [:]
    /// The tasks that scan and keep the time; none while nothing is monitored or ranged.
    var tasks: [Task<Void, Never>] = []

    /// Returns the ranged regions with this constraint, in the order of their identifiers.
    func regionsRanged(by constraint: BeaconConstraint) -> [CLBeaconRegion] {
      rangedRegions.values.filter { $0.beaconIdentityConstraint.constraint == constraint }
        .sorted { $0.identifier < $1.identifier }
    }

    /// Ends the ranging of the constraint if the app ranges neither it nor a region with it.
    mutating func stopRangingIfUnused(_ constraint: BeaconConstraint) {
      guard ranged[constraint] == nil, regionsRanged(by: constraint).isEmpty else { return }
      tracker.stopRanging(constraint)
    }
  }

  private let central: Central
  private let queue: DispatchQueue?
  private let executor: (any TaskExecutor)?
  /// The time since the manager was created.
  private let elapsed: @Sendable () -> Duration
  private let sleep: @Sendable (Duration) async throws -> Void
  private let content = NIOLockedValueBox(State())

  /// Creates a manager.
  ///
  /// - Parameters:
  ///   - adapter: the adapter, as for `Central`; nil: the default adapter.
  ///   - clock: the clock of rangings and exits; in a world, its clock.
  ///   - executor: the executor of the manager's tasks; nil: the global one.
  ///   - queue: the queue on which the delegate is called; nil: the delegate is called by the manager's tasks.
  public init(
    adapter: Any? = nil, clock: some Clock<Duration> = ContinuousClock(), executor: (any TaskExecutor)? = nil,
    queue: DispatchQueue? = .main
  ) {
    central = Central(adapter: adapter)
    self.executor = executor
    self.queue = queue
    let start = clock.now
    elapsed = { start.duration(to: clock.now) }
    sleep = { try await clock.sleep(for: $0) }
    super.init()
  }

  deinit {
    for task in content.withLockedValue({ $0.tasks }) { task.cancel() }
    central.close()
  }

  /// The receiver of events, which the manager holds weakly. A new delegate is told the authorization first.
  public var delegate: (any CLLocationManagerDelegate)? {
    get { content.withLockedValue { $0.delegate } }
    set {
      content.withLockedValue { $0.delegate = newValue }
      if newValue != nil { tell { $1.locationManagerDidChangeAuthorization($0) } }
    }
  }

  /// The model with which distances are estimated. Core Location has no such property.
  public var distanceModel: DistanceModel {
    get { content.withLockedValue { $0.tracker.model } }
    set { content.withLockedValue { $0.tracker.model = newValue } }
  }

  /// The time without a packet after which the device has left a region, 30 s by default. Core Location has no such
  /// property.
  public var exitDelay: Duration {
    get { content.withLockedValue { $0.tracker.exitDelay } }
    set { content.withLockedValue { $0.tracker.exitDelay = newValue } }
  }

  // MARK: Authorization

  /// The permission of the app to use locations: always `authorizedAlways`. The app needs the permission to use
  /// Bluetooth; without it, monitoring and ranging fail.
  public var authorizationStatus: CLAuthorizationStatus { .authorizedAlways }

  /// The accuracy that the app may use: always `fullAccuracy`.
  public var accuracyAuthorization: CLAccuracyAuthorization { .fullAccuracy }

  /// Returns true: there is no setting that turns location services off.
  public static func locationServicesEnabled() -> Bool { true }

  /// Returns `authorizedAlways`.
  @available(*, deprecated, message: "use the property authorizationStatus of a manager")
  public static func authorizationStatus() -> CLAuthorizationStatus { .authorizedAlways }

  /// Has no effect: the app has the permission.
  public func requestWhenInUseAuthorization() {}

  /// Has no effect: the app has the permission.
  public func requestAlwaysAuthorization() {}

  // MARK: Monitoring

  /// Returns true for regions of beacons, which are the only ones that can be monitored.
  public static func isMonitoringAvailable(for regionClass: AnyClass) -> Bool { regionClass == CLBeaconRegion.self }

  /// The monitored regions.
  public var monitoredRegions: Set<CLRegion> { content.withLockedValue { Set($0.regions.values) } }

  /// Begins to monitor a region of beacons; other regions fail. A region with the same identifier is replaced.
  ///
  /// The delegate is told the state when it is known: inside with the first packet, outside after `exitDelay`. Entries
  /// and exits are changes of that state, so that a device which begins inside does not enter.
  public func startMonitoring(for region: CLRegion) {
    guard let beacons = region as? CLBeaconRegion else {
      return tell { $1.locationManager($0, monitoringDidFailFor: region, withError: CLError(.regionMonitoringFailure)) }
    }
    let now = elapsed()
    content.withLockedValue { state in
      state.regions[region.identifier] = region
      state.tracker.monitor(region.identifier, beacons.beaconIdentityConstraint.constraint, at: now)
    }
    tell { $1.locationManager($0, didStartMonitoringFor: region) }
    begin()
  }

  /// Ends the monitoring of the region with this identifier.
  public func stopMonitoring(for region: CLRegion) {
    content.withLockedValue { state in
      state.regions[region.identifier] = nil
      state.tracker.stopMonitoring(region.identifier)
    }
    endIfIdle()
  }

  /// Tells the delegate the state of a monitored region; `unknown` for another one.
  public func requestState(for region: CLRegion) {
    let state = content.withLockedValue { $0.tracker.state(of: region.identifier) } ?? .unknown
    tell { $1.locationManager($0, didDetermineState: state, for: region) }
  }

  // MARK: Ranging

  /// Returns true: any adapter can range.
  public static func isRangingAvailable() -> Bool { true }

  /// The constraints whose beacons are ranged.
  public var rangedBeaconConstraints: Set<CLBeaconIdentityConstraint> {
    content.withLockedValue { Set($0.ranged.values) }
  }

  /// Begins to report the beacons that the constraint selects, once per second.
  ///
  /// The level is the mean of the last three seconds. A beacon without a packet in that time has an unknown distance, and
  /// is left out after 10 s.
  public func startRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint) {
    let now = elapsed()
    content.withLockedValue { state in
      state.ranged[constraint.constraint] = constraint
      state.tracker.range(constraint.constraint, at: now)
    }
    begin()
  }

  /// Ends the reports for the constraint.
  public func stopRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint) {
    content.withLockedValue { state in
      state.ranged[constraint.constraint] = nil
      state.stopRangingIfUnused(constraint.constraint)
    }
    endIfIdle()
  }

  /// The regions whose beacons `startRangingBeacons(in:)` ranges.
  @available(*, deprecated, message: "use rangedBeaconConstraints")
  public var rangedRegions: Set<CLRegion> { content.withLockedValue { Set($0.rangedRegions.values) } }

  /// Begins to report the beacons of a region, once per second, as `startRangingBeacons(satisfying:)` does for a
  /// constraint. A region with the same identifier is replaced. The delegate gets the beacons by
  /// `locationManager(_:didRangeBeacons:in:)`.
  @available(*, deprecated, message: "use startRangingBeacons(satisfying:)")
  public func startRangingBeacons(in region: CLBeaconRegion) {
    let now = elapsed()
    content.withLockedValue { state in
      let replaced = state.rangedRegions.updateValue(region, forKey: region.identifier)
      state.tracker.range(region.beaconIdentityConstraint.constraint, at: now)
      if let replaced { state.stopRangingIfUnused(replaced.beaconIdentityConstraint.constraint) }
    }
    begin()
  }

  /// Ends the reports for the region with this identifier.
  @available(*, deprecated, message: "use stopRangingBeacons(satisfying:)")
  public func stopRangingBeacons(in region: CLBeaconRegion) {
    content.withLockedValue { state in
      guard let ranged = state.rangedRegions.removeValue(forKey: region.identifier) else { return }
      state.stopRangingIfUnused(ranged.beaconIdentityConstraint.constraint)
    }
    endIfIdle()
  }

  // MARK: Scanning

  /// Starts the tasks, unless they run.
  private func begin() {
    content.withLockedValue { state in
      guard state.tasks.isEmpty else { return }
      // The tasks don't retain the manager: its deinitializer ends them.
      let scan = Task(executorPreference: executor) { [weak self, central] in
        while !Task.isCancelled {
          do { try await central.waitUntilPoweredOn() } catch {
            // A cancelled task must not report a failure: other tasks may scan for other regions by now.
            if !Task.isCancelled { self?.fail(error) }
            return
          }
          // The scan ends when Bluetooth is turned off, and begins again when it is turned on.
          do { for try await packet in central.packets(isActive: false) { self?.receive(packet) } } catch { continue }
        }
      }
      let timer = Task(executorPreference: executor) { [weak self, sleep] in
        while !Task.isCancelled, let pause = self?.timeReached() { try? await sleep(pause) }
      }
      state.tasks = [scan, timer]
    }
  }

  private func endIfIdle() {
    let tasks = content.withLockedValue { state -> [Task<Void, Never>] in
      guard state.tracker.isIdle else { return [] }
      defer { state.tasks = [] }
      return state.tasks
    }
    for task in tasks { task.cancel() }
  }

  private func receive(_ packet: AdvertisingPacket) {
    guard let sighting = BeaconSighting(packet) else { return }
    let now = elapsed()
    report(content.withLockedValue { $0.tracker.receive(sighting, at: now) })
  }

  /// Handles the time, and returns the time until the next call: at most a second, because requests may come.
  private func timeReached() -> Duration {
    let now = elapsed()
    let (events, deadline) = content.withLockedValue { state in
      (state.tracker.timeReached(now), state.tracker.deadline)
    }
    report(events)
    guard let deadline else { return .seconds(1) }
    return min(max(deadline - now, .milliseconds(1)), .seconds(1))
  }

  private func fail(_ error: any Error) {
    let (regions, constraints, rangedRegions) = content.withLockedValue { state in
      for task in state.tasks { task.cancel() }
      state.tasks = []
      return (Array(state.regions.values), Array(state.ranged.values), Array(state.rangedRegions.values))
    }
    for region in regions.sorted(by: { $0.identifier < $1.identifier }) {
      tell { $1.locationManager($0, monitoringDidFailFor: region, withError: error) }
    }
    for constraint in constraints { tell { $1.locationManager($0, didFailRangingFor: constraint, error: error) } }
    for region in rangedRegions.sorted(by: { $0.identifier < $1.identifier }) {
      tell { $1.locationManager($0, rangingBeaconsDidFailFor: region, withError: error) }
    }
  }

  // MARK: Delegate

  private func report(_ events: [BeaconTracker.Event]) {
    let date = Date()
    for event in events {
      switch event {
      case .determined(let identifier, let state):
        guard let region = region(identifier) else { continue }
        tell { $1.locationManager($0, didDetermineState: state, for: region) }
      case .entered(let identifier):
        guard let region = region(identifier), region.notifyOnEntry else { continue }
        tell { $1.locationManager($0, didEnterRegion: region) }
      case .exited(let identifier):
        guard let region = region(identifier), region.notifyOnExit else { continue }
        tell { $1.locationManager($0, didExitRegion: region) }
      case .ranged(let key, let ranged):
        let (constraint, regions) = content.withLockedValue { ($0.ranged[key], $0.regionsRanged(by: key)) }
        let beacons = ranged.map { CLBeacon($0, at: date) }
        if let constraint { tell { $1.locationManager($0, didRange: beacons, satisfying: constraint) } }
        for region in regions { tell { $1.locationManager($0, didRangeBeacons: beacons, in: region) } }
      }
    }
  }

  private func region(_ identifier: String) -> CLRegion? { content.withLockedValue { $0.regions[identifier] } }

  /// Calls the delegate on its queue. No lock is held.
  private func tell(_ call: @escaping @Sendable (CLLocationManager, any CLLocationManagerDelegate) -> Void) {
    guard let queue else {
      if let delegate { call(self, delegate) }
      return
    }
    queue.async { [self] in
      if let delegate { call(self, delegate) }
    }
  }
}
