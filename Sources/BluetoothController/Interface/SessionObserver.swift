import BluetoothWire

/// Who is told the keys of each encrypted session: a capture whose reader has asked for them.
package protocol SessionObserver: AnyObject {
  /// A device has all that a session is made of; what is encrypted with it comes afterwards. Both ends of a link tell.
  func sessionBegins(_ session: LL.SessionRecord, at now: Instant)
}

extension Controller {
  /// Has the keys of sessions that begin from now on told; nil: nobody is told.
  package mutating func setSessionObserver(_ observer: (any SessionObserver)?) { output.sessions = observer }
}

extension Connection {
  /// Has all that an encrypted session is made of.
  mutating func beginSession(_ keys: LL.SessionKeys, at now: Instant, into output: inout HostOutput) {
    encryption.session = EncryptionSession(keys, role: role, pool: output.pool)
    guard let observer = output.sessions else { return }
    let (central, peripheral) = role == .central ? (own, peer) : (peer, own)
    observer.sessionBegins(
      LL.SessionRecord(accessAddress: accessAddress, central: central, peripheral: peripheral, keys: keys), at: now)
  }
}
