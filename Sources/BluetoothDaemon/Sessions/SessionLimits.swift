/// How much one session may have on its way.
package enum SessionLimits {
  /// Writes without response that wait for the controller, for each session and peer.
  package static let writesWithoutResponse = 20
  /// Updates of subscribed values that wait for the controller, for each session.
  package static let updates = 20

  // Events that wait on the queue of an app that does not serve it, for each session.

  /// With so many the links that bring more are held. Discoveries are dropped: the next packet brings them again.
  package static let waitingEvents = 256
  /// With so few the links go on.
  package static let fewWaitingEvents = 128
  /// With so many values that need no answer are discarded: the controller could not be told to hold the link.
  package static let mostWaitingEvents = 1_024
}
