/// An optional value in memory of its own, which is allocated while there is a value. Structs that rarely have the value
/// stay small: each of thousands of devices has a host with an advertiser.
@propertyWrapper
package struct Boxed<Value> {
  /// The value; none or one. An array has the semantics of a value, and its element changes in place.
  private var elements: [Value] = []

  package init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

  package var wrappedValue: Value? {
    get { elements.first }
    set {
      if let newValue, !elements.isEmpty {
        elements[0] = newValue
      } else {
        elements = newValue.map { [$0] } ?? []
      }
    }
  }
}

extension Boxed: Sendable where Value: Sendable {}
extension Boxed: Equatable where Value: Equatable {}
extension Boxed: Hashable where Value: Hashable {}
