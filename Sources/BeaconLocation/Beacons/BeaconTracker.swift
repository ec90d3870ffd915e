import Foundation

/// The monitoring of regions and the ranging of beacons: takes received packets and the time, and gives events.
///
/// A device enters a region with the first packet of one of its beacons, and leaves it when none has been received for
/// `exitDelay`. That delay is the hysteresis: at the border, where few packets arrive, the state stays.
struct BeaconTracker {
  /// An event for the app.
  enum Event: Equatable {
    /// The state of a region is known for the first time, or has been requested.
    case determined(String, CLRegionState)
    case entered(String)
    case exited(String)
    /// The beacons that a constraint selects, the nearest first.
    case ranged(BeaconConstraint, [RangedBeacon])
  }

  /// A beacon as one ranging reports it.
  struct RangedBeacon: Equatable {
    let identity: BeaconIdentity
    /// The mean level in dBm; nil: no packet of the last seconds has one.
    let level: Double?
    /// The distance; nil: it is not known.
    let distance: DistanceEstimate?
  }

  private struct Region {
    let constraint: BeaconConstraint
    var state = CLRegionState.unknown
    /// The time of the last packet; at first the beginning of the monitoring.
    var lastTime: Duration
  }

  private struct Track {
    var lastTime: Duration
    var levelAtOneMetre: Int8
    var samples: [(time: Duration, rssi: Int)] = []
  }

  /// The time without a packet after which the device has left a region.
  var exitDelay = Duration.seconds(30)
  /// The model for distances.
  var model = DistanceModel()

  /// The time between two rangings.
  private static let rangingInterval = Duration.seconds(1)
  /// The age of the oldest packet whose level counts.
  static let averagingTime = Duration.seconds(3)
  /// The time without a packet after which a beacon is no longer reported.
  static let forgettingTime = Duration.seconds(10)
  /// The maximum number of beacons that are ranged at once, and of levels for each: a flood of packets takes no more
  /// memory.
  static let maximumTracks = 1_000
  static let maximumSamples = 200

  private var regions: [String: Region] = [:]
  private var constraints: Set<BeaconConstraint> = []
  private var tracks: [BeaconIdentity: Track] = [:]
  private var nextRanging: Duration?

  /// True if no region is monitored and nothing is ranged.
  var isIdle: Bool { regions.isEmpty && constraints.isEmpty }

  /// The time at which `timeReached` has something to do; nil: no time.
  var deadline: Duration? {
    let exits = regions.values.filter { $0.state != .outside }.map { $0.lastTime + exitDelay }
    return (exits + (nextRanging.map { [$0] } ?? [])).min()
  }

  // MARK: Requests

  /// Begins to monitor a region. A region with the same identifier is replaced.
  mutating func monitor(_ identifier: String, _ constraint: BeaconConstraint, at now: Duration) {
    if let region = regions[identifier], region.constraint == constraint { return }
    regions[identifier] = Region(constraint: constraint, lastTime: now)
  }

  mutating func stopMonitoring(_ identifier: String) { regions[identifier] = nil }

  /// Returns the state of a monitored region; nil: it is not monitored.
  func state(of identifier: String) -> CLRegionState? { regions[identifier]?.state }

  /// Begins to range. The first report comes after a second.
  mutating func range(_ constraint: BeaconConstraint, at now: Duration) {
    constraints.insert(constraint)
    nextRanging = nextRanging ?? now + Self.rangingInterval
  }

  mutating func stopRanging(_ constraint: BeaconConstraint) {
    constraints.remove(constraint)
    tracks = tracks.filter { track in constraints.contains { $0.matches(track.key) } }
    if constraints.isEmpty { nextRanging = nil }
  }

  // MARK: Packets and time

  mutating func receive(_ sighting: BeaconSighting, at now: Duration) -> [Event] {
    var events: [Event] = []
    for (identifier, region) in regions.sorted(by: { $0.key < $1.key })
    where region.constraint.matches(sighting.identity) {
      regions[identifier]?.lastTime = now
      guard region.state != .inside else { continue }
      regions[identifier]?.state = .inside
      events.append(.determined(identifier, .inside))
      if region.state == .outside { events.append(.entered(identifier)) }
    }
    guard constraints.contains(where: { $0.matches(sighting.identity) }),
      tracks.count < Self.maximumTracks || tracks[sighting.identity] != nil
    else { return events }
    var track = tracks[sighting.identity] ?? Track(lastTime: now, levelAtOneMetre: sighting.levelAtOneMetre)
    (track.lastTime, track.levelAtOneMetre) = (now, sighting.levelAtOneMetre)
    if let rssi = sighting.rssi { track.samples.append((now, rssi)) }
    if track.samples.count > Self.maximumSamples { track.samples.removeFirst() }
    tracks[sighting.identity] = track
    return events
  }

  mutating func timeReached(_ now: Duration) -> [Event] {
    var events: [Event] = []
    for (identifier, region) in regions.sorted(by: { $0.key < $1.key })
    where region.state != .outside && region.lastTime + exitDelay <= now {
      regions[identifier]?.state = .outside
      events.append(.determined(identifier, .outside))
      if region.state == .inside { events.append(.exited(identifier)) }
    }
    guard let due = nextRanging, due <= now else { return events }
    // After a pause of the program, rangings are not made up for.
    let next = due + Self.rangingInterval
    nextRanging = next > now ? next : now + Self.rangingInterval
    for (identity, track) in tracks {
      guard now - track.lastTime < Self.forgettingTime else {
        tracks[identity] = nil
        continue
      }
      tracks[identity]?.samples = track.samples.filter { now - $0.time < Self.averagingTime }
    }
    for constraint in constraints.sorted(by: { $0.order < $1.order }) {
      let beacons = tracks.filter { constraint.matches($0.key) }.map { ranged($0.key, $0.value) }
      events.append(.ranged(constraint, beacons.sorted { $0.order < $1.order }))
    }
    return events
  }

  private func ranged(_ identity: BeaconIdentity, _ track: Track) -> RangedBeacon {
    let level =
      track.samples.isEmpty
      ? nil : Double(track.samples.reduce(0) { $0 + $1.rssi }) / Double(track.samples.count)
    return RangedBeacon(
      identity: identity, level: level,
      distance: level.flatMap { model.estimate(level: $0, levelAtOneMetre: Double(track.levelAtOneMetre)) })
  }
}

extension BeaconConstraint {
  /// The place in reports: the order of a hash table must not decide.
  fileprivate var order: (String, Int, Int) { (uuid.uuidString, major.map(Int.init) ?? -1, minor.map(Int.init) ?? -1) }
}

extension BeaconTracker.RangedBeacon {
  /// The place in a report: by distance, then by identity; an unknown distance is last.
  fileprivate var order: (Double, UInt16, UInt16) { (distance?.metres ?? .infinity, identity.major, identity.minor) }
}
