/// The reason why a text is not a specifier.
package struct SpecifierProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// The error and the expected form, as the end of a line.
  package let description: String
  /// True if the text begins with the name of no scheme.
  package let hasUnknownScheme: Bool

  package init(description: String, hasUnknownScheme: Bool = false) {
    (self.description, self.hasUnknownScheme) = (description, hasUnknownScheme)
  }
}
