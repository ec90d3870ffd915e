import BluetoothWire

/// The devices that are not run because nobody could notice them: they only send, and no receiver gets enough of it to hear
/// them or to be disturbed.
///
/// They are set aside when an advertising event of theirs begins, and taken up again before anything changes that: a
/// receiver that listens where they would count, something that is done to them, somebody who looks. Then they do in no time
/// what they would have done meanwhile, chance included, so that everything is as if they had been run all the time.
struct UnheardDevices {
  /// A device that is not run.
  struct Voice {
    let radio: Int
    /// dBm, with the antenna's gain.
    let power: Decibel
    let position: GridPosition
    let since: Instant
    var isGone = false
  }

  /// What a radio that listens knows of them.
  private struct Listener {
    /// How many of `voices` it knows.
    var known = 0
    /// At least the level, without the antenna's gain, of the loudest of those.
    var loudest = UnheardDevices.silence
    /// Where it knows that for, and how far around.
    var origin = GridPosition(x: 0)
    var radius: Int64 = 0
  }

  /// Whether it pays to set a device aside.
  private struct Patience {
    var voice: Int32 = -1
    var failures: UInt8 = 0
    /// Not before this instant.
    var until = Instant.zero
  }

  static let silence = Decibel(-10_000)
  /// How far, in millimetres, a radio that moves may come before it has to look at everybody anew.
  private static let roaming: Int64 = 10_000
  /// A device that was heard is run for a second at least, and for up to 64 if it is heard again and again.
  private static let shortestPatience = TimeSpan.seconds(1)
  private static let longestPatience: UInt8 = 6
  /// Who was not heard for so long is not taken for one that is heard again and again.
  private static let longSilence = TimeSpan.seconds(10)

  /// In the order in which they were set aside, with those that are run again.
  private var voices: ContiguousArray<Voice> = []
  private var listeners: ContiguousArray<Listener> = []
  private var patience: ContiguousArray<Patience> = []
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }
  /// The radios of all of them.
  var radios: [Int] { voices.filter { !$0.isGone }.map(\.radio) }

  func contains(_ radio: Int) -> Bool { patience.indices.contains(radio) && patience[radio].voice >= 0 }

  /// Whether it is time to see if the device can be set aside.
  func isWorthTrying(_ radio: Int, at now: Instant) -> Bool {
    !patience.indices.contains(radio) || patience[radio].until <= now
  }

  mutating func add(_ voice: Voice) {
    if voices.count > 64, voices.count > 2 * count { forgetGone() }
    extend(to: voice.radio)
    patience[voice.radio].voice = Int32(truncatingIfNeeded: voices.count)
    voices.append(voice)
    count += 1
  }

  /// The device is run again; says what it was here, nil if it was not.
  mutating func remove(_ radio: Int) -> Voice? {
    guard contains(radio) else { return nil }
    let place = Int(patience[radio].voice)
    let voice = voices[place]
    patience[radio].voice = -1
    voices[place].isGone = true
    count -= 1
    if count == 0 { forgetGone() }
    return voice
  }

  /// Somebody could notice the device, which was set aside at `since` (nil: it was not).
  mutating func postpone(_ radio: Int, since: Instant?, at now: Instant) {
    extend(to: radio)
    if let since, now - since >= Self.longSilence { patience[radio].failures = 0 }
    patience[radio].until = now + Self.shortestPatience * (1 << Int64(patience[radio].failures))
    if patience[radio].failures < Self.longestPatience { patience[radio].failures += 1 }
  }

  private mutating func extend(to radio: Int) {
    while patience.count <= radio { patience.append(Patience()) }
  }

  private mutating func forgetGone() {
    voices.removeAll { $0.isGone }
    for place in voices.indices { patience[voices[place].radio].voice = Int32(truncatingIfNeeded: place) }
    forgetListeners()
  }

  // MARK: Who listens

  /// What listeners know holds no more.
  mutating func forgetListeners() { listeners.removeAll(keepingCapacity: true) }
  mutating func forgetListener(_ radio: Int) {
    if listeners.indices.contains(radio) { listeners[radio] = Listener() }
  }

  /// Whether the loudest of them may reach a receiver at more than `floor`, within `radius` millimetres around `place`.
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
    while known < voices.count {
      if !voices[known].isGone {
        loudest = max(loudest, level(of: voices[known], at: receiver, origin, within: safe, propagation))
      }
      known += 1
    }
    (listeners[receiver].loudest, listeners[receiver].known) = (loudest, known)
    return loudest > floor
  }

  /// The radios of all that reach a receiver at more than `floor`, within `radius` millimetres around `place`.
  mutating func reaching(
    _ receiver: Int, at place: GridPosition, within radius: Int64, above floor: Decibel, _ propagation: Propagation
  ) -> [Int] {
    // What is not reached any more is the loudest no more.
    forgetListener(receiver)
    return voices.compactMap { voice in
      guard !voice.isGone, level(of: voice, at: receiver, place, within: radius, propagation) > floor else {
        return nil
      }
      return voice.radio
    }
  }

  private func level(
    of voice: Voice, at receiver: Int, _ place: GridPosition, within radius: Int64, _ propagation: Propagation
  ) -> Decibel {
    voice.power
      - propagation.leastLoss(
        from: Int32(truncatingIfNeeded: voice.radio), at: voice.position, to: Int32(truncatingIfNeeded: receiver),
        at: place, within: radius)
  }
}
