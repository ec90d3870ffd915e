/// The reason why a request to an air failed, in one line.
package struct AirError: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }
}
