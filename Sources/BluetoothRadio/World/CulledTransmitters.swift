// Design: devices that only advertise
//
// Many devices only advertise, with legacy PDUs. For such a device the engine transmits the packets itself and, if the
// advertising is connectable or scannable, listens after each packet (`RepeatedAdvertising`). It calls the device once
// for each advertising event, or when a request arrives, which the device handles itself. While no receiver could
// receive the packets of a device that does not listen, or be disturbed by them, the engine *culls* the device and
// skips even that call (`CulledTransmitters`). The device runs by itself again before a receiver listens where the
// device counts, before anything changes the device, and before anything inspects it. The device then catches up with
// all events that it has missed, including their random numbers. The observable behaviour of a world is the same as if
// every device ran by itself: tests run random worlds both ways and compare everything. Air faults need every packet to
// be the device's own, so they disable this; captures and observers disable the culling only.

import BluetoothWire

/// The culled devices: devices that only advertise, and whose packets are too weak at every receiver to be received or
/// to interfere. The engine does not process their events.
///
/// A device is culled at the start of an advertising event. It is resumed before a receiver that its packets could
/// affect starts to listen, before the device is changed, and before it is inspected. It then catches up with all
/// missed events at once and draws the same random numbers, so the results are the same as without culling.
struct CulledTransmitters {
  /// A culled device.
  struct Transmitter {
    let radio: Int
    /// The transmit power including antenna gain, dBm.
    let power: Decibel
    let position: GridPosition
    /// The time at which the device was culled.
    let since: Instant
    /// True if the device has been resumed; the entry is removed later.
    var isGone = false
  }

  /// A cached upper bound of the levels at which culled devices reach a receiver.
  private struct Listener {
    /// The number of elements of `transmitters`, from the first one on, that `loudest` includes.
    var known = 0
    /// The highest level of these devices anywhere in the area, dBm, without the receiver's antenna gain.
    var loudest = CulledTransmitters.noSignal
    /// The centre of the area for which `loudest` holds; `radius` is its radius in millimetres.
    var origin = GridPosition(x: 0)
    var radius: Int64 = 0
  }

  /// The culling state of one device, with the backoff between attempts to cull it.
  private struct Backoff {
    /// The index of the device in `transmitters`; −1 if it is not culled.
    var transmitter: Int32 = -1
    /// The binary logarithm of the next pause in seconds, 0 to `longestBackoff`.
    var failures: UInt8 = 0
    /// The earliest instant of the next attempt.
    var until = Instant.zero
  }

  /// A level below the level of every device.
  static let noSignal = Decibel(-10_000)
  /// The minimum radius, in millimetres, of the area for which a moving radio's bound is computed: the radio may cover
  /// this distance before all culled devices are evaluated again.
  private static let roaming: Int64 = 10_000
  /// The first pause after a device could affect a receiver. The pause doubles each time, up to 64 s
  /// (`longestBackoff`, a binary logarithm of seconds).
  private static let shortestBackoff = TimeSpan.seconds(1)
  private static let longestBackoff: UInt8 = 6
  /// The time for which a device must have been culled to reset its backoff.
  private static let longCull = TimeSpan.seconds(10)

  /// The culled devices in the order of culling, including resumed devices (`isGone`).
  private var transmitters: ContiguousArray<Transmitter> = []
  private var listeners: ContiguousArray<Listener> = []
  /// The states by device index.
  private var backoffs: ContiguousArray<Backoff> = []
  /// The number of culled devices, without resumed ones.
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }
  /// The radios of all culled devices.
  var radios: [Int] { transmitters.filter { !$0.isGone }.map(\.radio) }

  func contains(_ radio: Int) -> Bool { backoffs.indices.contains(radio) && backoffs[radio].transmitter >= 0 }

  /// Returns true if the device's backoff has expired, so that the engine may try to cull it.
  func isWorthTrying(_ radio: Int, at now: Instant) -> Bool {
    !backoffs.indices.contains(radio) || backoffs[radio].until <= now
  }

  mutating func add(_ transmitter: Transmitter) {
    if transmitters.count > 64, transmitters.count > 2 * count { forgetGone() }
    extend(to: transmitter.radio)
    backoffs[transmitter.radio].transmitter = Int32(truncatingIfNeeded: transmitters.count)
    transmitters.append(transmitter)
    count += 1
  }

  /// Removes a device, to resume it. Returns its entry; nil if it is not culled.
  mutating func remove(_ radio: Int) -> Transmitter? {
    guard contains(radio) else { return nil }
    let place = Int(backoffs[radio].transmitter)
    let transmitter = transmitters[place]
    backoffs[radio].transmitter = -1
    transmitters[place].isGone = true
    count -= 1
    if count == 0 { forgetGone() }
    return transmitter
  }

  /// Postpones the next attempt to cull a device whose packets can affect a receiver.
  ///
  /// - Parameter since: the time at which the device was culled; nil if it was not culled.
  mutating func postpone(_ radio: Int, since: Instant?, at now: Instant) {
    extend(to: radio)
    if let since, now - since >= Self.longCull { backoffs[radio].failures = 0 }
    backoffs[radio].until = now + Self.shortestBackoff * (1 << Int64(backoffs[radio].failures))
    if backoffs[radio].failures < Self.longestBackoff { backoffs[radio].failures += 1 }
  }

  private mutating func extend(to radio: Int) {
    while backoffs.count <= radio { backoffs.append(Backoff()) }
  }

  private mutating func forgetGone() {
    transmitters.removeAll { $0.isGone }
    for place in transmitters.indices {
      backoffs[transmitters[place].radio].transmitter = Int32(truncatingIfNeeded: place)
    }
    forgetListeners()
  }

  // MARK: Listening radios

  /// Discards the cached bounds of all receivers.
  mutating func forgetListeners() { listeners.removeAll(keepingCapacity: true) }
  /// Discards the cached bound of one receiver.
  mutating func forgetListener(_ radio: Int) {
    if listeners.indices.contains(radio) { listeners[radio] = Listener() }
  }

  /// Returns true if a culled device may reach a receiver with a level above `floor` at any position within `radius`
  /// millimetres of `place`. The bound is conservative: true does not mean that there is such a device.
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

  /// Returns the radios of all culled devices that reach a receiver with a level above `floor` at some position within
  /// `radius` millimetres of `place`.
  mutating func reaching(
    _ receiver: Int, at place: GridPosition, within radius: Int64, above floor: Decibel, _ propagation: Propagation
  ) -> [Int] {
    // The caller resumes these devices, among them the one that `loudest` comes from.
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
