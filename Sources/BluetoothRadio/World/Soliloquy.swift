import BluetoothWire

/// What a device does that sends the same on the primary advertising channels again and again, asks for no answer, and has
/// nothing to tell its app of it. The engine sends its packets itself, and asks the device for the time of the next event
/// only; while nobody could notice them, not even that: see `UnheardDevices`.
package struct Soliloquy: Sendable {
  /// What is sent in each event.
  package let packet: AirPacket
  package let modulation: Modulation
  /// dBm, without the antenna's gain.
  package let power: Decibel
  /// Where, in this order: of channels 37 to 39, at least one.
  package let channels: [RadioChannel]
  /// From the end of one packet of an event to the beginning of the next.
  package let pause: TimeSpan
  /// When the device would do something else besides; nil: not by itself.
  package var until: Instant?

  package init(
    packet: AirPacket, modulation: Modulation, power: Decibel, channels: [RadioChannel], pause: TimeSpan,
    until: Instant? = nil
  ) {
    self.packet = packet
    self.modulation = modulation
    self.power = power
    self.channels = channels
    self.pause = pause
    self.until = until
  }

  /// Where packets of any such device may be: channels 37 to 39.
  static let channels = [RadioChannel(0), RadioChannel(12), RadioChannel(39)]
}

/// The packets of a device that has passed over them.
package struct SkippedPackets: Sendable {
  package var count: Int
  /// Of all of them.
  package var airTime: TimeSpan
  /// dBm.
  package var power: Decibel
  /// When the last one has ended.
  package var end: Instant

  package init(count: Int, airTime: TimeSpan, power: Decibel, end: Instant) {
    self.count = count
    self.airTime = airTime
    self.power = power
    self.end = end
  }
}

/// The devices whose packets the engine sends for them.
struct Recitals {
  private struct Recital {
    let soliloquy: Soliloquy
    /// How many of the event's packets have begun.
    var begun = 0
  }

  private var all: ContiguousArray<Recital?> = []

  var indices: Range<Int> { all.indices }

  func contains(_ index: Int) -> Bool { index < all.count && all[index] != nil }

  mutating func begin(_ index: Int, _ soliloquy: Soliloquy) {
    while all.count <= index { all.append(nil) }
    all[index] = Recital(soliloquy: soliloquy)
  }

  /// The device does it itself again; says whether it is in the middle of an event.
  mutating func end(_ index: Int) -> Bool {
    defer { all[index] = nil }
    return isWithinEvent(index)
  }

  func soliloquy(_ index: Int) -> Soliloquy? { all[index]?.soliloquy }
  func isWithinEvent(_ index: Int) -> Bool { all[index].map { $0.begun > 0 } ?? false }

  /// The next packet of the event.
  mutating func next(_ index: Int) -> (soliloquy: Soliloquy, channel: RadioChannel)? {
    guard let recital = all[index], recital.begun < recital.soliloquy.channels.count else { return nil }
    all[index]?.begun += 1
    return (recital.soliloquy, recital.soliloquy.channels[recital.begun])
  }

  /// A packet has ended: how long it is to the next one; nil: so has the event.
  mutating func pause(_ index: Int) -> TimeSpan? {
    guard let recital = all[index] else { return nil }
    if recital.begun < recital.soliloquy.channels.count { return recital.soliloquy.pause }
    all[index]?.begun = 0
    return nil
  }
}
