/// How much one session may have on its way.
package enum SessionLimits {
  /// Writes without response that wait for the controller, for each session and peer.
  package static let writesWithoutResponse = 20
  /// Updates of subscribed values that wait for the controller, for each session.
  package static let updates = 20
}
