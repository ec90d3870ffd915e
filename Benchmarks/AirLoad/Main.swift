import ArgumentParser
import Foundation

/// Puts load on an air, or on any other server of HCI in H4 form over TCP, and prints measurements.
@main
struct AirLoad: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "air-load", abstract: "Loads one or more controllers over TCP.",
    subcommands: [NullServer.self, RoundTrips.self, Throughput.self, Crowd.self])
}

/// Prints one figure on a line: name, value, unit.
func report(_ name: String, _ value: Double, _ unit: String) {
  let text = value >= 100 ? "\(Int(value.rounded()))" : "\((value * 1_000).rounded() / 1_000)"
  print("\(name)\t\(text)\t\(unit)")
}

struct Target: ParsableArguments {
  @Option(help: "The TCP port at 127.0.0.1.") var port: Int
}

extension AirLoad {
  /// Sends commands one after the other, each after the answer to the previous one.
  struct RoundTrips: ParsableCommand {
    @OptionGroup var target: Target
    @Option(help: "The number of commands.") var count = 50_000

    func run() throws {
      let host = try Host(port: target.port)
      try host.command(0x0C03)
      for _ in 0..<count / 10 { try host.command(0x1001) }
      let begin = ContinuousClock.now
      for _ in 0..<count { try host.command(0x1001) }
      let time = begin.duration(to: .now)
      report("round-trips", Double(count) / time.seconds, "1/s")
    }
  }

  /// Connects two hosts with data PDUs of 251 octets, one of which sends as much as its controller accepts.
  struct Throughput: ParsableCommand {
    @OptionGroup var target: Target
    @Option(help: "The duration of the measurement, in seconds of real time.") var seconds = 5.0
    @Option(help: "The connection interval in units of 1.25 ms.") var interval = 39
    @Option(help: "The PHY: 1 for LE 1M, 2 for LE 2M.") var phy = 2

    func run() throws {
      let (central, peripheral) = (try Host(port: target.port), try Host(port: target.port))
      let link = try Link(central: central, peripheral: peripheral, interval: interval, is2M: phy == 2)
      _ = try link.pour(for: min(seconds, 1))
      let poured = try link.pour(for: seconds)
      report("throughput", poured.rate / 1e6, "MB/s")
      report("lost", Double(poured.lost), "octets")
    }
  }

  /// Starts many controllers that only advertise, until the standard input ends.
  struct Crowd: ParsableCommand {
    @OptionGroup var target: Target
    @Option(help: "The number of controllers.") var count = 1_000
    @Option(help: "The advertising interval in units of 0.625 ms.") var interval = 1_600
    @Flag(help: "Connects the controllers without advertising.") var silent = false

    func run() throws {
      var hosts: [Host] = []
      for _ in 0..<count {
        let host = try Host(port: target.port)
        try host.command(0x0C03)
        if !silent {
          let (low, high) = (UInt8(interval & 0xFF), UInt8(interval >> 8))
          // ADV_IND on all channels.
          try host.command(0x2006, [low, high, low, high, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0])
          try host.command(0x200A, [1])
        }
        hosts.append(host)
      }
      print("ready")
      fflush(nil)
      while readLine() != nil {}
      print(hosts.count)
    }
  }
}

extension Duration {
  var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
