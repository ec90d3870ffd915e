/// The event that tells an `H4Handler` that the other end of the line has been reset.
struct PeerReset: Sendable {}
