/// The limits of what one session may have pending.
package enum SessionLimits {
  /// The maximum number of writes without response that wait for the controller, for each session and peer.
  package static let writesWithoutResponse = 20
  /// The maximum number of reads and writes that have not been answered, for each session and all its peers, and that of
  /// discoveries, for each session and peer.
  package static let requests = 16_384
  /// The maximum number of updates of subscribed values that wait for the controller, for each session.
  package static let updates = 20

  /// The maximum number of synchronizations with periodic trains, awaited or established, for each session.
  package static let synchronizations = 64

  // Limits of the events that wait on the queue of an unresponsive app, for each session

  /// At this number of events the daemon holds the links that bring more. It drops discoveries: the next packet repeats
  /// them.
  package static let waitingEvents = 256
  /// At this number of events held links continue.
  package static let fewWaitingEvents = 128
  /// At this number of events the daemon discards values that need no answer: the controller could not be made to hold
  /// the link.
  package static let mostWaitingEvents = 1_024
  /// At this number of events the daemon ends the link that brings more: a peer can cause events that need an answer or
  /// must not be discarded, such as subscriptions, without limit.
  package static let maximumWaitingEvents = 2_048
}
