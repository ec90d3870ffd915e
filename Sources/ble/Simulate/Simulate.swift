import ArgumentParser
import BluetoothAir
import BluetoothLab
import BluetoothTransport
import Foundation

/// The verb that runs a world in virtual time and reports what happened.
struct Simulate: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Runs the world of a file as fast as the machine allows, and reports links, losses and energy.",
    discussion: """
      The clients of the world file play phones: each connects to every connectable device, discovers its services, and \
      subscribes to all values. A sweep runs the world with many seeds, on several processors (--jobs) or machines \
      (--shard); --merge joins the results.
      """
  )
  .examples("ble simulate gym --for 1h", "ble simulate gym --for 5min --seeds 1..20 --jobs 2")

  @Argument(
    help: ArgumentHelp("A world file (YAML or JSON), or an example: \(ExampleWorlds.list).", valueName: "world"),
    completion: .file())
  var world: String?

  @Option(
    name: .customLong("for"), parsing: .unconditional,
    help: ArgumentHelp(
      "The simulated time in seconds, or with ms, s, min, h or d (default: 60).", valueName: "time"),
    transform: TimeArgument.init(checked:))
  var duration = TimeArgument(seconds: 60)

  @Option(parsing: .unconditional, help: "The seed, in place of that of the file.")
  var seed: UInt64?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The seeds of a sweep, such as 1..100 or 1,5,9..12: one run for each.", valueName: "seeds"),
    transform: SeedList.init(checked:))
  var seeds: SeedList?

  @Option(parsing: .unconditional, help: "How many runs of a sweep go on at the same time, each in a process.")
  var jobs = 1

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Only part I of N of the seeds, such as 2/8.", valueName: "i/n"),
    transform: Shard.init(checked:))
  var shard: Shard?

  @Option(
    help: """
      What the clients of the file do: subscribe to everything, scan only, or stay idle.
      """)
  var clients = SimulatedPhone.Behaviour.subscribe

  @Option(
    help: ArgumentHelp("Captures the run in this pcapng file, which is replaced at the beginning.", valueName: "file"),
    completion: .file())
  var capture: String?

  @Option(
    help: ArgumentHelp(
      "Draws the packets by channel, the throughput and the signal strength over time.", valueName: "file.svg"),
    completion: .file())
  var plot: String?

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp("Joins the results of runs with --json, in place of a simulation.", valueName: "file"),
    completion: .file())
  var merge: [String] = []

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Ends when this process, which has started the job, has ended.", visibility: .hidden))
  var parent: Int32?

  @OptionGroup var output: OutputOptions

  /// True if the process whose job this is has ended, such as by SIGKILL.
  private var isOrphan: Bool { parent.map { getppid() != $0 } ?? false }

  func validate() throws {
    try OutputOptions.requireName(capture, of: "--capture")
    try OutputOptions.requireName(plot, of: "--plot")
    if merge.isEmpty {
      guard world != nil else { throw ValidationError("expected a world file, or --merge with results") }
    } else if world != nil {
      throw ValidationError("expected either a world file or --merge")
    }
    if !merge.isEmpty, shard != nil { throw ValidationError("--shard belongs to a simulation, not to --merge") }
    if seed != nil, seeds != nil { throw ValidationError("expected either --seed or --seeds") }
    if shard != nil, seeds == nil { throw ValidationError("--shard requires --seeds") }
    guard (1...1_024).contains(jobs) else { throw ValidationError("invalid --jobs: expected 1 to 1024") }
    if jobs > 1, seeds == nil { throw ValidationError("--jobs requires --seeds") }
    if seeds != nil, capture != nil || plot != nil {
      throw ValidationError("--capture and --plot show one run: use --seed in place of --seeds")
    }
  }

  func run() throws {
    // A capture empties its file when it begins.
    if let capture, let world, capture == world || OutputFile.isSame(capture, world) {
      throw ValidationError("the capture needs a file of its own")
    }
    if let plot, [capture, world].contains(where: { $0.map { $0 == plot || OutputFile.isSame($0, plot) } ?? false }) {
      throw ValidationError("the picture needs a file of its own")
    }
    guard merge.isEmpty else { return try joinResults() }
    guard let path = world else { return }
    let file = try readWorld(path)
    guard let seeds else {
      let progress = makeProgress(of: duration.seconds, unit: "s")
      return try write(try Self.simulate(file, self, seed: seed ?? file.seed ?? 0, progress, Interrupt {}))
    }
    let mine = shard.map { seeds.shard($0) } ?? seeds
    try sweep(file, mine)
  }

  private func readWorld(_ path: String) throws -> WorldFile {
    do throws(WorldFileFailure) { return try WorldFile(path: path) } catch {
      throw Failure(error, status: ExitStatus.ambiguous)
    }
  }

  private func write(_ result: SimulationResult) throws {
    try put(
      output.json
        ? result.records.map { $0.line + "\n" }.joined() : SimulationText.report(result, columns: Screen.width))
  }

  // MARK: One run

  /// Creates the line that shows how far the work is. A job shows none: its parent shows the progress of the sweep on
  /// the same terminal.
  ///
  /// - Parameter isTerminal: true if the standard error can show progress.
  func makeProgress(of total: Double, unit: String, isTerminal: Bool = Screen.showsProgress) -> ProgressLine {
    ProgressLine(of: total, unit: unit, isShown: isTerminal && parent == nil)
  }

  /// Runs the world once, or until an interrupt.
  ///
  /// - Parameter runs: the runs that are complete, if `progress` is that of a sweep; nil: it is that of this run.
  private static func simulate(
    _ file: WorldFile, _ options: Simulate, seed: UInt64, _ progress: ProgressLine, after runs: Int? = nil,
    _ interrupt: Interrupt
  ) throws -> SimulationResult {
    // A picture that can't be written is found before the simulation, which may take hours.
    let drawing = try options.plot.map { try OutputFile($0) }
    let world = World(seed: seed)
    world.ignoreMainQueue()
    let picture = options.plot == nil ? nil : try PlotCapture(options.capture)
    defer { picture?.remove() }
    if let path = picture?.path ?? options.capture {
      do throws(Capture.Failure) { world.startCapture(try Capture(path: path)) } catch { throw Failure("\(error)") }
    }
    var population = file.populate(world)
    var phones: [SimulatedPhone] = []
    for (index, client) in file.clients.enumerated() {
      let device = world.makeDevice(named: client.name, client.options)
      population.place(index, for: device)
      phones.append(SimulatedPhone(options.clients, on: device))
    }
    let end = Duration.seconds(options.duration.seconds)
    // The pieces change nothing of the result. They are short, so that an interrupt does not wait.
    let piece = min(max(end / 500, .milliseconds(1)), .seconds(5))
    var isOver = false
    while world.now < end, !isOver {
      world.run(for: min(piece, end - world.now))
      progress.show(runs.map { Double($0) + world.now / end } ?? world.now.seconds)
      isOver = interrupt.hasOccurred || options.isOrphan
    }
    progress.clear()
    var result = SimulationResult(seed: seed, statistics: world.statistics, phones: phones)
    result.summary.clients = options.clients.rawValue
    result.summary.sweep = options.seeds?.argument
    result.summary.shard = options.shard?.argument
    do throws(Capture.Failure) { try world.finishCapture() } catch { throw Failure("\(error)") }
    // The capture ends at the interrupt, and is complete. A report of a part of the time would pass for the whole.
    guard !isOver, !interrupt.hasOccurred else { throw Interrupt.failure }
    if let picture, let drawing {
      let title = "\(((options.world ?? "") as NSString).lastPathComponent), seed \(seed)"
      try CaptureReport(picture.path, PacketFilter(try PacketFilterOptions.parse([])), plots: true).plot?.write(
        to: drawing, title: title)
    }
    return result
  }

  // MARK: Sweeps

  private func sweep(_ file: WorldFile, _ seeds: SeedList) throws {
    let progress = makeProgress(of: Double(seeds.seeds.count), unit: "runs")
    defer { progress.clear() }
    progress.show(0)
    var results: [SimulationResult] = []
    func add(_ result: SimulationResult) throws {
      results.append(result)
      progress.clear()
      if output.json { try write(result) }
      progress.show(Double(results.count))
    }
    if jobs == 1 {
      let interrupt = Interrupt {}
      for seed in seeds.seeds {
        try add(Self.simulate(file, self, seed: seed, progress, after: results.count, interrupt))
      }
    } else {
      guard let world, world != "-" else {
        throw Failure("several jobs can't read the standard input", status: ExitStatus.usage)
      }
      let arguments = [
        "simulate", world, "--for", "\(duration.seconds)", "--clients", clients.rawValue, "--json", "--parent",
        "\(getpid())",
      ]
      let runs = SweepJobs(arguments: arguments, seeds: seeds, jobs: jobs)
      let interrupt = Interrupt { runs.stop() }
      defer { withExtendedLifetime(interrupt) {} }
      // A failure, such as that of one job or of the output, ends the other jobs, too.
      defer { runs.stop() }
      try runs.run { text in
        for var result in try SimulationResult.read(text, named: "a job") {
          // The seeds of the job are a part of them.
          result.summary.sweep = self.seeds?.argument
          result.summary.shard = shard?.argument
          try add(result)
        }
      }
    }
    progress.clear()
    if !output.json { try put(SimulationText.distribution(results, columns: Screen.width)) }
  }

  /// The maximum length of a file of `--merge`, in octets.
  private static let maximumResults = 256 << 20

  private func joinResults() throws {
    var results: [SimulationResult] = []
    var places: [UInt64: String] = [:]
    for path in merge {
      let text = String(decoding: try InputFile.content(of: path, limit: Self.maximumResults), as: UTF8.self)
      for result in try SimulationResult.read(text, named: path) {
        if let other = places.updateValue(path, forKey: result.summary.seed) {
          throw Failure("\(path): seed \(result.summary.seed) is in \(other), too", status: ExitStatus.ambiguous)
        }
        results.append(result)
      }
    }
    guard let first = results.first else { throw Failure("no results", status: ExitStatus.notFound) }
    if let other = results.first(where: { $0.summary.duration != first.summary.duration }) {
      throw Failure(
        "the results are not of one sweep: \(first.summary.duration.fixed(3)) s with seed \(first.summary.seed), "
          + "\(other.summary.duration.fixed(3)) s with seed \(other.summary.seed)", status: ExitStatus.ambiguous)
    }
    if let other = results.first(where: { $0.devices.map(\.device) != first.devices.map(\.device) }) {
      throw Failure(
        "the results are not of one sweep: the devices with seed \(other.summary.seed) differ from those with seed "
          + "\(first.summary.seed)", status: ExitStatus.ambiguous)
    }
    let behaviours = results.map { ($0.summary.clients, $0.summary.seed) }
    if let other = behaviours.first(where: { $0.0 != nil && $0.0 != behaviours[0].0 }), let clients = behaviours[0].0 {
      throw Failure(
        "the results are not of one sweep: --clients \(clients) with seed \(behaviours[0].1), "
          + "\(other.0 ?? "-") with seed \(other.1)", status: ExitStatus.ambiguous)
    }
    try checkSeeds(of: results)
    // The joined results are those of the whole sweep.
    for index in results.indices { results[index].summary.shard = nil }
    results.sort { $0.summary.seed < $1.summary.seed }
    try put(
      output.json
        ? results.flatMap(\.records).map { $0.line + "\n" }.joined()
        : SimulationText.distribution(results, columns: Screen.width))
  }
}

