/// The error of an expectation that was not met in time. Its description shows the latest calls, callbacks and packets.
public struct ExpectationFailure: Error {
  /// The expectation, in the words of the test.
  public var expectation: String
  /// The reason, such as `not within 10.0 seconds`.
  public var reason: String
  /// The world's radio time of the failure.
  public var time: Duration
  /// The trace at that time.
  public var trace: WorldTrace
  /// The path of the world's capture, which lasts until the world ends; nil if the environment variable
  /// `COREBLUETOOTH_CAPTURES` names no folder, or the test has started a capture of its own.
  public var capture: String?
}

extension ExpectationFailure: CustomStringConvertible {
  /// The numbers of lines of the trace that the description shows.
  private static let shown = (events: 20, packets: 20)

  /// The expectation, the path of the capture, and the latest calls, callbacks, faults and packets of the links.
  public var description: String {
    let events = trace.entries.filter { $0.kind != .packet }.suffix(Self.shown.events)
    let packets = trace.entries.filter { $0.kind == .packet }.suffix(Self.shown.packets)
    var lines = ["\(expectation): \(reason) (at \(time.secondsText))"]
    if let capture { lines.append("capture: \(capture)") }
    lines.append(events.isEmpty ? "no app made a call" : "the latest calls, callbacks and faults:")
    if !events.isEmpty { lines.append(WorldTrace(entries: Array(events)).description) }
    lines.append(packets.isEmpty ? "no device sent a packet" : "the latest packets:")
    if !packets.isEmpty { lines.append(WorldTrace(entries: Array(packets)).description) }
    return lines.joined(separator: "\n")
  }
}

extension World {
  /// Runs the world until `condition` is true. If that takes longer than `limit`, throws an error that shows the latest
  /// calls, callbacks and packets, so that a failed test shows what went wrong. Starts the trace.
  ///
  /// ```swift
  /// try world.expect("the app reconnects", within: .seconds(10)) { app.isConnected }
  /// ```
  ///
  /// - Parameters:
  ///   - expectation: the expectation in words, for the error.
  ///   - limit: the limit in radio time.
  ///   - condition: returns true if the expectation is met.
  /// - Throws: `ExpectationFailure`.
  @available(*, noasync, message: "use the async form, which releases the thread while the world is held")
  public func expect(
    _ expectation: String, within limit: Duration = .seconds(60), _ condition: () -> Bool
  ) throws(ExpectationFailure) {
    startTrace()
    guard run(until: condition, limit: limit) else { throw failure(of: expectation, limit) }
  }

  func failure(of expectation: String, _ limit: Duration) -> ExpectationFailure {
    let held = heldPlaces.joined(separator: ", ")
    let reason = held.isEmpty ? "not within \(limit)" : "the world is held by work that has not returned: \(held)"
    return failure(of: expectation, reason: reason)
  }

  func failure(of expectation: String, reason: String) -> ExpectationFailure {
    ExpectationFailure(
      expectation: expectation, reason: reason, time: now, trace: trace, capture: failureCapture?.keep())
  }
}

extension World {
  // In an extension: the formatter takes two forms of one method in one place for ambiguous.
  /// Runs the world until `condition` is true, like the synchronous method.
  public nonisolated(nonsending) func expect(
    _ expectation: String, within limit: Duration = .seconds(60), _ condition: () -> Bool
  ) async throws(ExpectationFailure) {
    startTrace()
    guard await run(until: condition, limit: limit) else { throw failure(of: expectation, limit) }
  }
}
