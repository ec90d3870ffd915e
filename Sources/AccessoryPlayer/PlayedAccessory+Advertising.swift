import BluetoothLab
import CoreBluetoothExtras
import NIOConcurrencyHelpers

// Advertising by the schedule of the accessory.
extension PlayedAccessory {
  /// Advertises while no central is connected.
  func advertise() async throws {
    while true {
      let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
      let advertising = state.withLockedValue { state in
        state.advertisingChanged = continuation
        return state.centrals.isEmpty ? state.advertising : nil
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { [self] in try await advertise(advertising) }
        group.addTask { for await _ in changes { break } }
        defer { group.cancelAll() }
        try await group.next()
      }
      try Task.checkCancellation()
    }
  }

  /// Runs the phases of the schedule, and then waits without end.
  private func advertise(_ advertising: Advertising?) async throws {
    if let advertising {
      for phase in advertising.schedule {
        try await peripheral.withAdvertising(PublishedForm.parameters(advertising, phase)) {
          try observer?(PlayedEvent(.advertising, nil, by: nil))
          try await wait(phase.duration)
        }
      }
    }
    try await wait(nil)
  }

  /// Waits for this time; nil: without end.
  private func wait(_ time: Duration?) async throws {
    if let time { return try await pause(time) }
    while true { try await pause(.seconds(1_000_000)) }
  }
}
