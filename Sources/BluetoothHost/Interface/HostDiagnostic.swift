import BluetoothWire

/// A fault between a host and its controller, for the log. The host reports each fault once, and handles it by
/// itself.
package enum HostDiagnostic: Hashable, Sendable {
  /// The controller has not answered this command in time. The host does not send the command again if it can do
  /// without.
  case unanswered(HCI.Opcode)
  /// The controller claims this command but does not know it, and has already accepted other commands that exclude
  /// the alternative.
  case unknownCommand(HCI.Opcode)
  /// The controller has stopped accepting commands.
  case noCommandsTaken
  /// The controller has reported Hardware Error with a manufacturer-specific code.
  case hardwareError(UInt8)
  /// Octets from the controller were lost or inserted, so the packet boundaries are unknown.
  case synchronizationLost
  /// The controller lost data because its buffers were full: it has fewer buffers than it reported.
  case dataBufferOverflow
  /// The controller has not reported the end of a link that the host disconnected; the host has removed the link.
  case linkNotEnded(HCI.ConnectionHandle)
  /// The controller has a link whose LE Connection Complete did not reach the host; the host disconnects the link.
  case unknownLink(HCI.ConnectionHandle)
  /// The controller no longer has an advertising set that it has accepted: it has lost its state, and the event that
  /// tells of it did not reach the host.
  case lostAdvertisingSet(HCI.AdvertisingHandle)
  /// The controller has ended a link whose Disconnection Complete did not reach the host.
  case lostLink(HCI.ConnectionHandle)
  /// The host resets the controller: the number of this attempt, the maximum number of attempts, and the pause before
  /// it.
  case resetting(attempt: Int, of: Int, after: TimeSpan)
  /// The controller works again.
  case recovered
  /// The host has stopped using the controller until the user switches the host on again.
  case failed
}

extension HostDiagnostic: CustomStringConvertible {
  /// A log line.
  package var description: String {
    switch self {
    case .unanswered(let opcode): "The controller did not answer \(opcode) within \(Self.text(CommandQueue.timeout))."
    case .unknownCommand(let opcode): "The controller rejects \(opcode), although it lists the command as supported."
    case .noCommandsTaken: "The controller has not accepted a command for \(Self.text(CommandQueue.timeout))."
    case .hardwareError(let code): "The controller reports Hardware Error 0x\(code.hexadecimal)."
    case .synchronizationLost: "Lost synchronization: the data from the controller is not valid HCI."
    case .dataBufferOverflow: "The controller lost data: it has fewer buffers than it reports."
    case .linkNotEnded(let handle):
      "The controller did not report the end of connection \(handle); the connection is considered closed."
    case .lostLink(let handle):
      "The controller no longer has connection \(handle); the connection is closed."
    case .lostAdvertisingSet(let handle): "The controller no longer has advertising set \(handle.rawValue)."
    case .unknownLink(let handle):
      "The controller has connection \(handle) but sent no LE Connection Complete; disconnecting."
    case .resetting(let attempt, let attempts, let pause):
      pause == .zero
        ? "Resetting the controller, attempt \(attempt) of \(attempts)."
        : "Resetting the controller in \(Self.text(pause)), attempt \(attempt) of \(attempts)."
    case .recovered: "The controller works again."
    case .failed: "The controller does not work. It stays unused until it is switched off and on."
    }
  }

  private static func text(_ span: TimeSpan) -> String { "\(span.nanoseconds / 1_000_000_000) s" }

  /// True if the fault leaves the user without a working controller.
  package var isFatal: Bool { self == .failed }

  /// True if packets that were in transit when a reset began may have caused the fault.
  var isOfTheMoment: Bool {
    switch self {
    case .hardwareError, .synchronizationLost: true
    default: false
    }
  }
}
