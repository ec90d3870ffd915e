/// What an adapter has a limited number of, and sessions take from each other.
package enum SharedResource: String, CaseIterable, Sendable {
  case links = "links and pending connections"
  case advertisingSets = "advertising sets"
  case attributes = "attributes of services"
  case channels = "published L2CAP channels"
  case synchronizations = "synchronizations with periodic advertising"
  case questions = "open questions to the user of the adapter"
}

/// The shares of an adapter that each app and each user can have at a time, so that nobody can take all of them. All
/// sessions that belong to no app count as one app.
package struct AppShares: Hashable, Sendable {
  /// The maximum number of links and pending connections of an app; nil: no limit.
  package var links: Int?
  /// The maximum number of advertising sets of an app; nil: no limit.
  package var advertisingSets: Int?
  /// The maximum number of attributes in the services of an app; nil: no limit.
  package var attributes: Int?

  package init(links: Int? = nil, advertisingSets: Int? = nil, attributes: Int? = nil) {
    self.links = links
    self.advertisingSets = advertisingSets
    self.attributes = attributes
  }

  /// True if the adapter is that of a server, whose programs do not trust each other.
  var hasSeveralPrograms: Bool { links != nil }

  /// The share of an app; nil: only the share of its user counts.
  func limit(ofApp resource: SharedResource) -> Int? {
    switch resource {
    case .links: links
    case .advertisingSets: advertisingSets
    case .attributes: attributes
    case .channels, .synchronizations, .questions: nil
    }
  }

  /// The share of a user in the adapter of a server: at least that of an app, and a part that leaves enough for others;
  /// nil: no limit.
  func limit(ofUser resource: SharedResource) -> Int? {
    guard hasSeveralPrograms else { return nil }
    let part =
      switch resource {
      case .links: 128
      case .advertisingSets: 8
      // A quarter of the handles.
      case .attributes: 16_384
      // A quarter of the dynamic PSMs.
      case .channels: 32
      case .synchronizations: 128
      // Few, so that the user of the adapter also sees the questions about the apps of others.
      case .questions: 4
      }
    return max(part, limit(ofApp: resource) ?? 0)
  }
}
