import BluetoothLab
import NIOConcurrencyHelpers

// The timer of the accessory.
extension PlayedAccessory {
  /// Pauses until the wake time. A changed wake time ends the pause.
  func watchTime() async throws {
    while true {
      let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
      let wakeTime = state.withLockedValue { state in
        state.wakeTimeChanged = continuation
        return state.wakeTime
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        if let wakeTime {
          group.addTask { [self] in
            let rest = wakeTime - elapsed()
            if rest > .zero { try await pause(rest) }
            pauseEnded()
          }
        }
        group.addTask { for await _ in changes { break } }
        defer { group.cancelAll() }
        try await group.next()
      }
      try Task.checkCancellation()
    }
  }

  private func pauseEnded() {
    state.withLockedValue { state in
      guard let wakeTime = state.wakeTime, wakeTime <= elapsed() else { return }
      state.wakeTime = nil
      var context = context(state, for: nil)
      state.accessory.timeReached(in: &context)
      perform(context, &state)
    }
  }
}
