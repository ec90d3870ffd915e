import CoreBluetooth
import NIOConcurrencyHelpers

/// The state of a control point's procedures. All clients of a characteristic share it until the link ends.
package final class ProcedureState: Sendable {
  package enum Phase: Sendable {
    case idle, inProgress
    /// A procedure has had no response in time, so no other one may begin on this link.
    case timedOut
  }

  private let content = NIOLockedValueBox(Phase.idle)

  package var phase: Phase { content.withLockedValue { $0 } }

  /// Begins a procedure if none is in progress and none has timed out.
  ///
  /// - Returns: the phase before; the procedure has begun if it was `idle`.
  package func begin() -> Phase {
    content.withLockedValue { phase in
      defer { if phase == .idle { phase = .inProgress } }
      return phase
    }
  }

  /// Ends the procedure in progress.
  package func end() {
    content.withLockedValue { if $0 == .inProgress { $0 = .idle } }
  }

  /// Ends the procedure in progress, and refuses all later ones.
  package func timeOut() {
    content.withLockedValue { $0 = .timedOut }
  }
}

extension Peripheral {
  /// Returns the state of the characteristic's procedures. A characteristic of an earlier link has none, and gets a new
  /// state from each call.
  func procedureState(of characteristic: CBCharacteristic) -> ProcedureState {
    with { state in
      let key = ObjectIdentifier(characteristic)
      guard state.attributes[key] === characteristic else { return ProcedureState() }
      if let known = state.procedures[key] { return known }
      let new = ProcedureState()
      state.procedures[key] = new
      return new
    }
  }
}
