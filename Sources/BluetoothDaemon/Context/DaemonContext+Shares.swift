import BluetoothWire

// The shares of apps and users in what the adapter has a limited number of.
extension DaemonContext {
  /// The app and the user that take a part of a resource.
  struct ShareHolder: Hashable {
    let app: AppIndex?
    let user: ClientUser
  }

  private func holder(of session: AnySession) -> ShareHolder? {
    sessions[session].map { ShareHolder(app: $0.app, user: $0.user) }
  }

  /// Returns true if a session may take more of a resource.
  ///
  /// - Parameter taken: what sessions have taken of it.
  mutating func mayTake(
    _ count: Int = 1, of resource: SharedResource, for session: AnySession,
    beside taken: some Sequence<(session: AnySession, count: Int)>
  ) -> Bool {
    guard let holder = holder(of: session) else { return true }
    let parts = taken.map { (holder: self.holder(of: $0.session), count: $0.count) }
    let (appLimit, userLimit) = (shares.limit(ofApp: resource), shares.limit(ofUser: resource))
    guard appLimit != nil || userLimit != nil else { return true }
    var (ofApp, ofUser) = (count, count)
    for part in parts where part.holder?.user == holder.user {
      ofUser += part.count
      if part.holder?.app == holder.app { ofApp += part.count }
    }
    if let appLimit, ofApp > appLimit {
      let name = holder.app.map { apps[$0].name } ?? "clients without an app"
      limitNotes.note("\(name): has its share of \(resource.rawValue), which is \(appLimit)")
      return false
    }
    if let userLimit, ofUser > userLimit {
      limitNotes.note("\(holder.user): has its share of \(resource.rawValue), which is \(userLimit)")
      return false
    }
    return true
  }

  /// Returns true if the user of the adapter may be asked another question that an app of this user has caused.
  mutating func mayAsk(for user: ClientUser) -> Bool {
    guard let limit = shares.limit(ofUser: .questions), prompts.openCount(of: user) >= limit else { return true }
    limitNotes.note("\(user): has its share of \(SharedResource.questions.rawValue), which is \(limit)")
    return false
  }

  /// The users whose central managers are connected to a peer, without repetition, in the order of their requests.
  func users(of peer: PeerHandle) -> [ClientUser] {
    var users: [ClientUser] = []
    for user in peers[peer].users where user.phase == .connected {
      if let user = holder(of: .central(user.session))?.user, !users.contains(user) { users.append(user) }
    }
    return users
  }

  /// Returns true if a session may request another link.
  mutating func mayLink(_ session: CentralSessionID) -> Bool {
    // The rule of a platform is about apps only.
    let platformLimit = sessions.owner(of: session) == nil ? nil : policy.linksPerApp
    guard platformLimit != nil || shares.hasSeveralPrograms else { return true }
    var users: [(session: AnySession, count: Int)] = []
    // A link that an app has cancelled no longer counts, although it takes a moment to end.
    for peer in peers.all where !peer.users.isEmpty {
      users += peer.users.filter { $0.phase != .disconnecting(again: false) }
        .map { (session: .central($0.session), count: 1) }
    }
    if let platformLimit, let holder = holder(of: .central(session)),
      users.count(where: { self.holder(of: $0.session)?.app == holder.app }) >= platformLimit
    {
      return false
    }
    return mayTake(of: .links, for: .central(session), beside: users)
  }
}
