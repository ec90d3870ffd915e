/// The permission of an app to use locations, with the numbers of Core Location.
public enum CLAuthorizationStatus: Int32, Sendable {
  /// The user has not decided yet.
  case notDetermined
  /// The app may not use locations, and the user can't change that.
  case restricted
  /// The user has denied the permission.
  case denied
  /// The app may use locations at any time.
  case authorizedAlways
  /// The app may use locations while it is in use.
  case authorizedWhenInUse
}

/// The accuracy that an app may use, with the numbers of Core Location.
public enum CLAccuracyAuthorization: Int, Sendable {
  /// Positions with full accuracy, regions and beacons.
  case fullAccuracy
  /// Positions with reduced accuracy only.
  case reducedAccuracy
}
