/// The reason why octets are no capture.
package struct CaptureProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// The offset in the file.
  package let offset: Int
  package let reason: String

  package var description: String { "offset \(offset): \(reason)" }
}
