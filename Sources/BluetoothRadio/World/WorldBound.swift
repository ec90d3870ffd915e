#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The confinement of a world to one thread at a time. The engine notes the thread that uses it; each class that belongs
/// to the world checks that no other thread does. Only debug builds note and check: a release build has no code for it.
package final class WorldBound: @unchecked Sendable {
  // Unchecked: the thread that uses the world changes the variables. A thread that breaks the rule reads any value.
  /// The thread that uses the engine; 0: none does, as between two events and during the callbacks of apps.
  @exclusivity(unchecked) private var user: UInt = 0
  /// The number of calls of `enter` without `leave`.
  @exclusivity(unchecked) private var depth = 0

  package init() {}

  /// Stops a debug build if another thread uses the world.
  @inline(__always) package func check() {
    assert(isPermitted, "a world was used by two threads at the same time")
  }

  /// The calling thread uses the engine until `leave`.
  @inline(__always) func enter() {
    assert(isEntered(), "a world was used by two threads at the same time")
  }

  @inline(__always) func leave() {
    assert(isLeft())
  }

  /// Returns the use of the engine by this thread, which ends until `resume`, because the app's code runs.
  @inline(__always) func pause() -> Int {
    var uses = 0
    assert(isPaused(&uses))
    return uses
  }

  @inline(__always) func resume(_ uses: Int) {
    assert(isResumed(uses))
  }

  // The functions of debug builds.

  /// True if no other thread uses the engine.
  var isPermitted: Bool { user == 0 || user == Self.current }

  private func isEntered() -> Bool {
    guard isPermitted else { return false }
    user = Self.current
    depth += 1
    return true
  }

  private func isLeft() -> Bool {
    depth -= 1
    if depth == 0 { user = 0 }
    return true
  }

  private func isPaused(_ uses: inout Int) -> Bool {
    (uses, depth, user) = (depth, 0, 0)
    return true
  }

  private func isResumed(_ uses: Int) -> Bool {
    (depth, user) = (uses, uses == 0 ? 0 : Self.current)
    return true
  }

  /// The calling thread.
  private static var current: UInt {
    #if canImport(Darwin)
      UInt(bitPattern: pthread_self())
    #else
      UInt(pthread_self())
    #endif
  }
}
