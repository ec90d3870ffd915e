/// The shares of an adapter that each app can have at a time, so that no app can take all of them. All sessions that
/// belong to no app count as one app.
package struct AppShares: Hashable, Sendable {
  /// The maximum number of links and pending connections; nil: no limit.
  package var links: Int?
  /// The maximum number of advertising sets; nil: no limit.
  package var advertisingSets: Int?

  package init(links: Int? = nil, advertisingSets: Int? = nil) {
    self.links = links
    self.advertisingSets = advertisingSets
  }
}
