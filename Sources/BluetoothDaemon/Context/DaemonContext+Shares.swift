import BluetoothWire

// The shares of apps and users in what the adapter has a limited number of.
extension DaemonContext {
  /// Returns true if a session may take more of a resource.
  ///
  /// - Parameter taken: what sessions have taken of it.
  mutating func mayTake(
    _ count: Int = 1, of resource: SharedResource, for session: AnySession,
    beside taken: some Sequence<(session: AnySession, count: Int)>
  ) -> Bool {
    let (appLimit, userLimit) = (shares.limit(ofApp: resource), shares.limit(ofUser: resource))
    guard appLimit != nil || userLimit != nil, let holder = sessions[session] else { return true }
    var (ofApp, ofUser) = (count, count)
    for part in taken {
      guard let other = sessions[part.session], other.user == holder.user else { continue }
      ofUser += part.count
      if other.app == holder.app { ofApp += part.count }
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
}
