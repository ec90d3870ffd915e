/// The user's decisions on which apps may use an adapter, and the names of the apps that have used it.
package struct AppPermissions: Hashable, Sendable {
  /// The maximum number of apps; beyond it the oldest decisions are dropped.
  static let maximumCount = 1_000
  /// The maximum number of users; beyond it the oldest are dropped.
  static let maximumUsers = 256
  /// The maximum length of the names of all users, in octets; beyond it the oldest are dropped.
  static let maximumUserOctets = 1 << 16

  private var apps: [String: Bool] = [:]
  /// The apps in the order in which the user was asked about them.
  package private(set) var order: [String] = []
  /// The names of the apps that have used the adapter by a server, in the order of their first use. No decision follows
  /// from them.
  package private(set) var users: [String] = []

  package init() {}

  package subscript(app: String) -> Bool? { apps[app] }

  package mutating func set(_ isAllowed: Bool, for app: String) {
    if apps.updateValue(isAllowed, forKey: app) == nil { order.append(app) }
    if order.count > Self.maximumCount { apps[order.removeFirst()] = nil }
  }

  /// Notes that an app uses the adapter.
  package mutating func noteUse(of app: String) {
    guard !users.contains(app) else { return }
    users.append(app)
    var octets = users.reduce(0) { $0 + $1.utf8.count }
    while users.count > Self.maximumUsers || octets > Self.maximumUserOctets {
      octets -= users.removeFirst().utf8.count
    }
  }
}
