import BluetoothWire

/// What goes wrong between a host and its controller, for whoever keeps a log: each is told once, and nothing has to be done
/// about it.
package enum HostTrouble: Hashable, Sendable {
  /// The controller has not answered this command in time. Commands that others can do without are not sent again.
  case unanswered(HCI.Opcode)
  /// It claims this command, and does not know it, after it has taken others that exclude what would do instead.
  case unknownCommand(HCI.Opcode)
  /// The controller took no command any more.
  case noCommandsTaken
  /// It has reported Hardware Error, with a code of its maker's.
  case hardwareError(UInt8)
  /// Something was lost or added on the way from it, and nothing says where its packets begin.
  case synchronizationLost
  /// Data was lost because the controller had no room for it: it has fewer buffers than it told.
  case dataBufferOverflow
  /// The end of a link was asked for and never told; the host has forgotten it.
  case linkNotEnded(HCI.ConnectionHandle)
  /// It has a link whose beginning it has not told, or not so that it arrived; the link is ended.
  case unknownLink(HCI.ConnectionHandle)
  /// It has ended a link and has not told it, or not so that it arrived.
  case lostLink(HCI.ConnectionHandle)
  /// It is reset, for the nth time in a row out of so many, after a pause.
  case resetting(attempt: Int, of: Int, after: TimeSpan)
  /// It works again.
  case recovered
  /// It is not used any more until somebody switches it on.
  case givenUp
}

extension HostTrouble: CustomStringConvertible {
  /// A line for the log.
  package var description: String {
    switch self {
    case .unanswered(let opcode): "The controller has not answered \(opcode) within \(Self.text(CommandQueue.timeout))."
    case .unknownCommand(let opcode): "The controller does not know \(opcode), which it claims."
    case .noCommandsTaken: "The controller has taken no command for \(Self.text(CommandQueue.timeout))."
    case .hardwareError(let code): "The controller reports Hardware Error 0x\(code.hexadecimal)."
    case .synchronizationLost: "What comes from the controller makes no packets any more."
    case .dataBufferOverflow: "The controller has lost data: it has fewer buffers than it says."
    case .linkNotEnded(let handle): "The controller has not told the end of connection \(handle): taken to be gone."
    case .lostLink(let handle):
      "The controller does not have the link \(handle) any more: it is over."
    case .unknownLink(let handle):
      "The controller has a connection \(handle) of which no LE Connection Complete has come: it is ended."
    case .resetting(let attempt, let attempts, let pause):
      pause == .zero
        ? "The controller is reset, attempt \(attempt) of \(attempts)."
        : "The controller is reset in \(Self.text(pause)), attempt \(attempt) of \(attempts)."
    case .recovered: "The controller works again."
    case .givenUp: "The controller does not work and is not used any more until it is switched off and on."
    }
  }

  private static func text(_ span: TimeSpan) -> String { "\(span.nanoseconds / 1_000_000_000) s" }

  /// Whether a user has lost something by it for good.
  package var isFatal: Bool { self == .givenUp }

  /// Whether what was on its way when a reset began may be the cause.
  var isOfTheMoment: Bool {
    switch self {
    case .hardwareError, .synchronizationLost: true
    default: false
    }
  }
}
