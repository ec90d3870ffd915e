import BluetoothWire
import NIOConcurrencyHelpers
import Synchronization

/// The way into a world from any thread: what arrives is taken in order, by the thread that runs the world. And its clock,
/// which every thread may read.
package final class WorldMailbox: Sendable {
  /// What arrives.
  enum Mail: Sendable {
    /// This device has calls of apps waiting.
    case device(RadioID)
    /// Something to do in the world.
    case operation(@Sendable (WorldEngine) -> Void)
  }

  private struct State {
    var mail: [Mail] = []
    var devices = 0
    var wake: (@Sendable () -> Void)?
  }

  private let state = NIOLockedValueBox(State())
  private let nanoseconds = Atomic<Int64>(0)
  private let reads = Atomic<UInt>(0)
  /// Written under the lock, so that a world without mail, which looks after every event, need not take it.
  private let hasMail = Atomic<Bool>(false)

  init() {}

  /// The world's time.
  package internal(set) var now: Instant {
    get { Instant(nanoseconds: nanoseconds.load(ordering: .relaxed)) }
    set { nanoseconds.store(newValue.nanoseconds, ordering: .relaxed) }
  }

  /// The world's time, for an app: it is noted that somebody has looked.
  package func readClock() -> Instant {
    reads.wrappingAdd(1, ordering: .relaxed)
    return now
  }

  /// How often apps have looked at the clock.
  package var clockReads: UInt { reads.load(ordering: .relaxed) }

  /// The device of this radio has mail.
  package func announce(_ radio: RadioID) { put(.device(radio)) }

  /// Has `operation` done in the world, at the time that it then has.
  package func perform(_ operation: @escaping @Sendable (WorldEngine) -> Void) { put(.operation(operation)) }

  /// Adds a device, which `make` makes in the world. Its number is known at once.
  package func addDevice(
    radio: RadioProperties, make: @escaping @Sendable (WorldEngine, RadioID) -> any Participant
  ) -> RadioID {
    let (radioID, wake) = state.withLockedValue { state in
      let id = RadioID(index: state.devices)
      state.devices += 1
      state.mail.append(.operation { engine in engine.add(make(engine, id), radio: radio) })
      hasMail.store(true, ordering: .releasing)
      return (id, state.wake)
    }
    wake?()
    return radioID
  }

  /// Sets what is called, on the thread that brings mail, whenever some arrives.
  package func setWake(_ wake: (@Sendable () -> Void)?) {
    state.withLockedValue { $0.wake = wake }
  }

  private func put(_ mail: Mail) {
    let wake = state.withLockedValue { state in
      state.mail.append(mail)
      hasMail.store(true, ordering: .releasing)
      return state.wake
    }
    wake?()
  }

  /// Exchanges what has arrived for `emptied`, whose memory the next mail will use.
  func take(into emptied: inout [Mail]) {
    guard hasMail.load(ordering: .acquiring) else { return }
    state.withLockedValue { state in
      swap(&state.mail, &emptied)
      hasMail.store(false, ordering: .relaxed)
    }
  }
}
