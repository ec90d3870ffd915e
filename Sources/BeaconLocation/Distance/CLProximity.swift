/// The coarse distance of a beacon.
public enum CLProximity: Int, Sendable {
  /// The distance is not known.
  case unknown
  /// Up to 0.5 m.
  case immediate
  /// Up to 4 m.
  case near
  /// More than 4 m.
  case far
}
