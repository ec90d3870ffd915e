import BluetoothTypes
import BluetoothWire

/// The advertising of a device as its packets have shown it.
package struct RecordedAdvertising: Sendable {
  /// The kinds of advertising, with the words of world files.
  package enum Kind: String, Hashable, Sendable {
    case connectable, scannable, broadcast, directed
  }

  /// The kind; nil: there was no packet.
  package private(set) var kind: Kind?
  /// The last advertising data, as octets.
  package private(set) var payload: [UInt8] = []
  /// The last scan response data, as octets.
  package private(set) var response: [UInt8] = []
  private var times: [Duration] = []
  /// The advertising data with the times from which on they were advertised.
  private var changes: [(time: Duration, payload: [UInt8], response: [UInt8])] = []

  /// The packets on the three primary channels that are one advertising event are sent within 10 ms each ·
  /// Vol 6, Part B, 4.4.2. Events are at least 20 ms apart.
  private static let eventLength = Duration.milliseconds(15)
  /// The most changes that are kept.
  private static let maximumChanges = 10_000

  /// True if the advertiser has used extended PDUs, which a file can't describe.
  package private(set) var isExtended = false

  package init() {}

  /// Notes a packet with these data.
  package mutating func add(
    _ type: PacketDescription.Advertisement.Kind, _ data: [UInt8], isConnectable: Bool, at time: Duration
  ) {
    switch type {
    case .scanRsp, .auxScanRsp:
      response = data
      if !changes.isEmpty { changes[changes.count - 1].response = data }
      return
    case .advInd: kind = .connectable
    case .advDirectInd: kind = .directed
    // A device that is connectable at times has attributes.
    case .advNonconnInd: kind = self.isConnectable ? kind : .broadcast
    case .advScanInd: kind = self.isConnectable ? kind : .scannable
    case .advExtInd:
      isExtended = true
      kind = isConnectable ? .connectable : .broadcast
    }
    if type != .advDirectInd { payload = data }
    if changes.last?.payload != payload, changes.count < Self.maximumChanges {
      changes.append((time, payload, response))
    }
    if let last = times.last, time - last < Self.eventLength { return }
    times.append(time)
  }

  /// A time in which the advertising data do not change.
  package struct Frame: Hashable, Sendable {
    package let duration: Duration
    package let payload: [ADStructure]
    package let scanResponse: [ADStructure]

    package init(duration: Duration, payload: [ADStructure], scanResponse: [ADStructure]) {
      (self.duration, self.payload, self.scanResponse) = (duration, payload, scanResponse)
    }
  }

  /// The time of the first packet with advertising data; nil: there was none.
  package var start: Duration? { changes.first?.time }

  /// The advertising data in their order, each up to 31 octets.
  package var timeline: [Frame] {
    let interval = Duration.seconds(Self.interval(times) ?? 0.1)
    return changes.indices.map { index in
      let end = index + 1 < changes.count ? changes[index + 1].time : (times.last ?? changes[index].time) + interval
      return Frame(
        duration: max(.milliseconds(20), end - changes[index].time),
        payload: Self.structures(changes[index].payload), scanResponse: Self.structures(changes[index].response))
    }
  }

  /// True if there was a packet.
  package var isHeard: Bool { kind != nil }
  package var isConnectable: Bool { kind == .connectable || kind == .directed }

  /// The advertising interval in seconds; nil: too few packets.
  package var interval: Double? { Self.interval(times) }

  // MARK: The interval

  /// Intervals that devices use: those that Apple recommends, in seconds. Others are multiples of 10 ms.
  private static let usual = [0.1525, 0.21125, 0.31875, 0.4175, 0.54625, 0.8525, 1.0225, 1.285]

  /// Returns the advertising interval in seconds; nil: too few packets.
  ///
  /// The time between two packets is the interval and a random delay of 0 to 10 ms · Vol 6, Part B, 4.4.2.2. Packets can
  /// be missed, and reported late. A line through the packets' numbers and times gives the interval with an
  /// uncertainty, within which a usual interval is taken.
  package static func interval(_ times: [Duration]) -> Double? {
    guard let first = times.first, times.count >= 3 else { return nil }
    let seconds = times.map { time in
      let (seconds, attoseconds) = (time - first).components
      return Double(seconds) + Double(attoseconds) / 1e18
    }
    let median = zip(seconds, seconds.dropFirst()).map { $1 - $0 }.sorted()[(times.count - 1) / 2]
    guard median > 0 else { return nil }
    var period = median
    let numbers = seconds.map { time in
      let number = (time / period).rounded()
      // The later a packet, the less does its own delay matter.
      if number >= 8 { period = time / number }
      return number
    }
    let count = Double(times.count)
    let (middle, mean) = (numbers.reduce(0, +) / count, seconds.reduce(0, +) / count)
    let points = zip(numbers, seconds).map { (number: $0 - middle, time: $1 - mean) }
    let spread = points.reduce(0) { $0 + $1.number * $1.number }
    guard spread > 0 else { return nil }
    let slope = points.reduce(0) { $0 + $1.number * $1.time } / spread
    let deviation = points.reduce(0) { $0 + ($1.time - slope * $1.number) * ($1.time - slope * $1.number) } / count
    // The mean of the delays, which are evenly distributed over 10 ms.
    let estimate = slope - 0.005
    let events = max(1, numbers.last ?? 1)
    // Three standard deviations: of the mean of the delays, and of the slope.
    let uncertainty = max(0.0005, 3 * (0.0001 / (12 * events) + deviation / spread).squareRoot())
    let candidates = usual + [(estimate * 100).rounded() / 100]
    let nearest = candidates.min { abs($0 - estimate) < abs($1 - estimate) } ?? estimate
    let interval =
      abs(nearest - estimate) <= uncertainty ? nearest : (estimate / 0.000625).rounded() * 0.000625
    return min(10.24, max(0.02, interval))
  }

  // MARK: AD structures

  /// Returns the first structures, as far as legacy advertising has room for them.
  package static func structures(_ octets: [UInt8]) -> [ADStructure] {
    var room = 31
    return AdvertisingData(ByteSlice(octets)).map { ADStructure($0.type, $0.data.bytes) }.prefix { structure in
      room -= 2 + structure.data.count
      return room >= 0
    }
  }
}
