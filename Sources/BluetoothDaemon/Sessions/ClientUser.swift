/// The user on whose behalf clients use the adapter. What clients share is limited for each user, so that no user can
/// take what others need.
package struct ClientUser: Hashable, Sendable {
  /// The system's number of the user; nil: unknown, as for the managers of this process and for all clients on TCP
  /// together.
  package let number: UInt32?

  package init(_ number: UInt32?) { self.number = number }

  /// The user of the sessions without an owner.
  package static let unknown = ClientUser(nil)
}

extension ClientUser: CustomStringConvertible {
  package var description: String { number.map { "user \($0)" } ?? "clients without a known user" }
}
