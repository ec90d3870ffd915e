/// Carries the app's objects, which are not Sendable, between the calling thread and the manager's queue. Only the
/// managers' cores and the streams of channels open it: inside their lock, or on the manager's queue.
struct AppBox<Value>: @unchecked Sendable {
  var value: Value
}
