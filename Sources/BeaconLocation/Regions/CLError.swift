/// An error of a location manager.
public struct CLError: Error, Hashable, Sendable {
  /// The reasons, with the numbers of Core Location.
  public enum Code: Int, Sendable {
    /// The region can't be monitored, because it is no region of beacons.
    case regionMonitoringFailure = 5
  }

  /// The reason.
  public let code: Code

  /// Creates an error.
  public init(_ code: Code) { self.code = code }
}
