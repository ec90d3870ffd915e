/// The places of a server for its clients. No user can take the places of all others: a user who may not control the
/// server gets a part of them, and each user who may has some in reserve.
struct ClientPlaces {
  /// The owner of a place.
  enum Owner: Hashable {
    case user(UInt32)
    /// All clients on TCP together.
    case network
  }

  /// A place that a client has taken.
  struct Place: Hashable {
    fileprivate let owner: Owner
    fileprivate let isReserve: Bool
  }

  /// The reason why there is no place for a client, for its log.
  struct Full: Error, Hashable, CustomStringConvertible {
    let description: String
  }

  /// The number of places in addition to the others, for each user who may control the server.
  static let reserve = 8

  /// The number of places without the reserve.
  let count: Int
  private var general: [Owner: Int] = [:]
  private var reserved: [Owner: Int] = [:]

  /// - Parameter count: the number of places without the reserve, at least 1.
  init(_ count: Int) { self.count = max(1, count) }

  /// The maximum number of places of a user who may not control the server.
  var share: Int { max(1, count / 4) }

  /// Takes a place for a client.
  ///
  /// - Parameter mayControl: true if the client may control the server.
  mutating func take(for owner: Owner, mayControl: Bool) throws(Full) -> Place {
    let isFull = general.values.reduce(0, +) >= count
    if mayControl {
      if !isFull {
        general[owner, default: 0] += 1
        return Place(owner: owner, isReserve: false)
      }
      guard reserved[owner, default: 0] < Self.reserve else { throw full("all places are taken, those in reserve too") }
      reserved[owner, default: 0] += 1
      return Place(owner: owner, isReserve: true)
    }
    guard !isFull else { throw full("\(count) are connected") }
    let own = general[owner, default: 0]
    guard own < share else { throw full("\(own) \(owner) are connected, the most that may be") }
    general[owner] = own + 1
    return Place(owner: owner, isReserve: false)
  }

  /// Frees a place.
  mutating func free(_ place: Place) {
    if place.isReserve { Self.free(place.owner, in: &reserved) } else { Self.free(place.owner, in: &general) }
  }

  private static func free(_ owner: Owner, in counts: inout [Owner: Int]) {
    let rest = counts[owner, default: 0] - 1
    counts[owner] = rest > 0 ? rest : nil
  }

  private func full(_ text: String) -> Full {
    Full(description: "too many clients: \(text); btserver --clients changes the limit")
  }
}

extension ClientPlaces.Owner: CustomStringConvertible {
  init(_ client: ClientIdentity) { self = client.process.map { .user($0.user) } ?? .network }

  var description: String {
    switch self {
    case .user(let user): "of user \(user)"
    case .network: "on TCP"
    }
  }
}
