/// A key, or a value from which a key can be computed. It is compared and used like any other value, but no
/// description shows it: neither the description of the secret nor that of a value that contains it, in logs, test
/// messages and `dump`.
package struct Secret<Value: Hashable & Sendable>: Hashable, Sendable {
  package var value: Value
  package init(_ value: Value) { self.value = value }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "hidden" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
