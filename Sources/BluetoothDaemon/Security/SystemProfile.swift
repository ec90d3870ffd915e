/// What a system does by its own choice, where the specification leaves one.
package struct SystemProfile: Hashable, Sendable {
  /// It asks for a bond whenever it pairs. (A peer that wants none gets none.)
  package var alwaysBonds: Bool
  /// With how many devices it bonds unless something else is said.
  package var bondLimit: Int

  /// As Apple's systems do it; how many bonds they keep is not known, so the number is this project's choice.
  package static let apple = SystemProfile(alwaysBonds: true, bondLimit: 64)
}
