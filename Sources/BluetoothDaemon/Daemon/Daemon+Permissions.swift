import BluetoothWire

// The user's decisions on apps that come from the other adapters of a server.
extension Daemon {
  /// Takes over the decisions on apps about which the adapter has none, and stores them.
  mutating func adopt(_ decisions: AppPermissions, at now: Instant) {
    let known = bonds.permissions()
    // The adapter's own decisions are more important than those of others.
    var room = AppPermissions.maximumCount - known.order.count
    for name in decisions.order where known[name] == nil && room > 0 {
      guard let isAllowed = decisions[name] else { continue }
      room -= 1
      // An app that has not run takes no place among the apps, unless the store can't keep the decision until it runs.
      if context.apps.index(of: name) == nil, bonds.keepAccess(isAllowed, of: name) == nil {
        context.directory.setAccess(isAllowed ? .allowed : .denied, ofApp: name)
      } else {
        setAccess(isAllowed, ofApp: name, at: now)
      }
    }
  }
}
