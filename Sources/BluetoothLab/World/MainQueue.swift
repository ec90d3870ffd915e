import Foundation

/// Runs the work of the main queue between two events of a world, as a main thread does that waits for events.
///
/// A synchronous run occupies the main thread, so nobody else can run that work. Foundation's run loop gets the main
/// queue by two functions that libdispatch exports for it; they find out in one system call that there is no work.
enum MainQueue {
  /// The maximum number of hops, one after the other, that a synchronous run serves at one instant.
  static let maximumRounds = 10_000
  /// The maximum number of hops, one after the other, for which a run on the main actor yields at one instant.
  static let maximumYields = 16

  private struct Functions {
    /// Returns the event descriptor that is readable if the queue has work.
    let handle: @convention(c) () -> Int32
    /// Runs the work that is in the queue. Does nothing inside that work.
    let drain: @convention(c) (UnsafeMutableRawPointer?) -> Void
  }

  /// The functions; nil where libdispatch has other ones, or is linked statically.
  private static let functions: Functions? = {
    guard let handle = dlsym(nil, "_dispatch_get_main_queue_handle_4CF"),
      let drain = dlsym(nil, "_dispatch_main_queue_callback_4CF")
    else { return nil }
    return Functions(
      handle: unsafeBitCast(handle, to: (@convention(c) () -> Int32).self),
      drain: unsafeBitCast(drain, to: (@convention(c) (UnsafeMutableRawPointer?) -> Void).self))
  }()

  /// Returns true if the main queue has got work since the last call. Call it on the main thread, and then `serve`.
  static func takeSignal() -> Bool {
    guard let functions else { return false }
    var count: UInt64 = 0
    return read(functions.handle(), &count, MemoryLayout<UInt64>.size) > 0
  }

  /// Runs the work of the main queue, on the main thread.
  static func serve() { functions?.drain(nil) }

  /// Suspends a task of the main actor until the work that is in the main queue has run, and one further hop of it.
  /// `Task.yield` resumes the task from another thread, so that the task stands anywhere among those hops.
  nonisolated(nonsending) static func waitForWork() async {
    await withUnsafeContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
  }
}
