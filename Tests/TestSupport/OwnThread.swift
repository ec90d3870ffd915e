import Foundation

/// Runs work that blocks on a thread of its own, and returns its value.
///
/// Tasks, and so all tests, share a pool with as many threads as the machine has cores. Two tests that block a thread of
/// the pool until a third test does something would wait forever on a machine with two cores.
package func onOwnThread<Value: Sendable, Failure: Error>(
  _ body: @escaping @Sendable () throws(Failure) -> Value
) async throws(Failure) -> Value {
  let result = await withCheckedContinuation { (continuation: CheckedContinuation<Result<Value, Failure>, Never>) in
    Thread.detachNewThread {
      do throws(Failure) {
        continuation.resume(returning: .success(try body()))
      } catch {
        continuation.resume(returning: .failure(error))
      }
    }
  }
  return try result.get()
}