extension Simulate {
  /// Checks that the results are those of all seeds: those of `--seeds`, or else those of the sweeps to which the runs
  /// belong.
  ///
  /// - Throws: `Failure` with the seeds that are missing, and their shards, or that are too many.
  private func checkSeeds(of results: [SimulationResult]) throws {
    let present = Set(results.map(\.summary.seed))
    func list(_ seeds: Set<UInt64>) -> String {
      "\(seeds.count == 1 ? "the run with seed" : "\(seeds.count) runs with the seeds") "
        + SeedList(seeds.sorted()).argument
    }
    let sweeps = Set(results.compactMap(\.summary.sweep)).compactMap { SeedList(argument: $0) }
    let wanted = seeds.map { Set($0.seeds) } ?? Set(sweeps.flatMap(\.seeds)).union(present)
    if let missing = Self.nonEmpty(wanted.subtracting(present)) {
      let shards = sweeps.count == 1 ? missingShards(of: results, in: sweeps[0]) : []
      let names = shards.map(\.argument).joined(separator: ", ")
      throw Failure(
        "the results lack " + (shards.isEmpty ? "" : "\(shards.count == 1 ? "shard" : "the shards") \(names): ")
          + list(missing) + (seeds == nil ? " of the sweep" : ""), status: ExitStatus.notFound)
    }
    if let other = Self.nonEmpty(present.subtracting(wanted)) {
      throw Failure("the results have \(list(other)) in addition to --seeds", status: ExitStatus.ambiguous)
    }
  }

