/// The reason why a specifier, or the value of an environment variable, is invalid.
package struct AdapterError: Error, Hashable, Sendable, CustomStringConvertible {
  /// One line that states the error and the valid forms.
  package let description: String
}
