import Metrics
import NIOConcurrencyHelpers

/// A metrics system that keeps the latest values and prints them in the text format of Prometheus.
final class MetricsRegistry: MetricsFactory {
  /// The kinds of metrics that Prometheus distinguishes and this program has.
  enum Kind: String { case counter, gauge }

  /// A metric with its dimensions.
  fileprivate struct Key: Hashable, Comparable {
    let label: String
    /// The dimensions in Prometheus's form; empty: none.
    let dimensions: String

    static func < (left: Key, right: Key) -> Bool {
      (left.label, left.dimensions) < (right.label, right.dimensions)
    }
  }

  private let values = NIOLockedValueBox<[Key: Value]>([:])

  /// The text of all metrics, sorted.
  var text: String {
    var lines: [String] = []
    var label: String?
    for (key, value) in values.withLockedValue({ $0 }).sorted(by: { $0.key < $1.key }) {
      if key.label != label { lines.append("# TYPE \(key.label) \(value.kind.rawValue)") }
      label = key.label
      lines.append("\(key.label)\(key.dimensions) \(value.number)")
    }
    return lines.map { $0 + "\n" }.joined()
  }

  private func value(_ kind: Kind, _ label: String, _ dimensions: [(String, String)]) -> Value {
    let pairs = dimensions.map { "\(Self.name($0.0))=\"\(Self.escaped($0.1))\"" }.joined(separator: ",")
    let key = Key(label: Self.name(label), dimensions: pairs.isEmpty ? "" : "{\(pairs)}")
    return values.withLockedValue { values in
      if let value = values[key] { return value }
      let value = Value(kind)
      values[key] = value
      return value
    }
  }

  /// A name with the characters that Prometheus permits.
  private static func name(_ text: String) -> String {
    String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") ? $0 : "_" })
  }

  private static func escaped(_ text: String) -> String {
    text.flatMap { character -> String in
      switch character {
      case "\\": "\\\\"
      case "\"": "\\\""
      case "\n": "\\n"
      default: String(character)
      }
    }.reduce(into: "") { $0.append($1) }
  }

  func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    value(.counter, label, dimensions)
  }

  func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    value(.gauge, label, dimensions)
  }

  func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    value(.gauge, label, dimensions)
  }

  // Metrics live as long as the program.
  func destroyCounter(_ handler: any CounterHandler) {}
  func destroyRecorder(_ handler: any RecorderHandler) {}
  func destroyTimer(_ handler: any TimerHandler) {}
}

/// The value of one metric.
private final class Value: CounterHandler, RecorderHandler, TimerHandler {
  let kind: MetricsRegistry.Kind
  private let box = NIOLockedValueBox(0.0)

  init(_ kind: MetricsRegistry.Kind) { self.kind = kind }

  /// The value as Prometheus reads it.
  var number: String {
    let value = box.withLockedValue { $0 }
    return value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
  }

  func increment(by amount: Int64) { box.withLockedValue { $0 += Double(amount) } }
  func reset() { box.withLockedValue { $0 = 0 } }
  func record(_ value: Int64) { box.withLockedValue { $0 = Double(value) } }
  func record(_ value: Double) { box.withLockedValue { $0 = value } }
  func recordNanoseconds(_ duration: Int64) { box.withLockedValue { $0 = Double(duration) } }
}