  /// Returns the shards of a sweep of which the results have no run; none if the runs do not name their shards.
  private func missingShards(of results: [SimulationResult], in sweep: SeedList) -> [Shard] {
    let present = Set(results.compactMap(\.summary.shard)).compactMap { Shard(argument: $0) }
    guard let count = present.first?.count, present.allSatisfy({ $0.count == count }) else { return [] }
    return (1...count).map { Shard(number: $0, count: count) }
      .filter { !present.contains($0) && !sweep.shard($0).seeds.isEmpty }
  }

  private static func nonEmpty(_ seeds: Set<UInt64>) -> Set<UInt64>? { seeds.isEmpty ? nil : seeds }
}

extension SimulatedPhone.Behaviour: ExpressibleByArgument {}

/// The capture from which a picture is drawn: that of the user, or a temporary one.
private struct PlotCapture {
  let path: String
  /// The file and its folder, if they are temporary.
  private let temporary: [TemporaryPath]

  init(_ path: String?) throws {
    if let path {
      (self.path, temporary) = (path, [])
    } else {
      let folder = try TemporaryPath.makeFolder()
      let file = folder.file(named: "capture.pcapng")
      (self.path, temporary) = (file.path, [file, folder])
    }
  }

  /// Removes the capture if it is temporary.
  func remove() { for path in temporary { path.remove() } }
}
