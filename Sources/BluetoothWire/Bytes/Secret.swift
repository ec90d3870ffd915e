/// A key, or what a key can be computed from. It is compared and used like any value, but no description shows it: neither its
/// own nor that of whatever holds it, in logs, messages of tests and `dump`.
package struct Secret<Value: Hashable & Sendable>: Hashable, Sendable {
  package var value: Value
  package init(_ value: Value) { self.value = value }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "hidden" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
