/// The state of the device with respect to a region.
public enum CLRegionState: Int, Sendable {
  /// The state is not known yet.
  case unknown
  /// The device is inside the region.
  case inside
  /// The device is outside the region.
  case outside
}
