/// Carries objects of the app, which are not Sendable, from the thread of a call to the manager's queue and back. Only the
/// managers' cores and the streams of channels open it: inside their lock, or on the manager's queue.
struct AppBox<Value>: @unchecked Sendable {
  var value: Value
}
