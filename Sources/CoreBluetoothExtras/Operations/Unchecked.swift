/// Carries objects of CoreBluetooth, which are not Sendable, between threads. They protect their state with locks, so
/// that any thread may call them; only this module opens the box.
struct Unchecked<Value>: @unchecked Sendable {
  var value: Value

  init(_ value: Value) { self.value = value }
}
