/// The permission of this process's apps to use an adapter.
package enum AppAccess: Hashable, Sendable {
  /// The user has not been asked, or has not answered.
  case undetermined
  case denied
  case allowed
}
