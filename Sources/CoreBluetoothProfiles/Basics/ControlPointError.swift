import BluetoothProfiles

/// The error of a control point's procedure. Errors of the link are the `CBError` of the asynchronous API.
public enum ControlPointError<Code: ValueCode>: Error, Hashable, Sendable {
  /// The response refuses the command, for this reason.
  case refused(Code)
  /// A procedure is in progress: of a client of this `Peripheral`, or, as the peripheral reports, of another central.
  case procedureInProgress
  /// The peripheral requires subscriptions that it does not have, although this client subscribes first.
  case notSubscribed
  /// The octets of the response are no response.
  case malformedResponse(ValueError)
  /// No response came within the time limit. The specifications forbid further procedures on this link, so all later
  /// calls throw this error, too, also those of other clients of this `Peripheral`: connect again.
  case timedOut
}

/// The error of the Record Access Control Point.
public typealias RecordAccessError = ControlPointError<RecordAccessControlPoint.ResponseCode>

/// The error of the control points of the sports services.
public typealias SensorControlError = ControlPointError<ControlPointResponse>

extension ControlPointError: CustomStringConvertible {
  /// The error as a sentence.
  public var description: String {
    switch self {
    case .refused(let code): "The peripheral has refused the command: \(code)."
    case .procedureInProgress: "Another procedure of the control point is in progress."
    case .notSubscribed: "The peripheral has rejected the command, because it requires subscriptions."
    case .malformedResponse: "The response of the control point is malformed."
    case .timedOut: "The control point has not responded in time. Connect again before the next procedure."
    }
  }
}
