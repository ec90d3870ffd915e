import BluetoothCrypto
import BluetoothRadio
import BluetoothWire

/// The cost of pairing, of using a bond and of sending on an encrypted link: hosts, controllers and air.
///
/// A *row* is a series of operations whose time is measured.
enum Pairing {
  static let all: [(name: String, measure: @Sendable (Int) throws -> Measurement)] = [
    ("pairing: LE Secure Connections, Just Works", pairing),
    ("pairing: P-256", curve),
    ("pairing: reconnect to first encrypted read", reconnect),
    ("pairing: encrypted notifications", notifications),
    ("pairing: encrypted notifications with the API", notificationsOfApps),
  ]

  private static let repetitions = 5

  /// Measures rows of `count` operations. Returns the mean time of an operation in the fastest row, and the mean radio
  /// time of all operations, both in milliseconds.
  private static func best(
    _ count: Int, on pair: SecurePair, _ body: () throws -> Void, between: () throws -> Void
  ) throws -> (real: Double, radio: Double) {
    var (best, radio) = (Double.infinity, TimeSpan.zero)
    for _ in 0..<repetitions {
      var time = 0.0
      for _ in 0..<count {
        let start = pair.engine.now
        time += try bestTime(of: 1, body)
        radio += pair.engine.now - start
        try between()
      }
      best = min(best, time)
    }
    let total = Double(radio.nanoseconds) / 1e6
    return (best / Double(count) * 1e3, total / Double(count * repetitions))
  }

  @Sendable private static func pairing(divisor: Int) throws -> Measurement {
    let count = max(1, 200 / divisor)
    let pair = try SecurePair()
    let (real, radio) = try best(count, on: pair, pair.pair, between: pair.forget)
    return Measurement(
      name: "pairing, LE Secure Connections by Just Works", result: real.rounded(to: 2) + " ms", aim: "3 ms",
      method: "from a central's wish to the bonds of both; hosts, controllers and air; mean of \(count), best of"
        + " \(repetitions) rows; \(radio.rounded(to: 0)) ms of radio time at an interval of 30 ms")
  }

  /// Measures the part of the elliptic curve: each device generates a key pair and computes the shared secret.
  @Sendable private static func curve(divisor: Int) throws -> Measurement {
    let count = max(1, 1_000 / divisor)
    var generator = RandomStream(seed: 1)
    let peer = P256KeyPair(using: &generator).publicKey
    var failures = 0
    let time = bestTime(of: repetitions) {
      for _ in 0..<count {
        let keys = P256KeyPair(using: &generator)
        if keys.publicKey == peer || keys.sharedSecret(with: peer) == nil { failures += 1 }
      }
    }
    guard failures == 0 else { throw DidNotHappen() }
    return Measurement(
      name: "a new pair of keys on P-256, and a shared secret",
      result: (time / Double(count) * 1e3).rounded(to: 3) + " ms", aim: "—",
      method: "\(count.grouped) of them, best of \(repetitions); a pairing has two")
  }

  @Sendable private static func reconnect(divisor: Int) throws -> Measurement {
    let count = max(1, 200 / divisor)
    let pair = try SecurePair()
    try pair.pair()
    pair.central.readsAtOnce = true
    try pair.part()
    func read() throws {
      let reads = pair.central.reads
      try pair.run { pair.central.reads > reads }
    }
    let (real, radio) = try best(count, on: pair, read) {
      guard pair.central.isEncrypted else { throw DidNotHappen() }
      pair.pass(.seconds(2))
      try pair.part()
    }
    guard pair.central.pairings == 1 else { throw DidNotHappen() }
    return Measurement(
      name: "reconnect with stored keys to the first encrypted read", result: real.rounded(to: 2) + " ms", aim: "—",
      method: "from the end of one link to the value on the next; hosts, controllers and air; mean of \(count), best of"
        + " \(repetitions) rows; \(radio.rounded(to: 0)) ms of radio time, advertising at 100 ms, interval 30 ms")
  }

  // MARK: Notifications

  /// The number of pairs of a clear and an encrypted row. Rows are short, so that other processes slow both rows of
  /// most pairs equally.
  private static let rows = 400

  private struct Comparison {
    /// The time of the fastest clear row, in seconds.
    var clear = Double.infinity
    /// The time of the fastest encrypted row, in seconds.
    var encrypted = Double.infinity
    /// The median of the ratios between the times of the encrypted and the clear row of a pair.
    var ratio = 0.0
  }

  /// Compares rows of `count` notifications of 244 octets, alternately unencrypted and encrypted.
  private static func compare(
    _ count: Int, _ clear: (Int) throws -> Void, _ encrypted: (Int) throws -> Void
  ) throws -> Comparison {
    var result = Comparison()
    var ratios: [Double] = []
    for _ in 0..<rows {
      let times = try (bestTime(of: 1) { try clear(count) }, bestTime(of: 1) { try encrypted(count) })
      result.clear = min(result.clear, times.0)
      result.encrypted = min(result.encrypted, times.1)
      ratios.append(times.1 / times.0)
    }
    result.ratio = ratios.sorted()[rows / 2]
    return result
  }

  private static func text(_ count: Int, _ comparison: Comparison) -> String {
    func rate(_ time: Double) -> String { Int(Double(count) / time).grouped }
    return "\(comparison.ratio.rounded(to: 2)) × the time: at best \(rate(comparison.encrypted))/s,"
      + " in clear \(rate(comparison.clear))/s"
  }

  @Sendable private static func notifications(divisor: Int) throws -> Measurement {
    let count = max(1, 250 / divisor)
    func stream(isEncrypted: Bool) throws -> SecurePair {
      let pair = try SecurePair()
      if isEncrypted { try pair.pair() }
      try pair.subscribe()
      pair.with(pair.peripheral) { $0.isStreaming = true }
      pair.pass(.seconds(1))
      guard pair.peripheral.isEncrypted == isEncrypted else { throw DidNotHappen() }
      return pair
    }
    func take(_ count: Int, on pair: SecurePair) throws {
      let start = pair.central.values
      try pair.run { pair.central.values - start >= count }
    }
    let clear = try stream(isEncrypted: false)
    let encrypted = try stream(isEncrypted: true)
    let times = try compare(count) {
      try take($0, on: clear)
    } _: {
      try take($0, on: encrypted)
    }
    let allocated = try allocations { try take(count, on: encrypted) }
    return Measurement(
      name: "encrypted notifications of 244 octets", result: text(count, times), aim: "≤ 2 ×",
      method: "hosts, controllers and air; rows of \(count.grouped) in turns, the middle of \(rows) pairs;"
        + " \(WholeStack.perOperation(allocated, count)) allocations each")
  }

  @Sendable private static func notificationsOfApps(divisor: Int) throws -> Measurement {
    let count = max(1, 250 / divisor)
    func take(_ count: Int, of pair: Pair) throws {
      let start = pair.client.values
      try pair.run(until: { pair.client.values - start >= count })
    }
    let clear = try WholeStack.streaming()
    let encrypted = try WholeStack.streaming(isEncrypted: true)
    let times = try compare(count) {
      try take($0, of: clear)
    } _: {
      try take($0, of: encrypted)
    }
    return Measurement(
      name: "encrypted notifications of 244 octets, with the API and its Data", result: text(count, times),
      aim: "≤ 2 ×",
      method: "rows of \(count.grouped) in turns, sent for as long as updateValue has room; the middle of \(rows) pairs"
    )
  }
}
