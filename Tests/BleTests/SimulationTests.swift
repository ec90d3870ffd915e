import ArgumentParser
import BluetoothLab
import CoreBluetooth
import Foundation
import NIOConcurrencyHelpers
import Testing

@testable import ble

@Suite struct SimulationTests {
  @Test(
    "A list of seeds has numbers and ranges",
    arguments: [
      ("7", [7]), ("1..4", [1, 2, 3, 4]), ("9,1..2", [9, 1, 2]), ("5..5", [5]), ("0,18446744073709551615", [0, .max]),
    ] as [(String, [UInt64])])
  func seeds(text: String, seeds: [UInt64]) {
    #expect(SeedList(argument: text)?.seeds == seeds)
    #expect(SeedList(argument: SeedList(seeds).argument)?.seeds == seeds)
  }

  @Test(
    "A list of seeds that can't be read is refused",
    arguments: ["", "1..", "..3", "4..1", "1,,2", "-1", "1..2..3", "1,1", "1..3,2", "0..18446744073709551615"])
  func wrongSeeds(text: String) {
    #expect(SeedList(argument: text) == nil)
  }

  @Test("The shards of a sweep have each seed once", arguments: [1, 3, 8])
  func shards(count: Int) throws {
    let all = SeedList(Array(1...20))
    let parts = try (1...count).map { all.shard(try #require(Shard(argument: "\($0)/\(count)"))).seeds }
    #expect(parts.flatMap { $0 }.sorted() == all.seeds)
    #expect((parts.map(\.count).max() ?? 0) - (parts.map(\.count).min() ?? 0) <= 1)
    for text in ["0/2", "3/2", "1", "1/0", "a/b", "1/2/3"] { #expect(Shard(argument: text) == nil, "\(text)") }
  }

  @Test("A time is a number of seconds, or has a unit")
  func times() {
    #expect(TimeArgument(argument: "90")?.seconds == 90)
    #expect(TimeArgument(argument: "0.5s")?.seconds == 0.5)
    #expect(TimeArgument(argument: "250ms")?.seconds == 0.25)
    #expect(TimeArgument(argument: "15min")?.seconds == 900)
    #expect(TimeArgument(argument: "2h")?.seconds == 7_200)
    #expect(TimeArgument(argument: "1d")?.seconds == 86_400)
    for text in ["", "0", "-1", "h", "1w", "1e9", "1e-10", "nan"] {
      #expect(TimeArgument(argument: text) == nil, "\(text)")
    }
  }

  @Test("An argument that is no list of seeds and no shard is refused with the expected form")
  func forms() {
    let shard = #expect(throws: (any Error).self) {
      try Simulate.parse(["world.yaml", "--seeds", "1..4", "--shard", "-1/2"])
    }
    #expect(shard.map { Simulate.message(for: $0) }?.contains("such as 1/8 to 8/8") == true)
    let seeds = #expect(throws: (any Error).self) { try Simulate.parse(["world.yaml", "--seeds", "-1"]) }
    #expect(seeds.map { Simulate.message(for: $0) }?.contains("such as 1..100 or 1,5,9..12") == true)
  }

  @Test("The job of a sweep shows no progress: its parent has the terminal")
  func progressOfJobs() throws {
    let sweep = ["world.yaml", "--seeds", "1..4"]
    let parent = try Simulate.parse(sweep)
    #expect(parent.makeProgress(of: 4, unit: "runs", isTerminal: true).isShown)
    #expect(!parent.makeProgress(of: 4, unit: "runs", isTerminal: false).isShown)
    let job = try Simulate.parse(sweep + ["--parent", "1"])
    #expect(!job.makeProgress(of: 4, unit: "runs", isTerminal: true).isShown)
  }

  @Test("A capture or a picture does not replace the world file", arguments: ["--capture", "--plot"])
  func ownFiles(option: String) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let world = folder + "/world.yaml"
    try Data("seed: 1".utf8).write(to: URL(fileURLWithPath: world))
    for path in [world, folder + "/../" + (folder as NSString).lastPathComponent + "/world.yaml"] {
      let command = try Simulate.parse([world, "--for", "1", option, path])
      #expect(throws: (any Error).self) { try command.run() }
    }
    #expect(FileManager.default.contents(atPath: world) == Data("seed: 1".utf8))
  }

  @Test(
    "The standard output is no file for a picture, or for a capture beside a report",
    arguments: [
      ["capture", "stats", "a.pcapng", "--plot", "-"], ["simulate", "world.yaml", "--plot", "-"],
      ["simulate", "world.yaml", "--capture", "-"], ["air", "--hci", "unix:a", "--capture", "-"],
      ["air", "capture", "-"],
    ])
  func standardOutput(arguments: [String]) {
    let error = #expect(throws: (any Error).self) { try Ble.parseAsRoot(arguments) }
    #expect(error.map { Ble.exitCode(for: $0) } == ExitCode.validationFailure)
    #expect(error.map { Ble.message(for: $0) }?.contains("needs the name of a file") == true)
  }

  @Test("A picture that can't be written is refused before the simulation begins")
  func missingFolder() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let world = folder + "/world.yaml"
    try Data("seed: 1".utf8).write(to: URL(fileURLWithPath: world))
    let command = try Simulate.parse(
      [world, "--for", "1", "--capture", folder + "/a.pcapng", "--plot", folder + "/none/a.svg"])
    let failure = #expect(throws: Failure.self) { try command.run() }
    #expect(failure?.description.hasPrefix("can't write \(folder)/none/a.svg") == true)
    // The capture would be there if the simulation had begun.
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["world.yaml"])
  }

  private static func result(_ seed: UInt64) -> SimulationResult {
    let world = World(seed: seed)
    world.add(HeartRateSensor(), named: "strap", DeviceOptions(position: Position(x: 2)))
    let phones = [SimulatedPhone(.subscribe, on: world.makeDevice(named: "phone"))]
    world.run(for: .seconds(5))
    return SimulationResult(seed: seed, statistics: world.statistics, phones: phones)
  }

  @Test("A client connects and subscribes, and the result has its link from both sides")
  func subscribes() throws {
    let result = Self.result(3)
    #expect(result.summary.connections == 1 && result.summary.disconnections == 0)
    #expect(result.summary.receivedValues >= 3)
    #expect(result.devices.map(\.device) == ["strap", "phone"])
    let link = try #require(result.links.first)
    #expect(result.links.count == 1)
    #expect(link.central == "phone" && link.peripheral == "strap" && link.connected)
    #expect(link.toCentral.octets > 0 && link.toPeripheral.octets > 0)
    #expect(link.rssi?.rounded() == -48)
    #expect(result.summary.octets == link.toCentral.octets + link.toPeripheral.octets)
    #expect(result.devices.allSatisfy { $0.averageCurrent > 0 && ($0.batteryLife ?? 0) > 0 })
  }

  @Test("Results can be read as they were written, and are the same for the same seed")
  func records() throws {
    let text = [3, 4].map { Self.result($0).records.map { $0.line + "\n" }.joined() }
    let results = try SimulationResult.read(text.joined(), named: "results")
    #expect(results.map(\.summary.seed) == [3, 4])
    #expect(results[0].records.map(\.line).joined(separator: "\n") + "\n" == text[0])
    #expect(Self.result(3).records.map(\.line) == results[0].records.map(\.line))
    #expect(SimulationText.distribution(results).hasPrefix("of 2 runs"))
  }

  @Test("Joined results lack no seed of --seeds, have no other, and are of one behaviour of the clients")
  func joinedSeeds() throws {
    let path = NSTemporaryDirectory() + "/ble-tests-\(UUID().uuidString).json"
    defer { try? FileManager.default.removeItem(atPath: path) }
    var results = [3, 4].map { Self.result($0) }
    func failure(_ seeds: String) throws -> Failure? {
      let text = results.flatMap(\.records).map { $0.line + "\n" }.joined()
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
      let command = try Simulate.parse(["--merge", path, "--seeds", seeds])
      return #expect(throws: Failure.self) { try command.run() }
    }
    #expect(try failure("3..6")?.description == "the results lack 2 runs with the seeds 5..6")
    #expect(try failure("3")?.description == "the results have the run with seed 4 in addition to --seeds")
    (results[0].summary.clients, results[1].summary.clients) = ("subscribe", "scan")
    #expect(try failure("3..4")?.description.hasSuffix("subscribe with seed 3, scan with seed 4") == true)
  }

  @Test("Shards that are missing are an error that names them and the seeds of their runs")
  func missingShards() throws {
    let path = NSTemporaryDirectory() + "/ble-tests-\(UUID().uuidString).json"
    defer { try? FileManager.default.removeItem(atPath: path) }
    func failure(_ runs: [(seed: UInt64, shard: String?)]) throws -> Failure? {
      let results = runs.map { run in
        var result = Self.result(run.seed)
        (result.summary.sweep, result.summary.shard) = ("1..6", run.shard)
        return result
      }
      let text = results.flatMap(\.records).map { $0.line + "\n" }.joined()
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
      let command = try Simulate.parse(["--merge", path])
      return #expect(throws: Failure.self) { try command.run() }
    }
    let missing = try failure([(1, "1/3"), (4, "1/3"), (3, "3/3"), (6, "3/3")])
    #expect(missing?.description == "the results lack shard 2/3: 2 runs with the seeds 2,5 of the sweep")
    #expect(missing?.status == ExitStatus.notFound)
    let several = try failure([(1, "1/3"), (4, "1/3")])
    #expect(
      several?.description == "the results lack the shards 2/3, 3/3: 4 runs with the seeds 2..3,5..6 of the sweep")
    // A shard of which a run is missing, and a sweep without shards.
    let cut = try failure([(1, "1/2"), (2, "2/2"), (3, "1/2"), (4, "2/2"), (5, "1/2")])
    #expect(cut?.description == "the results lack the run with seed 6 of the sweep")
    let whole = try failure([(1, nil), (2, nil), (3, nil), (4, nil), (5, nil)])
    #expect(whole?.description == "the results lack the run with seed 6 of the sweep")
  }

  @Test("Results may have lines that end with CR and LF")
  func lineEnds() throws {
    let lines = Self.result(3).records.map(\.line)
    let results = try SimulationResult.read(lines.map { $0 + "\r\n" }.joined() + "\r\n", named: "results")
    #expect(results.flatMap(\.records).map(\.line) == lines)
  }

  @Test("Results that have lost links are refused, also those of a version that did not count links")
  func lostLinks() throws {
    let lines = Self.result(3).records.map(\.line)
    let cut = lines.filter { !$0.contains("\"record\":\"simulatedLink\"") }
    #expect(cut.count == lines.count - 1)
    let failure = #expect(throws: Failure.self) {
      try SimulationResult.read(cut.joined(separator: "\n"), named: "results")
    }
    let message = "results: the run with seed 3 has 0 links of 0 octets; expected 1 links"
    #expect(failure?.description.hasPrefix(message) == true)
    #expect(failure?.status == ExitStatus.ambiguous)
    let former = lines.map { $0.replacingOccurrences(of: "\"links\":1,", with: "") }
    #expect(former != lines)
    #expect(try SimulationResult.read(former.joined(separator: "\n"), named: "results").count == 1)
    let formerCut = cut.map { $0.replacingOccurrences(of: "\"links\":1,", with: "") }
    #expect(throws: Failure.self) { try SimulationResult.read(formerCut.joined(separator: "\n"), named: "results") }
  }

  @Test(
    "A line that is no result is refused with its number",
    arguments: [
      ("{}", "results:2: expected a record of ble simulate: the field \"version\" is missing"),
      ("hello", "results:2: expected a record of ble simulate: this is no JSON object"),
      (#"{"version":1,"record":"simulation"}"#, "results:2: version 1 is not known"),
      (#"{"version":2,"record":"sighting"}"#, "results:2: expected a record of ble simulate, not \"sighting\""),
      (#"{"version":2,"record":"simulation","seed":1}"#, "results:2: expected a record of ble simulate: the field"),
    ])
  func wrongResults(line: String, message: String) {
    let failure = #expect(throws: Failure.self) { try SimulationResult.read("\n" + line, named: "results") }
    #expect(failure?.description.hasPrefix(message) == true, "\(failure?.description ?? "none")")
    #expect(failure?.status == ExitStatus.ambiguous)
  }

  @Test("Results without all their devices are refused, and results of any size can be shown")
  func strangeResults() throws {
    let lines = Self.result(3).records.map(\.line)
    let cut = lines.filter { !$0.contains("\"record\":\"simulatedDevice\"") || !$0.contains("phone") }
    let failure = #expect(throws: Failure.self) {
      try SimulationResult.read(cut.joined(separator: "\n"), named: "results")
    }
    #expect(failure?.description == "results: the run with seed 3 has 1 of 2 devices")
    var results = try SimulationResult.read(lines.joined(separator: "\n"), named: "results")
    results[0].summary.throughput = -1e300
    results[0].devices[0].batteryLife = 1e300
    results[0].links[0].rssi = 1e300
    #expect(SimulationText.distribution(results).contains("battery life"))
    #expect(SimulationText.report(results[0]).contains("dBm"))
  }

  @Test("What a process of a sweep writes to its standard error is passed on in whole lines")
  func errorsOfJobs() throws {
    let pipe = Pipe()
    let pieces = NIOLockedValueBox<[String]>([])
    let arrived = DispatchSemaphore(value: 0)
    let end = SweepJobs.relay(pipe.fileHandleForReading) { octets in
      pieces.withLockedValue { $0.append(String(decoding: octets, as: UTF8.self)) }
      arrived.signal()
    }
    let writer = pipe.fileHandleForWriting
    try writer.write(contentsOf: Data("one\ntw".utf8))
    arrived.wait()
    try writer.write(contentsOf: Data("o\nthree\nfo".utf8))
    arrived.wait()
    try writer.close()
    end.wait()
    #expect(pieces.withLockedValue { $0 } == ["one\n", "two\nthree\n", "fo"])
  }
}
