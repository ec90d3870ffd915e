import BluetoothWire
import Testing

@testable import BluetoothController

/// One HCI command: parameters that are in range, the form of its answer, and its section in Vol 4, Part E.
struct CommandRow: Sendable, CustomTestStringConvertible {
  enum Answer: Sendable { case complete, status, none }

  /// The set of advertising commands to which the command belongs · 3.1.1.
  enum Generation: Sendable { case legacy, extended, both }

  let opcode: HCI.Opcode
  let section: String
  let generation: Generation
  /// Parameters in range; if `hasHandle`, without the leading connection handle.
  let parameters: [UInt8]
  /// True if Connection_Handle is the first parameter.
  let hasHandle: Bool
  let answer: Answer
  /// The number of octets of the return parameters on success, with the status.
  let returns: Int
  /// The expected status after a reset, with nothing enabled and no connection.
  let idle: HCI.ErrorCode
  /// The expected status on a connection in either role, without encryption.
  let connected: HCI.ErrorCode

  var testDescription: String { "\(opcode) (\(section))" }

  /// Returns the number of octets of the return parameters with this status · 4.5: an error needs only the status and
  /// the handle.
  func returnLength(_ status: HCI.ErrorCode) -> Int {
    if status == .success || answer == .status { return returns }
    return hasHandle ? 3 : 1
  }

  func octets(_ handle: HCI.ConnectionHandle) -> [UInt8] {
    hasHandle ? [UInt8(handle.rawValue & 0xFF), UInt8(handle.rawValue >> 8)] + parameters : parameters
  }
}

extension CommandRow {
  /// Returns a command that Command Complete answers.
  static func complete(
    _ opcode: HCI.Opcode, _ section: String, _ parameters: [UInt8] = [], returns: Int = 1,
    idle: HCI.ErrorCode = .success, connected: HCI.ErrorCode? = nil, generation: Generation = .both
  ) -> Self {
    CommandRow(
      opcode: opcode, section: section, generation: generation, parameters: parameters, hasHandle: false,
      answer: .complete, returns: returns, idle: idle, connected: connected ?? idle)
  }

  /// Returns a command that Command Status answers.
  static func status(
    _ opcode: HCI.Opcode, _ section: String, _ parameters: [UInt8] = [], idle: HCI.ErrorCode = .success,
    generation: Generation = .both
  ) -> Self {
    CommandRow(
      opcode: opcode, section: section, generation: generation, parameters: parameters, hasHandle: false,
      answer: .status, returns: 1, idle: idle, connected: idle)
  }

  /// Returns a command for a connection that Command Complete answers with the handle.
  static func completeOnLink(
    _ opcode: HCI.Opcode, _ section: String, _ parameters: [UInt8] = [], returns: Int = 3,
    connected: HCI.ErrorCode = .success, generation: Generation = .both
  ) -> Self {
    CommandRow(
      opcode: opcode, section: section, generation: generation, parameters: parameters, hasHandle: true,
      answer: .complete, returns: returns, idle: .unknownConnectionIdentifier, connected: connected)
  }

  /// Returns a command for a connection that Command Status answers.
  static func statusOnLink(_ opcode: HCI.Opcode, _ section: String, _ parameters: [UInt8] = []) -> Self {
    CommandRow(
      opcode: opcode, section: section, generation: .both, parameters: parameters, hasHandle: true,
      answer: .status,
      returns: 1, idle: .unknownConnectionIdentifier, connected: .success)
  }
}

/// The answer of a controller to one command, decoded from its octets.
struct CommandAnswer: Equatable, CustomStringConvertible {
  var answer: CommandRow.Answer
  var status: HCI.ErrorCode?
  var credits: UInt8
  /// The number of octets of the return parameters.
  var length: Int

  var description: String { "\(answer) \(status.map { "\($0)" } ?? "-"), \(length) octets, \(credits) credits" }
}

extension ControllerHarness {
  /// Gives the controller a command, and returns all answers to it, in order.
  func answers(to opcode: HCI.Opcode, _ octets: [UInt8]) -> [CommandAnswer] {
    var answers: [CommandAnswer] = []
    onPacket = { packet in
      guard case .event(let code, let parameters) = packet, let answer = CommandAnswer(code, parameters, to: opcode)
      else { return }
      answers.append(answer)
    }
    defer { onPacket = nil }
    controller.receive(.command(opcode: opcode, parameters: ByteSlice(octets)), at: now)
    air?.processOutput(of: number)
    return answers
  }

  /// Returns the status of the only answer; records an issue if the number of answers is not one.
  @discardableResult
  func status(of opcode: HCI.Opcode, _ octets: [UInt8], _ why: String = "") -> HCI.ErrorCode? {
    let answers = answers(to: opcode, octets)
    if answers.count != 1 { Issue.record("\(opcode) \(why): \(answers.count) answers") }
    return answers.first?.status
  }
}

extension CommandAnswer {
  /// Returns nil if the event answers no command, or another command.
  init?(_ code: UInt8, _ parameters: ByteSlice, to opcode: HCI.Opcode) {
    let octets = parameters.bytes
    let place: Int
    switch code {
    case HCI.EventCode.commandComplete:
      place = 1
      self.init(
        answer: .complete, status: octets.count > 3 ? HCI.ErrorCode(rawValue: octets[3]) : nil, credits: octets[0],
        length: octets.count - 3)
    case HCI.EventCode.commandStatus:
      place = 2
      self.init(answer: .status, status: HCI.ErrorCode(rawValue: octets[0]), credits: octets[1], length: 1)
    default: return nil
    }
    guard UInt16(octets[place]) | UInt16(octets[place + 1]) << 8 == opcode.rawValue else { return nil }
  }
}
