/// The behavior of an operating system where the specification leaves a choice.
package struct PlatformPolicy: Hashable, Sendable {
  /// True if the system requests bonding whenever it pairs. (There is no bond if the peer does not request bonding.)
  package var alwaysBonds: Bool
  /// The default maximum number of bonds.
  package var bondLimit: Int

  /// The behavior of Apple's systems. Their limit of bonds is not known, so the number is this project's choice.
  package static let apple = PlatformPolicy(alwaysBonds: true, bondLimit: 64)
}
