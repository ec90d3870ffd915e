import Foundation
import NIOConcurrencyHelpers

/// The steps of `ble run`, in their order: of a file, or of the standard input while it is typed.
protocol RunSource: Sendable {
  /// The name of the file in messages.
  var name: String { get }
  /// True if a person types the steps, so that a wrong one does not end the run.
  var isPrompt: Bool { get }
  /// Returns the next step; nil: there are no more.
  func next() async throws -> RunStep?
}

/// The steps of a whole text, all of which are checked before the first one runs.
final class RunText: RunSource {
  let name: String
  let isPrompt = false
  private let steps: NIOLockedValueBox<ArraySlice<RunStep>>

  /// - Throws: `Failure` with a line for each line of the text that is wrong.
  init(_ text: String, named name: String, variables: Set<String>) throws {
    self.name = name
    var variables = variables
    var steps: [RunStep] = []
    var problems: [String] = []
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      do {
        let place = "\(name):\(index + 1)"
        if let step = try RunStep(String(line), at: place, variables: &variables) { steps.append(step) }
      } catch let failure as Failure { problems += failure.lines }
    }
    if let first = problems.first {
      throw Failure(first, details: Array(problems.dropFirst()), status: ExitStatus.ambiguous)
    }
    guard !steps.isEmpty else { throw Failure("\(name): there are no steps", status: ExitStatus.ambiguous) }
    self.steps = NIOLockedValueBox(steps[...])
  }

  func next() async -> RunStep? { steps.withLockedValue { $0.popFirst() } }
}

/// The steps that a person or a program writes to the standard input, one at a time.
final class RunPrompt: RunSource {
  let name = "-"
  let isPrompt: Bool
  private let lines = StandardInputLines()
  private let state: NIOLockedValueBox<(number: Int, variables: Set<String>)>

  init(variables: Set<String>) {
    isPrompt = isatty(STDIN_FILENO) == 1
    state = NIOLockedValueBox((0, variables))
  }

  func next() async throws -> RunStep? {
    while true {
      if isPrompt { Terminal.aside { try? put(octets: Array("ble> ".utf8), to: STDERR_FILENO) } }
      guard let line = await lines.next() else {
        if isPrompt { try? put(octets: [0x0A], to: STDERR_FILENO) }
        try Task.checkCancellation()
        return nil
      }
      if isPrompt, ["quit", "exit"].contains(line.trimmingCharacters(in: .whitespaces)) { return nil }
      let step = try state.withLockedValue { state -> RunStep? in
        state.number += 1
        return try RunStep(line, at: "\(name):\(state.number)", variables: &state.variables)
      }
      if let step { return step }
    }
  }
}

/// The lines of the standard input. A thread reads a line when it is asked for, so that a question at the terminal gets
/// the answers to it, and no task waits for a person.
private final class StandardInputLines: Sendable {
  private let wanted = DispatchSemaphore(value: 0)
  private let stream: AsyncStream<String>
  private let thread: @Sendable () -> Void
  private let hasStarted = NIOLockedValueBox(false)

  init() {
    let (stream, continuation) = AsyncStream.makeStream(of: String.self)
    self.stream = stream
    let wanted = wanted
    thread = {
      while true {
        wanted.wait()
        guard let line = readLine() else { break }
        continuation.yield(line)
      }
      continuation.finish()
    }
  }

  /// Returns the next line; nil: the standard input has ended, or the task has been cancelled.
  func next() async -> String? {
    let isFirst = hasStarted.withLockedValue { started in
      defer { started = true }
      return !started
    }
    if isFirst {
      let body = thread
      Thread.detachNewThread { body() }
    }
    wanted.signal()
    for await line in stream { return line }
    return nil
  }
}
