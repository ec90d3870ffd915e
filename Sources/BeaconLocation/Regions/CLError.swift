import Foundation

/// The domain of `CLError` as an `NSError`.
public let kCLErrorDomain: String = "kCLErrorDomain"

/// An error of a location manager. This module creates only `regionMonitoringFailure`: what keeps Bluetooth from being
/// used is reported as a `CBError`.
public struct CLError: CustomNSError, Hashable, Sendable {
  /// The reasons, with the numbers of Core Location.
  public enum Code: Int, Sendable {
    /// The position can't be determined.
    case locationUnknown = 0
    /// The user has denied the use of locations.
    case denied = 1
    /// The network is not available.
    case network = 2
    /// The heading can't be determined.
    case headingFailure = 3
    /// The user has denied the monitoring of regions.
    case regionMonitoringDenied = 4
    /// The region can't be monitored, because it is no region of beacons.
    case regionMonitoringFailure = 5
    /// The monitoring can't begin at once.
    case regionMonitoringSetupDelayed = 6
    /// Events of regions may be late.
    case regionMonitoringResponseDelayed = 7
    /// A geocoding request has no result.
    case geocodeFoundNoResult = 8
    /// A geocoding request has a partial result.
    case geocodeFoundPartialResult = 9
    /// A geocoding request was cancelled.
    case geocodeCanceled = 10
    /// Deferred updates can't begin.
    case deferredFailed = 11
    /// Updates are not deferred, because there are none.
    case deferredNotUpdatingLocation = 12
    /// The accuracy is too low for deferred updates.
    case deferredAccuracyTooLow = 13
    /// Updates with a distance filter are not deferred.
    case deferredDistanceFiltered = 14
    /// Deferred updates were cancelled.
    case deferredCanceled = 15
    /// Beacons can't be ranged, for example because Bluetooth is off.
    case rangingUnavailable = 16
    /// Ranging has failed.
    case rangingFailure = 17
    /// The user has declined a temporary permission.
    case promptDeclined = 18
    /// Positions of the past can't be determined.
    case historicalLocationError = 19
  }

  /// The reason.
  public let code: Code

  /// Creates an error.
  public init(_ code: Code) { self.code = code }

  /// The error domain, `kCLErrorDomain`.
  public static var errorDomain: String { kCLErrorDomain }

  /// The number of the reason.
  public var errorCode: Int { code.rawValue }
}

// The codes as static members, so that `error.code == CLError.denied` compiles as on Apple's systems.
extension CLError {
  public static var locationUnknown: Code { .locationUnknown }
  public static var denied: Code { .denied }
  public static var network: Code { .network }
  public static var headingFailure: Code { .headingFailure }
  public static var regionMonitoringDenied: Code { .regionMonitoringDenied }
  public static var regionMonitoringFailure: Code { .regionMonitoringFailure }
  public static var regionMonitoringSetupDelayed: Code { .regionMonitoringSetupDelayed }
  public static var regionMonitoringResponseDelayed: Code { .regionMonitoringResponseDelayed }
  public static var geocodeFoundNoResult: Code { .geocodeFoundNoResult }
  public static var geocodeFoundPartialResult: Code { .geocodeFoundPartialResult }
  public static var geocodeCanceled: Code { .geocodeCanceled }
  public static var deferredFailed: Code { .deferredFailed }
  public static var deferredNotUpdatingLocation: Code { .deferredNotUpdatingLocation }
  public static var deferredAccuracyTooLow: Code { .deferredAccuracyTooLow }
  public static var deferredDistanceFiltered: Code { .deferredDistanceFiltered }
  public static var deferredCanceled: Code { .deferredCanceled }
  public static var rangingUnavailable: Code { .rangingUnavailable }
  public static var rangingFailure: Code { .rangingFailure }
  public static var promptDeclined: Code { .promptDeclined }
  public static var historicalLocationError: Code { .historicalLocationError }
}
