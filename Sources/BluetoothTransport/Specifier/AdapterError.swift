/// The reason why a specifier, or the value of an environment variable, is invalid.
package struct AdapterError: Error, Hashable, Sendable, CustomStringConvertible {
  /// One line that states the error and the valid forms.
  package let description: String

  package init(description: String) { self.description = description }

  /// Creates the error for a text that is not the specifier of an adapter.
  package init(_ problem: SpecifierProblem, in text: String) {
    description = "\(problem.hasUnknownScheme ? "unknown" : "invalid") adapter \"\(text)\": \(problem)"
  }
}
