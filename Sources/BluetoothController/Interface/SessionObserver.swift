import BluetoothWire

/// An observer that receives the keys of each encrypted session: a capture whose reader has asked for them.
package protocol SessionObserver: AnyObject {
  /// Called when a device has all session parameters, before it encrypts with them. Both ends of a link report the
  /// session.
  func sessionBegins(_ session: LL.SessionRecord, at now: Instant)
}

extension Controller {
  /// Reports the keys of sessions that begin from now on to `observer`; nil: no reports.
  package mutating func setSessionObserver(_ observer: (any SessionObserver)?) { output.sessions = observer }
}

extension Connection {
  /// Starts an encrypted session, as all its parameters are known, and reports it to the session observer.
  mutating func beginSession(_ keys: LL.SessionKeys, at now: Instant, into output: inout HCIEventQueue) {
    encryption.session = EncryptionSession(keys, role: role, pool: output.pool)
    guard let observer = output.sessions else { return }
    let (central, peripheral) = role == .central ? (own, peer) : (peer, own)
    observer.sessionBegins(
      LL.SessionRecord(accessAddress: accessAddress, central: central, peripheral: peripheral, keys: keys), at: now)
  }
}
