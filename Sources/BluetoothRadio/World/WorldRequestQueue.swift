import BluetoothWire
import NIOConcurrencyHelpers
import Synchronization

/// A thread-safe queue of requests to a world. The thread that runs the world processes them in order. The queue also
/// holds the world's clock, which every thread may read.
package final class WorldRequestQueue: Sendable {
  /// A request.
  enum Request: Sendable {
    /// The device of this radio has pending calls from apps.
    case device(RadioID)
    /// An operation to run in the world.
    case operation(@Sendable (WorldEngine) -> Void)
  }

  private struct State {
    var requests: [Request] = []
    var devices = 0
    var wake: (@Sendable () -> Void)?
    /// See `setCallObserver`.
    var callObserver: (@Sendable () -> Void)?
  }

  private let state = NIOLockedValueBox(State())
  private let nanoseconds = Atomic<Int64>(0)
  private let reads = Atomic<UInt>(0)
  /// True if `State.requests` is not empty. Written under the lock, but read without it: the world checks after every
  /// event, and usually there is no request.
  private let hasRequests = Atomic<Bool>(false)
  private let observesCalls = Atomic<Bool>(false)

  init() {}

  /// The world's time.
  package internal(set) var now: Instant {
    get { Instant(nanoseconds: nanoseconds.load(ordering: .relaxed)) }
    set { nanoseconds.store(newValue.nanoseconds, ordering: .relaxed) }
  }

  /// Returns the world's time for an app, and counts the read: a run whose condition reads the clock must evaluate the
  /// condition after every event (see `WorldEngine.isWatched`).
  package func readClock() -> Instant {
    reads.wrappingAdd(1, ordering: .relaxed)
    return now
  }

  /// The number of clock reads by apps.
  package var clockReads: UInt { reads.load(ordering: .relaxed) }

  /// Requests that the device of this radio processes its queued calls.
  package func deviceHasRequests(_ radio: RadioID) {
    if observesCalls.load(ordering: .relaxed) {
      let observer = state.withLockedValue { $0.callObserver }
      observer?()
    }
    put(.device(radio))
  }

  /// Requests that the world runs `operation`, before its next event.
  package func perform(_ operation: @escaping @Sendable (WorldEngine) -> Void) { put(.operation(operation)) }

  /// Requests a new device, and returns its number at once. The world creates the device with `make` when it processes
  /// the request.
  package func addDevice(
    radio: RadioProperties, make: @escaping @Sendable (WorldEngine, RadioID) -> any SimulatedDevice
  ) -> RadioID {
    let (radioID, wake) = state.withLockedValue { state in
      let id = RadioID(index: state.devices)
      state.devices += 1
      state.requests.append(.operation { engine in engine.add(make(engine, id), radio: radio) })
      hasRequests.store(true, ordering: .releasing)
      return (id, state.wake)
    }
    wake?()
    return radioID
  }

  /// Sets the function that is called, on the caller's thread, whenever a request arrives.
  package func setWake(_ wake: (@Sendable () -> Void)?) {
    state.withLockedValue { $0.wake = wake }
  }

  /// Sets the function that is called, on the caller's thread, before each request of a device while `isObservingCalls`
  /// is true.
  package func setCallObserver(_ observer: (@Sendable () -> Void)?) {
    state.withLockedValue { $0.callObserver = observer }
  }

  /// True while the observer of calls gets the requests of devices.
  package var isObservingCalls: Bool {
    get { observesCalls.load(ordering: .relaxed) }
    set { observesCalls.store(newValue, ordering: .relaxed) }
  }

  private func put(_ request: Request) {
    let wake = state.withLockedValue { state in
      state.requests.append(request)
      hasRequests.store(true, ordering: .releasing)
      return state.wake
    }
    wake?()
  }

  /// True if requests are pending.
  var isPending: Bool { hasRequests.load(ordering: .acquiring) }

  /// Swaps the pending requests with `emptied`, whose memory the next requests reuse.
  func take(into emptied: inout [Request]) {
    guard hasRequests.load(ordering: .acquiring) else { return }
    state.withLockedValue { state in
      swap(&state.requests, &emptied)
      hasRequests.store(false, ordering: .relaxed)
    }
  }
}
