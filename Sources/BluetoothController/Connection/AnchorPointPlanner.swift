import BluetoothWire

/// The placement of a central's new connection: its anchor points lie as far as possible from the events of other
/// connections.
///
/// All anchor points are on one grid, so that links of equal interval, or of intervals that divide each other, never
/// overlap as long as there is room. The grid's step is the unit of connection intervals, 1.25 ms, which holds an
/// event with 27 octets both ways. When all grid points are taken, points half a step off the grid are used, which
/// still leave room for events without data.
struct AnchorPointPlanner {
  private static let step = LinkParameters.intervalUnit
  private static let slot = step / 2
  /// The maximum drift of an anchor point from its grid point.
  private static let tolerance = TimeSpan.microseconds(50)

  private let earliest: Instant
  /// The first grid point.
  private let origin: Instant
  private let interval: Int
  /// The number of other connections' events that begin in each half step of the new connection's interval.
  private var load: [UInt8]

  /// Creates the candidate points of a connection of `interval` · 1.25 ms, from `earliest` on; `grid` is the anchor
  /// point of another connection of this central.
  init(interval: UInt16, earliest: Instant, grid: Instant?) {
    self.earliest = earliest
    self.interval = max(1, Int(interval))
    origin = earliest + (grid.map { ($0 - earliest).modulo(Self.step) } ?? .zero)
    load = Array(repeating: 0, count: 2 * self.interval)
  }

  /// Marks the events of another connection, which occur from `start` on every `interval` · 1.25 ms.
  mutating func occupy(from start: Instant, interval other: UInt16) {
    let period = 2 * greatestCommonDivisor(interval, max(1, Int(other)))
    let offset = (start + Self.tolerance - origin).modulo(Self.slot * Int64(period))
    for index in stride(from: Int(offset.nanoseconds / Self.slot.nanoseconds), to: load.count, by: period)
    where load[index] < .max { load[index] += 1 }
  }

  /// Returns the best point: the transmit window's offset, in units of 1.25 ms, and the delay of the first packet in
  /// the window.
  func best() -> (windowOffset: UInt16, delay: TimeSpan) {
    let distances = distances()
    var best = (index: 0, cost: Int.max)
    for index in load.indices {
      let cost = cost(of: index)
      if cost > best.cost || cost == best.cost && distances[index] <= distances[best.index] { continue }
      best = (index, cost)
    }
    let time = origin + Self.slot * Int64(best.index) - earliest
    let windowOffset = time.nanoseconds / Self.step.nanoseconds
    return (UInt16(clamping: windowOffset), time - Self.step * windowOffset)
  }

  /// Returns the cost of a point. Events at the same time cost most, then events half a step away, then a point off
  /// the grid.
  private func cost(of index: Int) -> Int {
    let (before, after) = (load[index == 0 ? load.count - 1 : index - 1], load[index + 1 == load.count ? 0 : index + 1])
    return 2 * (3 * Int(load[index]) + Int(before) + Int(after)) + index & 1
  }

  /// Returns the distance of each point from the nearest occupied one.
  private func distances() -> [Int] {
    var result = Array(repeating: load.count, count: load.count)
    guard let last = load.lastIndex(where: { $0 > 0 }), let first = load.firstIndex(where: { $0 > 0 }) else {
      return result
    }
    var taken = last - load.count
    for index in load.indices {
      if load[index] > 0 { taken = index }
      result[index] = index - taken
    }
    taken = first + load.count
    for index in load.indices.reversed() {
      if load[index] > 0 { taken = index }
      result[index] = min(result[index], taken - index)
    }
    return result
  }
}

private func greatestCommonDivisor(_ a: Int, _ b: Int) -> Int {
  var (a, b) = (a, b)
  while b != 0 { (a, b) = (b, a % b) }
  return a
}

extension TimeSpan {
  /// Returns the remainder of the division by `period`, zero or more.
  fileprivate func modulo(_ period: TimeSpan) -> TimeSpan {
    let rest = nanoseconds % period.nanoseconds
    return TimeSpan(nanoseconds: rest < 0 ? rest + period.nanoseconds : rest)
  }
}
