import BluetoothAir
import Foundation

/// One record of the output with `--json`: `Documentation/Ble-reference.md` describes the fields of each kind.
struct JSONRecord {
  /// The version of all records. A change that a reader could trip over increases it; a new field does not.
  static let version = 2

  private var fields: [(String, JSONText)]

  /// Creates a record of this kind.
  init(_ kind: String) { fields = [("version", .integer(Self.version)), ("record", .text(kind))] }

  /// Creates a record of this kind with these fields, without those whose value is nil.
  init(_ kind: String, _ values: KeyValuePairs<String, JSONText?>) {
    self.init(kind)
    for (name, value) in values { add(name, value) }
  }

  /// Appends a field, unless the value is nil.
  mutating func add(_ name: String, _ value: JSONText?) {
    if let value { fields.append((name, value)) }
  }

  mutating func add(_ name: String, _ text: String?) { add(name, text.map { .text($0) }) }
  mutating func add(_ name: String, _ number: Int?) { add(name, number.map { .integer($0) }) }

  /// Appends a time of day in UTC: "2026-11-30T16:55:02.125Z".
  mutating func add(_ name: String, _ date: Date) {
    add(name, .text(date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))))
  }

  /// The record on one line.
  var line: String { JSONText.object(fields).line }
}

extension JSONText {
  static func integer(_ number: Int) -> JSONText { .number("\(number)") }

  /// Returns a number with at most this number of decimals; null if it is not finite.
  static func decimal(_ number: Double, places: Int) -> JSONText {
    number.isFinite ? .number(number.decimal(places)) : .null
  }
}

extension Double {
  /// The number with at most this number of decimals, without trailing zeros.
  func decimal(_ places: Int) -> String {
    let scale = (0..<places).reduce(1.0) { scale, _ in scale * 10 }
    let steps = (self * scale).rounded()
    guard steps.magnitude < 9e15 else { return "\(self)" }
    let whole = Int(steps.magnitude) / Int(scale)
    var digits = String(Int(steps.magnitude) % Int(scale))
    digits = String(repeating: "0", count: max(0, places - digits.count)) + digits
    while digits.hasSuffix("0") { digits.removeLast() }
    return (steps < 0 ? "-" : "") + "\(whole)" + (digits.isEmpty || places == 0 ? "" : "." + digits)
  }
}
