/// The reason why a server can't listen, in one line.
package struct ServerError: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String
  init(_ description: String) { self.description = description }
}
