import BluetoothWire
import Testing

@testable import BluetoothController

/// The values of one command parameter that a controller accepts, and the values that it refuses.
struct FieldRule: Sendable, CustomTestStringConvertible {
  /// A command that precedes the command with the field.
  struct Step: Sendable {
    let opcode: HCI.Opcode
    let octets: [UInt8]
    init(_ opcode: HCI.Opcode, _ octets: [UInt8]) {
      self.opcode = opcode
      self.octets = octets
    }
  }

  enum Setup: Sendable { case unconnected, central, asked }

  let opcode: HCI.Opcode
  let field: String
  let offset: Int
  let width: Int
  /// Octets of the table's parameters that this rule replaces.
  var changes: [Int: UInt8] = [:]
  /// Octets instead of the table's parameters.
  var base: [UInt8]?
  var accepted: [UInt64]
  /// The status of the accepted values.
  var status: HCI.ErrorCode
  var refused: [HCI.ErrorCode: [UInt64]]
  var setup: Setup
  var steps: [Step]

  init(
    _ opcode: HCI.Opcode, _ field: String, at offset: Int, width: Int = 1, with changes: [Int: UInt8] = [:],
    base: [UInt8]? = nil, after steps: [Step] = [], on setup: Setup = .unconnected, accepts accepted: [UInt64] = [],
    as status: HCI.ErrorCode = .success, refuses refused: [UInt64] = [], _ error: HCI.ErrorCode = invalid,
    unsupported: [UInt64] = []
  ) {
    self.opcode = opcode
    self.field = field
    self.offset = offset
    self.width = width
    self.changes = changes
    self.base = base
    self.accepted = accepted
    self.status = status
    self.refused = [error: refused, .unsupportedFeatureOrParameterValue: unsupported].filter { !$0.value.isEmpty }
    self.setup = setup
    self.steps = steps
  }

  private static let invalid = HCI.ErrorCode.invalidHCICommandParameters

  var testDescription: String { "\(opcode), \(field) at \(offset)\(steps.isEmpty ? "" : " after \(steps.count)")" }

  /// All values, each with the expected status.
  var cases: [(value: UInt64, status: HCI.ErrorCode)] {
    accepted.map { ($0, status) } + refused.flatMap { entry in entry.value.map { ($0, entry.key) } }
  }

  /// Returns the command's parameters, without a connection handle, with `value` in the field.
  func parameters(_ value: UInt64) -> [UInt8]? {
    guard var octets = base ?? CommandTable.row(opcode)?.parameters else { return nil }
    for (index, octet) in changes { octets[index] = octet }
    for index in 0..<width { octets[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * index)) }
    return octets
  }
}

extension FieldRule {
  /// Returns the rules for Connection_Interval_Min and the fields after it, for a command where they begin at `offset`
  /// · 7.8.12, 7.8.18, 7.8.31, 7.8.66.
  static func connectionParameters(_ code: HCI.Opcode, at offset: Int, on setup: Setup = .unconnected)
    -> [FieldRule]
  {
    /// Returns a rule whose `changes` have offsets relative to Connection_Interval_Min.
    func rule(
      _ field: String, at index: Int, _ changes: [Int: UInt8] = [:], accepts: [UInt64], refuses: [UInt64]
    ) -> FieldRule {
      let changes = [Int: UInt8](uniqueKeysWithValues: changes.map { ($0.key + offset, $0.value) })
      return FieldRule(
        code, field, at: offset + index, width: 2, with: changes, on: setup, accepts: accepts, refuses: refuses)
    }
    // A timeout of 32 s, and 4 s as the largest interval.
    let longest: [Int: UInt8] = [6: 0x80, 7: 0x0C]
    return [
      rule("Connection_Interval_Min", at: 0, accepts: [6, 23, 24], refuses: [0, 5, 25, 3_200, 0xFFFF]),
      rule("Connection_Interval_Max", at: 2, longest, accepts: [24, 3_200], refuses: [0, 23, 3_201, 0xFFFF]),
      // The smallest interval permits the largest latency.
      rule(
        "Max_Latency", at: 4, [0: 6, 2: 6].merging(longest) { $1 }, accepts: [0, 499], refuses: [500, 0xFFFF]),
      rule(
        "Supervision_Timeout", at: 6, [0: 6, 2: 6], accepts: [10, 3_200], refuses: [0, 9, 3_201, 0xFFFF]),
      // 100 ms: the timeout must exceed 200 ms.
      rule("Supervision_Timeout of 100 ms", at: 6, [0: 80, 2: 80], accepts: [21], refuses: [20]),
      // 30 ms with three of four events skipped: the timeout must exceed 240 ms.
      rule("Supervision_Timeout with latency 3", at: 6, [4: 3], accepts: [25], refuses: [24]),
    ]
  }
}
