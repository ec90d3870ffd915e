import ArgumentParser
import CoreBluetoothExtras

/// The option that ends a verb after a time.
struct DurationOption: ParsableArguments {
  @Option(
    name: [.customLong("for"), .customLong("duration")], parsing: .unconditional,
    help: ArgumentHelp(
      "Ends after this time in seconds, or with ms, s, min, h or d (default: until interrupted).", valueName: "time"),
    transform: TimeArgument.seconds(of:))
  var seconds: Double?

  func validate() throws {
    if let seconds, !(seconds > 0 && seconds <= 1e6) {
      throw ValidationError("--for must be more than 0, up to 1000000 seconds")
    }
  }

  /// Throws if the verb has no end in virtual time.
  ///
  /// - Parameter other: another option that ends the verb, and was not given.
  func requireEnd(_ adapter: AdapterOptions, or other: String? = nil) throws {
    guard adapter.virtualTime, seconds == nil else { return }
    throw ValidationError("with --virtual-time, expected --for\(other.map { " or \($0)" } ?? "")")
  }

  /// Runs `body` until it has ended, or until the time has passed: then its task is cancelled.
  ///
  /// - Returns: true if `body` has ended by itself.
  @discardableResult
  func run(on stage: Stage, _ body: @escaping @Sendable () async throws -> Void) async throws -> Bool {
    guard let seconds else {
      try await body()
      return true
    }
    do {
      try await withTimeLimit(stage.limit(seconds), body)
      return true
    } catch is TimeLimitExceeded {
      return false
    }
  }
}
