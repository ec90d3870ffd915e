import BeaconLocation
import BluetoothAdapters
import BluetoothAir
import BluetoothDaemonProtocol
import BluetoothLab
import BluetoothTransport
import CoreBluetooth
import CoreBluetoothExtras
import Foundation
import NIOConcurrencyHelpers

/// The adapter of a verb and the time in which it runs.
final class Stage: Sendable {
  /// The controller that the verb uses.
  private enum Controller: Sendable {
    case specifier(String)
    case device(Device)
  }

  private let controller: Controller
  /// The adapter; nil: it is a device of a world.
  private let specifier: (any AdapterSpecifier)?
  /// True if the user has named the adapter or its world.
  let isNamed: Bool
  /// The world of a world file; nil: the adapter has a specifier.
  private let world: World?
  /// The executor that runs the verb in the world's virtual time; nil: the verb runs in real time.
  private let executor: StepExecutor?
  /// The model for distances: that of the world, or of an unknown place.
  let distanceModel: DistanceModel
  /// The time limit of each step, in seconds.
  let timeout: Double
  private let start: ContinuousClock.Instant

  /// The longest time of a verb in virtual time.
  private static let virtualLimit = Duration.seconds(7 * 86_400)

  /// Opens the adapter that the options choose.
  ///
  /// - Throws: `Failure` if a world file is invalid.
  init(_ options: AdapterOptions) throws {
    timeout = options.timeout
    start = .now
    specifier = options.choice.choice.adapter
    isNamed = options.named != nil
    switch options.choice.choice {
    case .specifier(let specifier):
      guard !options.virtualTime, options.seed == nil else {
        throw Failure(
          "--virtual-time and --seed require a world: name one with --world or COREBLUETOOTH_WORLD",
          status: ExitStatus.usage)
      }
      // A bonded keyboard that this program's system had connected to would be silent for the verb.
      var context = AdapterContext()
      context.policy.reconnectsInputDevices = false
      if case .failure(let error) = AdapterRegistry.adapter(for: specifier, context) {
        throw Failure(error.description, status: ExitStatus.usage)
      }
      (controller, world, executor) = (.specifier(specifier), nil, nil)
      distanceModel = DistanceModel()
    case .world(let path):
      let file: WorldFile
      do throws(WorldFileFailure) { file = try WorldFile(path: path) } catch {
        throw Failure(error, status: ExitStatus.ambiguous)
      }
      let (world, device) = file.makeWorld(
        time: options.virtualTime ? .virtual : .real(speed: 1), seed: options.seed, client: "ble")
      (controller, self.world, executor) = (.device(device), world, options.virtualTime ? StepExecutor() : nil)
      distanceModel = DistanceModel(file.environment)
    }
  }

  /// The value for `Central.init` and `LocalPeripheral.init`.
  var adapter: Any {
    switch controller {
    case .specifier(let specifier): specifier
    case .device(let device): device
    }
  }

  /// The name of the adapter in messages.
  var adapterName: String {
    switch controller {
    case .specifier(let specifier): specifier
    case .device(let device): "\"\(device.name)\" of the world"
    }
  }

  /// The server that has the adapter; nil: the adapter is not that of a server.
  var server: ServerSpecifier? { specifier as? ServerSpecifier }

  /// True if the adapter belongs to BlueZ, which does not pass on advertising packets.
  var isOfBlueZ: Bool { specifier is BlueZSpecifier }

  /// True if the adapter is alone in a world of its own.
  var isAlone: Bool { specifier?.kind == .simulated }

  /// True if time is that of the user, so that a picture can be kept up to date.
  var isReal: Bool { executor == nil }

  /// The executor of tasks that must run in the time of the verb.
  var taskExecutor: (any TaskExecutor)? { executor }

  // MARK: Time

  /// The time since the beginning of the world, or of the verb.
  var now: Duration { world?.now ?? (ContinuousClock.now - start) }

  /// The time of day: that of the world in virtual time, which begins with the year 2001.
  var date: Date {
    guard let world, executor != nil else { return Date() }
    return Date(timeIntervalSinceReferenceDate: world.now.seconds)
  }

  /// Returns a time limit in the time of the verb.
  func limit(_ seconds: Double) -> TimeLimit {
    guard let world, executor != nil else { return TimeLimit(.seconds(seconds)) }
    return TimeLimit(.seconds(seconds), on: world.clock)
  }

  /// The time limit of a step.
  var stepLimit: TimeLimit { limit(timeout) }

  /// Waits for this number of seconds in the time of the verb.
  func sleep(_ seconds: Double) async throws {
    guard let world, executor != nil else { return try await Task.sleep(for: .seconds(seconds)) }
    try await Task.sleep(for: .seconds(seconds), clock: world.clock)
  }

  // MARK: Running

  /// Runs the verb until it has ended.
  ///
  /// - Parameters:
  ///   - isEndless: true if the user ends the verb by an interrupt, which then is no failure.
  ///   - body: the verb. At the first interrupt its task is cancelled.
  func run(isEndless: Bool = false, _ body: @escaping @Sendable (Stage) async throws -> Void) throws {
    let outcome = NIOLockedValueBox<Result<Void, any Error>?>(nil)
    let ended = DispatchSemaphore(value: 0)
    // A script may send a signal as soon as it reads the first output of the task.
    let running = NIOLockedValueBox<Task<Void, Never>?>(nil)
    let interrupt = Interrupt { running.withLockedValue { $0?.cancel() } }
    defer { withExtendedLifetime(interrupt) {} }
    let task = Task(executorPreference: executor) { [self] in
      let result: Result<Void, any Error>
      do { result = .success(try await body(self)) } catch { result = .failure(error) }
      outcome.withLockedValue { $0 = result }
      ended.signal()
    }
    running.withLockedValue { $0 = task }
    if interrupt.hasOccurred { task.cancel() }
    if let world, let executor {
      try drive(world, executor) { outcome.withLockedValue { $0 != nil } }
    } else {
      ended.wait()
    }
    let result = outcome.withLockedValue { $0 }
    guard interrupt.hasOccurred else { return try result?.get() ?? () }
    // Only a failure to write remains of interest after an interrupt.
    if case .failure(let error as OutputFailure)? = result { throw error }
    if !isEndless { throw Interrupt.failure }
  }

  /// Lets the world's time pass whenever the verb waits.
  private func drive(_ world: World, _ executor: StepExecutor, until isDone: () -> Bool) throws {
    while true {
      executor.runJobs()
      if isDone() { return }
      let now = world.now
      guard now < Self.virtualLimit else {
        throw Failure("nothing has ended the verb in a week of the world", status: ExitStatus.timeLimit)
      }
      // The condition reads the clock, so the world evaluates it after every event, such as the end of a sleep.
      world.run(until: { world.now >= now && executor.hasJobs }, limit: .seconds(3_600))
    }
  }
}

/// Keeps the jobs of the verb's tasks until the thread that runs the world runs them. Time passes only while no job is
/// left, so that the world waits for the verb.
final class StepExecutor: TaskExecutor {
  private let jobs = NIOLockedValueBox<[UnownedJob]>([])

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLockedValue { $0.append(job) }
  }

  var hasJobs: Bool { jobs.withLockedValue { !$0.isEmpty } }

  /// Runs jobs until there are none.
  func runJobs() {
    while true {
      let ready = jobs.withLockedValue { jobs in
        defer { jobs = [] }
        return jobs
      }
      if ready.isEmpty { return }
      for job in ready { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
  }
}
