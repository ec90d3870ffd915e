/// The user's decisions on which apps may use an adapter.
package struct AppPermissions: Hashable, Sendable {
  /// The maximum number of apps; beyond it the oldest decisions are dropped.
  static let maximumCount = 1_000

  private var apps: [String: Bool] = [:]
  /// The apps in the order in which the user was asked about them.
  package private(set) var order: [String] = []

  package init() {}

  package subscript(app: String) -> Bool? { apps[app] }

  package mutating func set(_ isAllowed: Bool, for app: String) {
    if apps.updateValue(isAllowed, forKey: app) == nil { order.append(app) }
    if order.count > Self.maximumCount { apps[order.removeFirst()] = nil }
  }
}
