import BluetoothWire

/// The culled devices: devices that only advertise, and whose packets are too weak at every receiver to be received or
/// to interfere. They are not run.
///
/// A device is culled at the start of an advertising event. It is resumed before a receiver listens where the device
/// counts, before the device is changed, and before it is inspected. It then catches up at once with all events in the
/// meantime, including their random numbers, so the result is the same as if the device had been run all the time.
struct CulledTransmitters {
  /// A culled device.
  struct Transmitter {
    let radio: Int
    /// The transmit power including antenna gain, dBm.
    let power: Decibel
    let position: GridPosition
    let since: Instant
    var isGone = false
  }

  /// The knowledge of a listening radio about the culled devices.
  private struct Listener {
    /// The number of elements of `transmitters` that are evaluated.
    var known = 0
    /// An upper bound of the highest level of the evaluated devices, without the receiver's antenna gain.
    var loudest = CulledTransmitters.silence
    /// The centre and the radius (millimetres) of the area for which `loudest` holds.
    var origin = GridPosition(x: 0)
    var radius: Int64 = 0
  }

  /// The history that decides whether culling a device is worthwhile.
  private struct Backoff {
    var transmitter: Int32 = -1
    var failures: UInt8 = 0
    /// The earliest instant of the next attempt.
    var until = Instant.zero
  }

  static let silence = Decibel(-10_000)
  /// The distance, in millimetres, that a moving radio may cover before all culled devices are evaluated again.
  private static let roaming: Int64 = 10_000
  /// The backoff of culling: a device that was noticed runs for at least 1 s, and for up to 64 s if it is noticed
  /// repeatedly.
  private static let shortestBackoff = TimeSpan.seconds(1)
  private static let longestBackoff: UInt8 = 6
  /// The time unnoticed after which the backoff of a device starts from the beginning.
  private static let longSilence = TimeSpan.seconds(10)

  /// The culled devices in the order of culling, including resumed devices (`isGone`).
  private var transmitters: ContiguousArray<Transmitter> = []
  private var listeners: ContiguousArray<Listener> = []
  private var patience: ContiguousArray<Backoff> = []
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }
  /// The radios of all culled devices.
  var radios: [Int] { transmitters.filter { !$0.isGone }.map(\.radio) }

  func contains(_ radio: Int) -> Bool { patience.indices.contains(radio) && patience[radio].transmitter >= 0 }

  /// Returns true if it is time to try to cull the device.
  func isWorthTrying(_ radio: Int, at now: Instant) -> Bool {
    !patience.indices.contains(radio) || patience[radio].until <= now
  }

  mutating func add(_ transmitter: Transmitter) {
    if transmitters.count > 64, transmitters.count > 2 * count { forgetGone() }
    extend(to: transmitter.radio)
    patience[transmitter.radio].transmitter = Int32(truncatingIfNeeded: transmitters.count)
    transmitters.append(transmitter)
    count += 1
  }

  /// Removes a device that is resumed. Returns its entry; nil if it was not culled.
  mutating func remove(_ radio: Int) -> Transmitter? {
    guard contains(radio) else { return nil }
    let place = Int(patience[radio].transmitter)
    let transmitter = transmitters[place]
    patience[radio].transmitter = -1
    transmitters[place].isGone = true
    count -= 1
    if count == 0 { forgetGone() }
    return transmitter
  }

  /// Postpones the next attempt to cull a device that could be noticed; it has been culled since `since` (nil: it was
  /// not culled).
  mutating func postpone(_ radio: Int, since: Instant?, at now: Instant) {
    extend(to: radio)
    if let since, now - since >= Self.longSilence { patience[radio].failures = 0 }
    patience[radio].until = now + Self.shortestBackoff * (1 << Int64(patience[radio].failures))
    if patience[radio].failures < Self.longestBackoff { patience[radio].failures += 1 }
  }

  private mutating func extend(to radio: Int) {
    while patience.count <= radio { patience.append(Backoff()) }
  }

  private mutating func forgetGone() {
    transmitters.removeAll { $0.isGone }
    for place in transmitters.indices {
      patience[transmitters[place].radio].transmitter = Int32(truncatingIfNeeded: place)
    }
    forgetListeners()
  }

  // MARK: Listening radios

  /// Discards the knowledge of all listening radios.
  mutating func forgetListeners() { listeners.removeAll(keepingCapacity: true) }
  mutating func forgetListener(_ radio: Int) {
    if listeners.indices.contains(radio) { listeners[radio] = Listener() }
  }

  /// Returns true if the strongest culled device may reach a receiver at more than `floor`, within `radius` millimetres
  /// around `place`.
  mutating func mayReach(
    _ receiver: Int, at place: GridPosition, within radius: Int64, above floor: Decibel, _ propagation: Propagation
  ) -> Bool {
    while listeners.count <= receiver { listeners.append(Listener()) }
    let distance = place == listeners[receiver].origin ? 0 : place.distance(to: listeners[receiver].origin)
    if distance + radius > listeners[receiver].radius || listeners[receiver].known == 0 {
      listeners[receiver] = Listener(origin: place, radius: radius == 0 ? 0 : max(2 * radius, Self.roaming))
    }
    var (loudest, known) = (listeners[receiver].loudest, listeners[receiver].known)
    let (origin, safe) = (listeners[receiver].origin, listeners[receiver].radius)
    while known < transmitters.count {
      if !transmitters[known].isGone {
        loudest = max(loudest, level(of: transmitters[known], at: receiver, origin, within: safe, propagation))
      }
      known += 1
    }
    (listeners[receiver].loudest, listeners[receiver].known) = (loudest, known)
    return loudest > floor
  }

  /// Returns the radios of all culled devices that reach a receiver at more than `floor`, within `radius` millimetres
  /// around `place`.
  mutating func reaching(
    _ receiver: Int, at place: GridPosition, within radius: Int64, above floor: Decibel, _ propagation: Propagation
  ) -> [Int] {
    // The strongest device is resumed now, so `loudest` is no longer valid.
    forgetListener(receiver)
    return transmitters.compactMap { transmitter in
      guard !transmitter.isGone, level(of: transmitter, at: receiver, place, within: radius, propagation) > floor else {
        return nil
      }
      return transmitter.radio
    }
  }

  private func level(
    of transmitter: Transmitter, at receiver: Int, _ place: GridPosition, within radius: Int64,
    _ propagation: Propagation
  ) -> Decibel {
    transmitter.power
      - propagation.leastLoss(
        from: Int32(truncatingIfNeeded: transmitter.radio), at: transmitter.position,
        to: Int32(truncatingIfNeeded: receiver),
        at: place, within: radius)
  }
}
