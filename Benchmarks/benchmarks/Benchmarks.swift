import ArgumentParser
import BluetoothLab
import Logging

@main
struct Benchmarks: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "benchmarks",
    abstract: "Measures the stack and prints a table. Use a release build: swift run -c release benchmarks")

  @Flag(help: "Does 1 % of the work, to check that all benchmarks run. The results are not representative.")
  var quick = false

  @Option(help: "Runs only the measurements whose names contain this text.")
  var only = ""

  @Option(help: "Only repeats an operation between two hosts in memory (for Benchmarks/counts).")
  var `repeat`: HostsInMemory.Operation?

  @Option(help: "Only repeats work of complete devices or controllers (for Benchmarks/counts).")
  var work: Counts.Work?

  @Flag(help: "Only counts allocations and heap octets (for Benchmarks/counts).")
  var memory = false

  @Option(help: "Only reads over TCP (for Benchmarks/count-system-calls).")
  var distant: DistantReads.Reader?

  @Option(help: "The number of repetitions.")
  var times = 1_000

  func run() throws {
    // A server and its clients write a line for each connection.
    LoggingSystem.bootstrap { label in
      var handler = StreamLogHandler.standardError(label: label)
      handler.logLevel = .error
      return handler
    }
    if let operation = `repeat` {
      var hosts = try HostsInMemory()
      try hosts.run(operation, times)
      return
    }
    if let work { return try work.run(times) }
    if memory { return try Counts.printMemory() }
    if let distant { return try DistantApp(distant).read(times) }
    var table = Table(headings: ["measurement", "result", "aim", "how it was measured"])
    for (name, measure) in Self.all where only.isEmpty || name.contains(only) {
      let measurement = try measure(quick ? 100 : 1)
      table.rows.append([measurement.name, measurement.result, measurement.aim, measurement.method])
    }
    #if DEBUG
      print("Warning: debug build. The results are not representative.")
    #endif
    print(table.text())
  }

  /// All measurements. Each divides its work by the given divisor.
  static let all =
    WholeStack.all + BelowTheAPI.all + APILayer.all + HostOperations.all + Codecs.all + RadioCrowd.all + LinkLayer.all
    + LinkEncryption.all + Pairing.all + ManyConnections.all + Memory.all + DistantReads.all
    + ServedApps.all + Accessories.all
}

extension HostsInMemory.Operation: ExpressibleByArgument {}
extension Counts.Work: ExpressibleByArgument {}
extension DistantReads.Reader: ExpressibleByArgument {}
