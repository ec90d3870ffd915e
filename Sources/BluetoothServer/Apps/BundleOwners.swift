/// The programs that have the bundle identifiers: for each user, the program that has claimed an identifier first.
///
/// A user has a share of the table, so that nobody can take the places of other users. At the limit the owner that has
/// not connected for the longest time makes room, and its identifier can be claimed again by programs of its user.
struct BundleOwners {
  /// The maximum number of bundle identifiers that the programs of one user have.
  static let share = 256
  /// The maximum number of bundle identifiers that the programs of all users have.
  static let limit = 4_096

  private struct Claim {
    let program: String
    /// The number of the latest use.
    var lastUse: UInt64
  }

  private struct Place {
    let user: UInt32
    let identifier: String
    let lastUse: UInt64
  }

  private var claims: [UInt32: [String: Claim]] = [:]
  /// The number of claims of all users.
  private var count = 0
  /// The number of uses so far, which is the time of the latest use.
  private var useCount: UInt64 = 0

  /// Returns the program of a user that has a bundle identifier: `program` if no other one has claimed it before.
  ///
  /// Complexity: O(n) in the number of claims if the table, or the share of the user, is full.
  ///
  /// - Returns: the owner, and true if another claim of the user had to make room because their share is full.
  mutating func owner(
    of identifier: String, claimedBy program: String, ofUser user: UInt32
  ) -> (program: String, hasUsedUpShare: Bool) {
    useCount += 1
    if let claim = claims[user]?[identifier] {
      if claim.program == program { claims[user]?[identifier]?.lastUse = useCount }
      return (claim.program, false)
    }
    let hasUsedUpShare = claims[user].map { $0.count >= Self.share } ?? false
    if hasUsedUpShare { removeOldest(of: [user]) } else if count >= Self.limit { removeOldest(of: claims.keys) }
    claims[user, default: [:]][identifier] = Claim(program: program, lastUse: useCount)
    count += 1
    return (program, hasUsedUpShare)
  }

  private mutating func removeOldest(of users: some Sequence<UInt32>) {
    let places = users.flatMap { user in
      (claims[user] ?? [:]).map { Place(user: user, identifier: $0.key, lastUse: $0.value.lastUse) }
    }
    guard let oldest = places.min(by: { $0.lastUse < $1.lastUse }) else { return }
    claims[oldest.user]?[oldest.identifier] = nil
    if claims[oldest.user]?.isEmpty == true { claims[oldest.user] = nil }
    count -= 1
  }
}
