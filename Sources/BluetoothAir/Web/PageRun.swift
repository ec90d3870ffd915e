import BluetoothController
import BluetoothLab
import BluetoothRadio
import BluetoothSimulation
import Foundation

/// Runs a world in virtual time as the viewers of its page ask for it, on the thread of a test that waits for them.
final class PageRun: @unchecked Sendable {
  // Unchecked: the condition guards the variables.

  /// The wall clock time between two looks at the viewers' requests, in seconds, while the world stands still.
  private static let idleTime = 0.02
  /// The radio time that a run advances between two looks at the requests and at the condition of the run.
  private static let slice = Duration.milliseconds(10)
  /// The longest run.
  private static let longestRun = 86_400.0

  typealias Answer = @Sendable (ControlAnswer) -> Void

  private static let notServing = "the program runs the world itself now"

  /// A request to run the world.
  private struct Job {
    var remaining: Duration
    var isDone: (@Sendable (World) -> Bool)?
    let answer: Answer
  }

  private let world: World
  private let condition = NSCondition()
  private var jobs: [Job] = []
  /// Radio seconds per second of the wall clock; 0: the world stands still between requests.
  private var pace = 0.0
  private var isServing = false
  private var isEnded = false

  init(_ world: World) { self.world = world }

  /// The pace of the world, for the messages of the page.
  var speed: Double { condition.withLock { pace } }

  /// Takes a request that concerns the time of the world. Returns false if the request does not.
  ///
  /// - Parameter answer: called on any thread, unless the page ends before.
  func take(_ request: ControlRequest, _ answer: @escaping Answer) -> Bool {
    switch request.verb {
    case .stop:
      end()
      answer(ControlAnswer())
    case .speed: setSpeed(request.speed, answer)
    case .run: run(request, answer)
    default: return false
    }
    return true
  }

  private func setSpeed(_ speed: Double?, _ answer: Answer) {
    guard let speed, speed == 0 || (0.001...1_000).contains(speed) else {
      return answer(
        ControlAnswer(error: "speed: expected 0, which pauses, or radio seconds per second from 0.001 to 1000"))
    }
    condition.withLock {
      pace = speed
      condition.signal()
    }
    answer(ControlAnswer())
  }

  private func run(_ request: ControlRequest, _ answer: @escaping Answer) {
    guard let seconds = request.seconds, seconds > 0, seconds <= Self.longestRun else {
      return answer(ControlAnswer(error: "seconds: expected more than 0 and at most \(Int(Self.longestRun))"))
    }
    var isDone: (@Sendable (World) -> Bool)?
    if let until = request.until {
      guard let index = request.device.flatMap({ world.deviceNames.firstIndex(of: $0) }) else {
        return answer(ControlAnswer(error: "device: expected the name of a device"))
      }
      isDone = { $0.hasLink(index) == (until == .link) }
    }
    let job = Job(remaining: .seconds(seconds), isDone: isDone, answer: answer)
    let isAdded = condition.withLock {
      if isServing { jobs.append(job) }
      condition.signal()
      return isServing
    }
    if !isAdded { answer(ControlAnswer(error: Self.notServing)) }
  }

  /// Ends `serve`.
  func end() {
    condition.withLock {
      isEnded = true
      condition.signal()
    }
  }

  /// Runs the world as the viewers ask for it, until a viewer or `end` ends it.
  @available(*, noasync, message: "it blocks the thread")
  func serve() {
    condition.withLock { (isServing, isEnded) = (true, false) }
    while true {
      let (job, pace, isEnded) = condition.withLock { (jobs.first, self.pace, self.isEnded) }
      if isEnded { break }
      if let job {
        advance(job)
      } else if pace > 0 {
        world.run(for: .seconds(pace * Self.idleTime))
        wait()
      } else {
        // Carries out the requests that wait for the world, without time.
        world.run(for: .zero)
        wait()
      }
    }
    let rest = condition.withLock {
      (isServing, pace) = (false, 0)
      defer { jobs = [] }
      return jobs
    }
    for job in rest { job.answer(ControlAnswer(error: Self.notServing)) }
  }

  private func wait() {
    condition.withLock {
      if !isEnded { _ = condition.wait(until: Date(timeIntervalSinceNow: Self.idleTime)) }
    }
  }

  /// Runs the world for a slice of the job.
  private func advance(_ job: Job) {
    let slice = min(job.remaining, Self.slice)
    var isOver = job.isDone?(world) ?? false
    if !isOver {
      world.run(for: slice)
      isOver = job.isDone?(world) ?? false
    }
    let rest = job.remaining - slice
    if isOver || rest <= .zero {
      condition.withLock { _ = jobs.removeFirst() }
      var answer = ControlAnswer()
      answer.time = world.now.seconds
      if job.isDone != nil, !isOver { answer.note = "the state was not reached" }
      job.answer(answer)
    } else {
      condition.withLock { jobs[0].remaining = rest }
    }
  }
}

extension World {
  /// Returns true if a device has a link. For a condition of a run.
  fileprivate func hasLink(_ index: Int) -> Bool {
    inspect { engine in
      (engine.device(RadioID(index: index)) as? any WorldDevice)?.links.contains {
        $0.isConnected && $0.isEstablished
      } ?? false
    }
  }
}
