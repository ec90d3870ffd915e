import Dispatch
import Testing

@testable import BluetoothRadio

/// The confinement of a world to one thread.
@Suite("Confinement of a world")
struct WorldBoundTests {
  /// Returns true if another thread may use the world.
  private static func isPermittedElsewhere(_ bound: WorldBound) -> Bool {
    let done = DispatchSemaphore(value: 0)
    nonisolated(unsafe) var answer = false
    // Not `sync`, which would use this thread.
    DispatchQueue.global().async {
      answer = bound.isPermitted
      done.signal()
    }
    done.wait()
    return answer
  }

  @Test("A second thread may use a world between the uses of the first and during a callback, and not otherwise")
  func secondThread() {
    let bound = WorldBound()
    #expect(Self.isPermittedElsewhere(bound))
    bound.enter()
    bound.enter()
    #expect(bound.isPermitted && !Self.isPermittedElsewhere(bound))
    let uses = bound.pause()
    #expect(Self.isPermittedElsewhere(bound))
    // A callback that looks at the world.
    bound.enter()
    bound.leave()
    bound.resume(uses)
    #expect(bound.isPermitted && !Self.isPermittedElsewhere(bound))
    bound.leave()
    #expect(!Self.isPermittedElsewhere(bound))
    bound.leave()
    #expect(Self.isPermittedElsewhere(bound))
  }
}
