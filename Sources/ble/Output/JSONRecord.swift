/// A value of JSON whose objects keep the order of their fields.
indirect enum JSONValue: Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByArrayLiteral
{
  case null
  case bool(Bool)
  case integer(Int)
  /// A number with at most this number of decimals.
  case decimal(Double, places: Int)
  case text(String)
  case list([JSONValue])
  case object([(String, JSONValue)])

  init(stringLiteral value: String) { self = .text(value) }
  init(integerLiteral value: Int) { self = .integer(value) }
  init(booleanLiteral value: Bool) { self = .bool(value) }
  init(arrayLiteral elements: JSONValue...) { self = .list(elements) }

  /// The value on one line.
  var line: String {
    switch self {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .integer(let value): "\(value)"
    case .decimal(let value, let places): value.isFinite ? value.decimal(places) : "null"
    case .text(let text): Self.quoted(text)
    case .list(let elements): "[" + elements.map(\.line).joined(separator: ",") + "]"
    case .object(let fields):
      "{" + fields.map { "\(Self.quoted($0.0)):\($0.1.line)" }.joined(separator: ",") + "}"
    }
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      case "\r": result += "\\r"
      case _ where scalar.value < 0x20 || 0x7F...0x9F ~= scalar.value || 0x2028...0x2029 ~= scalar.value:
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}

/// One record of the output with `--json`: `Documentation/Ble.md` describes the fields of each kind.
struct JSONRecord {
  /// The version of all records. A change that a reader could trip over increases it; a new field does not.
  static let version = 1

  private var fields: [(String, JSONValue)]

  /// Creates a record of this kind.
  init(_ kind: String) { fields = [("version", .integer(Self.version)), ("record", .text(kind))] }

  /// Appends a field, unless the value is nil.
  mutating func add(_ name: String, _ value: JSONValue?) {
    if let value { fields.append((name, value)) }
  }

  mutating func add(_ name: String, _ text: String?) { add(name, text.map { .text($0) }) }
  mutating func add(_ name: String, _ number: Int?) { add(name, number.map { .integer($0) }) }

  /// The record on one line.
  var line: String { JSONValue.object(fields).line }
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
