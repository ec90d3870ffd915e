import BluetoothDBus
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// What happens in a test, in order, for a test that waits for it.
final class Diary<Entry: Sendable>: Sendable {
  private let stream: AsyncStream<Entry>
  private let continuation: AsyncStream<Entry>.Continuation

  init() { (stream, continuation) = AsyncStream.makeStream() }

  func add(_ entry: Entry) { continuation.yield(entry) }

  /// Returns the next entries when they are there.
  func next(_ count: Int) async -> [Entry] {
    var result: [Entry] = []
    var iterator = stream.makeAsyncIterator()
    while result.count < count, let entry = await iterator.next() { result.append(entry) }
    return result
  }

  func next() async throws -> Entry { try #require(await next(1).first) }
}

/// Starts a bus on a thread that may block.
func privateBus() async throws -> PrivateBus {
  try await withCheckedThrowingContinuation { continuation in
    let body = ThreadBody { continuation.resume(with: Result { try PrivateBus.start() }) }
    #if canImport(Darwin)
      var thread: pthread_t?
    #else
      var thread = pthread_t()
    #endif
    let result = pthread_create(
      &thread, nil,
      { argument in
        let argument: UnsafeMutableRawPointer? = argument
        if let argument { Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().body() }
        return nil
      }, Unmanaged.passRetained(body).toOpaque())
    precondition(result == 0)
  }
}

private final class ThreadBody: Sendable {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// The reason why tests of a bus are left out.
let needsBus: Comment = "this machine has no dbus-daemon or no libdbus-1"
