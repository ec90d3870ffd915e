/// The selection of records: an operator and its operand · Glucose Service 1.0, 3.4.1. The format of operands differs
/// between services, so the operand is stored as octets.
public struct RecordCriterion: Hashable, Sendable {
  public struct Operator: ValueCode {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let null: Self = 0
    public static let allRecords: Self = 1
    public static let lessThanOrEqualTo: Self = 2
    public static let greaterThanOrEqualTo: Self = 3
    public static let withinRangeOf: Self = 4
    public static let firstRecord: Self = 5
    public static let lastRecord: Self = 6
    public static let names = [
      "null", "all records", "up to", "from", "within", "the first record", "the last record",
    ]
  }

  public var `operator`: Operator
  public var operand: [UInt8]

  public init(_ operator: Operator, operand: [UInt8] = []) {
    self.operator = `operator`
    self.operand = operand
  }

  public static let all = Self(.allRecords)
  public static let first = Self(.firstRecord)
  public static let last = Self(.lastRecord)

  // The filter type Sequence Number, with which such an operand begins.
  private static let sequenceNumber: UInt8 = 1

  /// Returns the criterion for the records whose sequence numbers are in `numbers`.
  public static func sequenceNumbers(_ numbers: ClosedRange<UInt16>) -> Self {
    let (low, high) = (numbers.lowerBound, numbers.upperBound)
    var writer = ValueWriter()
    writer.integer(sequenceNumber)
    if low > 0 || high == .max { writer.integer(low) }
    if high < .max { writer.integer(high) }
    return Self(
      high == .max ? .greaterThanOrEqualTo : low == 0 ? .lessThanOrEqualTo : .withinRangeOf, operand: writer.octets)
  }

  /// The selected sequence numbers; nil if the criterion is not a range of sequence numbers.
  public var sequenceNumbers: ClosedRange<UInt16>? {
    var reader = ValueReader(operand)
    guard let filter = try? reader.uint8(), filter == Self.sequenceNumber, let first = try? reader.uint16() else {
      return nil
    }
    switch `operator` {
    case .lessThanOrEqualTo where reader.remaining == 0: return 0...first
    case .greaterThanOrEqualTo where reader.remaining == 0: return first...UInt16.max
    case .withinRangeOf:
      guard let last = try? reader.uint16(), reader.remaining == 0, first <= last else { return nil }
      return first...last
    default: return nil
    }
  }

  init(from reader: inout ValueReader) throws(ValueError) {
    self.operator = try reader.code()
    operand = reader.rest()
  }

  func write(to writer: inout ValueWriter) {
    writer.code(`operator`)
    writer.append(operand)
  }

  var text: String {
    if let numbers = sequenceNumbers { return "sequence numbers \(numbers.lowerBound) to \(numbers.upperBound)" }
    return operand.isEmpty ? `operator`.description : "\(`operator`) 0x\(operand.hexadecimal)"
  }
}

/// A command on the records that a device stores, or its response · Glucose Service 1.0, 3.4; 0x2A52.
public enum RecordAccessControlPoint: CharacteristicValue {
  case reportStoredRecords(RecordCriterion)
  case deleteStoredRecords(RecordCriterion)
  case abortOperation
  case reportNumberOfStoredRecords(RecordCriterion)
  case numberOfStoredRecords(UInt16)
  case response(to: OpCode, ResponseCode)
  /// An unknown op code with all octets that follow it.
  case other(OpCode, [UInt8])

  public struct OpCode: ValueCode {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let reportStoredRecords: Self = 1
    public static let deleteStoredRecords: Self = 2
    public static let abortOperation: Self = 3
    public static let reportNumberOfStoredRecords: Self = 4
    public static let numberOfStoredRecordsResponse: Self = 5
    public static let responseCode: Self = 6
    public static let firstNamed: UInt8 = 1
    public static let names = [
      "Report Stored Records", "Delete Stored Records", "Abort Operation", "Report Number of Stored Records",
      "Number of Stored Records Response", "Response Code",
    ]
  }

  public struct ResponseCode: ValueCode {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let success: Self = 1
    public static let opCodeNotSupported: Self = 2
    public static let invalidOperator: Self = 3
    public static let operatorNotSupported: Self = 4
    public static let invalidOperand: Self = 5
    public static let noRecordsFound: Self = 6
    public static let abortUnsuccessful: Self = 7
    public static let procedureNotCompleted: Self = 8
    public static let operandNotSupported: Self = 9
    public static let firstNamed: UInt8 = 1
    public static let names = [
      "success", "op code not supported", "invalid operator", "operator not supported", "invalid operand",
      "no records found", "abort unsuccessful", "procedure not completed", "operand not supported",
    ]
  }

  public static let uuid: UInt16 = 0x2A52

  public init(from reader: inout ValueReader) throws(ValueError) {
    let opCode = try reader.code(OpCode.self)
    switch opCode {
    case .reportStoredRecords: self = .reportStoredRecords(try RecordCriterion(from: &reader))
    case .deleteStoredRecords: self = .deleteStoredRecords(try RecordCriterion(from: &reader))
    case .reportNumberOfStoredRecords: self = .reportNumberOfStoredRecords(try RecordCriterion(from: &reader))
    case .abortOperation:
      try reader.nullOperator()
      self = .abortOperation
    case .numberOfStoredRecordsResponse:
      try reader.nullOperator()
      self = .numberOfStoredRecords(try reader.uint16())
    case .responseCode:
      try reader.nullOperator()
      self = .response(to: try reader.code(), try reader.code())
    default: self = .other(opCode, reader.rest())
    }
  }

  public func write(to writer: inout ValueWriter) {
    writer.code(opCode)
    switch self {
    case .reportStoredRecords(let criterion), .deleteStoredRecords(let criterion),
      .reportNumberOfStoredRecords(let criterion):
      criterion.write(to: &writer)
    case .abortOperation: writer.code(RecordCriterion.Operator.null)
    case .numberOfStoredRecords(let number):
      writer.code(RecordCriterion.Operator.null)
      writer.integer(number)
    case .response(let request, let code):
      writer.code(RecordCriterion.Operator.null)
      writer.code(request)
      writer.code(code)
    case .other(_, let octets): writer.append(octets)
    }
  }

  /// The op code, the first octet.
  public var opCode: OpCode {
    switch self {
    case .reportStoredRecords: .reportStoredRecords
    case .deleteStoredRecords: .deleteStoredRecords
    case .abortOperation: .abortOperation
    case .reportNumberOfStoredRecords: .reportNumberOfStoredRecords
    case .numberOfStoredRecords: .numberOfStoredRecordsResponse
    case .response: .responseCode
    case .other(let opCode, _): opCode
    }
  }

  public var fields: [ValueField] {
    switch self {
    case .reportStoredRecords(let criterion), .deleteStoredRecords(let criterion),
      .reportNumberOfStoredRecords(let criterion):
      [ValueField("", "\(opCode): \(criterion.text)")]
    case .abortOperation: [ValueField("", opCode)]
    case .numberOfStoredRecords(let number): [ValueField("number of stored records", number)]
    case .response(let request, let code): [ValueField("answer to", request), ValueField("", code)]
    case .other(let opCode, let octets):
      [ValueField("op code", opCode)] + (octets.isEmpty ? [] : [ValueField("octets", octets.hexadecimal)])
    }
  }
}

extension ValueReader {
  fileprivate mutating func nullOperator() throws(ValueError) {
    guard try code(RecordCriterion.Operator.self) == .null else { throw .outOfRange(field: "Operator") }
  }
}
