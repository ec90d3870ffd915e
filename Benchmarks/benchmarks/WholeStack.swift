import BluetoothLab
import CoreBluetooth

/// The whole stack in virtual time: both managers, both hosts, both controllers and the air.
enum WholeStack {
  static let all: [(name: String, measure: @Sendable (Int) throws -> Measurement)] = [
    ("reads", reads), ("notifications", notifications), ("first read", firstRead), ("idle connection", idle),
    ("allocations per read", allocationsPerRead), ("allocations per notification", allocationsPerNotification),
  ]

  private static let repetitions = 5

  @Sendable private static func reads(divisor: Int) throws -> Measurement {
    let count = 50_000 / divisor
    let pair = Pair()
    try pair.meet()
    let time = try bestTime(of: repetitions) {
      pair.client.read(count)
      try pair.run(until: { pair.client.hasFinishedReading })
    }
    return Measurement(
      name: "ATT reads per second", result: Int(Double(count) / time).grouped, aim: "100,000 (first: 20,000)",
      method:
        "\(count.grouped) reads of 20 octets, each begun in the callback of the one before; best of \(repetitions)")
  }

  @Sendable private static func notifications(divisor: Int) throws -> Measurement {
    let count = 100_000 / divisor
    let pair = try streaming()
    let radioStart = pair.world.now
    var received = 0
    let time = try bestTime(of: repetitions) {
      let start = pair.client.values
      try pair.run(until: { pair.client.values - start >= count })
      received += pair.client.values - start
    }
    let radio = (pair.world.now - radioStart) / .seconds(1)
    let kilobits = Double(received * 244 * 8) / radio / 1_000
    return Measurement(
      name: "notifications of 244 octets per second", result: Int(Double(count) / time).grouped,
      aim: "200,000 (first: 40,000)",
      method: "\(count.grouped) notifications, sent for as long as updateValue has room; best of \(repetitions);"
        + " \(kilobits.rounded(to: 1)) kbit/s of radio time")
  }

  @Sendable private static func firstRead(divisor: Int) throws -> Measurement {
    let worlds = max(1, 200 / divisor)
    var best = Double.infinity
    for _ in 0..<worlds {
      let pair = Pair()
      try pair.run(until: { pair.client.peripheral != nil })
      best = min(
        best,
        try bestTime(of: 1) {
          pair.client.connect()
          try pair.run(until: { pair.client.characteristic != nil })
          pair.client.read(1)
          try pair.run(until: { pair.client.hasFinishedReading })
        })
    }
    return Measurement(
      name: "connect, discover, first read", result: (best * 1_000).rounded(to: 2) + " ms", aim: "1 ms (first: 5 ms)",
      method: "from connect(_:) to the value, in your time; best of \(worlds) worlds")
  }

  @Sendable private static func idle(divisor: Int) throws -> Measurement {
    let seconds = 2_000 / divisor
    let pair = Pair()
    try pair.meet()
    let time = bestTime(of: repetitions) { pair.world.run(for: .seconds(seconds)) }
    return Measurement(
      name: "radio seconds per second, one idle connection", result: Int(Double(seconds) / time).grouped,
      aim: "2,000 (first: 500)",
      method: "\(seconds.grouped) s of radio time at an interval of 30 ms; best of \(repetitions)")
  }

  @Sendable private static func allocationsPerRead(divisor: Int) throws -> Measurement {
    let count = 10_000 / divisor
    return Measurement(
      name: "heap allocations per read, with the API and its Data", result: text(try allocationsPerRead(count)),
      aim: "—", method: "malloc and its kin counted over \(count.grouped) reads, both sides, after 1,000 to warm up")
  }

  /// Returns the heap allocations per read on both sides together, averaged over `count` reads; nil if they cannot be
  /// counted.
  static func allocationsPerRead(_ count: Int) throws -> Double? {
    let pair = Pair()
    try pair.meet()
    pair.client.read(1_000)
    try pair.run(until: { pair.client.hasFinishedReading })
    let allocated = try allocations {
      pair.client.read(count)
      try pair.run(until: { pair.client.hasFinishedReading })
    }
    return allocated.map { Double($0) / Double(count) }
  }

  @Sendable private static func allocationsPerNotification(divisor: Int) throws -> Measurement {
    let count = 10_000 / divisor
    return Measurement(
      name: "heap allocations per notification, with the API and its Data",
      result: text(try allocationsPerNotification(count)), aim: "—",
      method: "the same over \(count.grouped) notifications of 244 octets, after 1,000 to warm up")
  }

  /// Returns the heap allocations per notification on both sides together, averaged over `count` notifications; nil if
  /// they cannot be counted.
  static func allocationsPerNotification(_ count: Int) throws -> Double? {
    let pair = try streaming()
    try pair.run(until: { pair.client.values > 1_000 })
    let start = pair.client.values
    let allocated = try allocations { try pair.run(until: { pair.client.values - start >= count }) }
    return allocated.map { Double($0) / Double(count) }
  }

  /// Returns a server that notifies a client at the maximum rate.
  static func streaming(isEncrypted: Bool = false) throws -> Pair {
    let pair = Pair(valueLength: 244, isEncrypted: isEncrypted)
    try pair.meet()
    pair.client.subscribe()
    try pair.run(until: { pair.server.isSubscribed })
    pair.server.streams = true
    pair.server.stream()
    return pair
  }

  static func perOperation(_ allocated: UInt64?, _ count: Int) -> String {
    text(allocated.map { Double($0) / Double(count) })
  }

  static func text(_ allocations: Double?) -> String {
    allocations?.rounded(to: 2) ?? "can't be counted here"
  }
}
