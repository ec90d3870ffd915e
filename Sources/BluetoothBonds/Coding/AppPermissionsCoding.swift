// Design: decisions on disk
//
// The user's answers about apps are in `apps.json` beside the bonds. Its `order` lists the apps from the oldest answer
// to the newest; beyond 1,000 apps the oldest answers are dropped. Its `users` are the apps that have used the adapter
// by a server, for the identifiers of former runs in `ble why`.

import BluetoothDaemon

/// The file with the user's decisions on apps, and the names of apps that have used the adapter.
extension AppPermissions: BondFile {
  /// `order` has the names of the apps from the oldest decision to the newest, because an object has no order.
  private enum Key: CodingKey { case apps, order, users }

  package init(from decoder: any Decoder) throws {
    let json = try decoder.container(keyedBy: Key.self)
    let apps = try json.decode([String: Bool].self, forKey: .apps)
    let order = try json.decodeIfPresent([String].self, forKey: .order) ?? []
    self.init()
    // Files of earlier versions have no order. An app that is not in the order counts as old.
    for app in Set(apps.keys).subtracting(order).sorted() + order {
      if let isAllowed = apps[app] { set(isAllowed, for: app) }
    }
    for app in try json.decodeIfPresent([String].self, forKey: .users) ?? [] { noteUse(of: app) }
  }

  package func encode(to encoder: any Encoder) throws {
    var json = encoder.container(keyedBy: Key.self)
    try json.encode(Dictionary(uniqueKeysWithValues: order.map { ($0, self[$0]) }), forKey: .apps)
    try json.encode(order, forKey: .order)
    try json.encodeIfPresent(users.isEmpty ? nil : users, forKey: .users)
  }
}
