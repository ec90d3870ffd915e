import BluetoothLab
import Foundation

/// The results of simulations as text.
enum SimulationText {
  /// The report of one run.
  ///
  /// - Parameter columns: the number of columns of the terminal; nil: the report is for no terminal.
  static func report(_ result: SimulationResult, columns: Int? = nil) -> String {
    let summary = result.summary
    var text = """
      \(summary.duration.fixed(3)) s, seed \(summary.seed): \(summary.devices) devices, \(summary.packets) packets
      clients: connections \(summary.connections), ended \(summary.disconnections), \
      failed attempts \(summary.failedAttempts ?? 0), values received \(summary.receivedValues)
      losses: CRC errors \(summary.crcErrors), missed packets \(summary.missedPackets), \
      retransmissions \(summary.retransmissions)

      """
    if let columns {
      text =
        text.split(separator: "\n").flatMap { String($0).wrapped(to: columns, indent: 2) }
        .joined(separator: "\n") + "\n"
    }
    let attempts = result.attempts.filter { $0.lostRequests + $0.unanswered > 0 }
    if !attempts.isEmpty {
      var table = TextTable([
        "central", "peripheral", "attempts that failed", "of", "request not received", "no answer",
      ])
      for pair in attempts {
        table.add([
          pair.central, pair.peripheral, "\(pair.lostRequests + pair.unanswered)", "\(pair.attempts)",
          "\(pair.lostRequests)", "\(pair.unanswered)",
        ])
      }
      text += "\n" + table.blocks(fitting: columns, keys: 2) + "\n"
    }
    if !result.links.isEmpty {
      var table = TextTable([
        "central", "peripheral", "duration", "events", "missed", "to peripheral", "to central", "retransmitted", "RSSI",
      ])
      for link in result.links {
        table.add([
          link.central, link.peripheral, link.duration.fixed(1) + " s" + (link.connected ? "" : " (ended)"),
          "\(link.events)", "\(link.missedEvents)", rate(link.toPeripheral.throughput), rate(link.toCentral.throughput),
          "\(link.toPeripheral.retransmissions + link.toCentral.retransmissions)",
          link.rssi.map { "\($0.fixed(0)) dBm" } ?? "-",
        ])
      }
      text += "\n" + table.blocks(fitting: columns, keys: 2) + "\n"
    }
    var table = TextTable([
      "device", "sent", "received", "CRC errors", "missed", "transmitting", "receiving", "current", "battery life",
    ])
    for device in result.devices {
      table.add([
        device.device, "\(device.sent)", "\(device.received)", "\(device.crcErrors)", "\(device.missedPackets)",
        share(device.transmitting, summary.duration), share(device.receiving, summary.duration),
        current(device.averageCurrent), life(device.batteryLife),
      ])
    }
    text += "\n" + table.blocks(fitting: columns, keys: 1) + "\n"
    for warning in result.devices.compactMap(\.warning) {
      let line = "warning: \(warning)"
      text += "\n" + (columns.map { line.wrapped(to: $0, indent: 2) } ?? [line]).joined(separator: "\n") + "\n"
    }
    return text
  }

  /// The distribution of what several runs have shown.
  ///
  /// - Parameter columns: the number of columns of the terminal; nil: the table is for no terminal.
  static func distribution(_ results: [SimulationResult], columns: Int? = nil) -> String {
    var table = TextTable(["of \(results.count) runs", "mean", "deviation", "lowest", "highest"])
    func add(_ name: String, _ values: [Double], _ text: (Double) -> String) {
      guard let lowest = values.min(), let highest = values.max() else { return }
      let mean = values.reduce(0, +) / Double(values.count)
      let squares = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
      let deviation = values.count > 1 ? (squares / Double(values.count - 1)).squareRoot() : 0
      table.add([name, text(mean), text(deviation), text(lowest), text(highest)])
    }
    func addCount(_ name: String, _ value: (SimulationResult.Summary) -> Int) {
      add(name, results.map { Double(value($0.summary)) }) { $0.fixed(1) }
    }
    addCount("connections", \.connections)
    addCount("connections that ended", \.disconnections)
    addCount("attempts that failed") { $0.failedAttempts ?? 0 }
    addCount("values received", \.receivedValues)
    addCount("packets", \.packets)
    addCount("CRC errors", \.crcErrors)
    addCount("missed packets", \.missedPackets)
    addCount("retransmissions", \.retransmissions)
    add("throughput", results.map(\.summary.throughput), rate)
    var names: [String] = []
    for device in results.lazy.flatMap(\.devices) where !names.contains(device.device) { names.append(device.device) }
    for name in names {
      let devices = results.compactMap { $0.devices.first { $0.device == name } }
      add("\(name): current", devices.map(\.averageCurrent), current)
      add("\(name): battery life", devices.compactMap(\.batteryLife)) { life($0) }
    }
    return table.blocks(fitting: columns, keys: 1) + "\n"
  }

  private static func rate(_ bits: Double) -> String {
    bits < 9_999.5 ? "\(bits.fixed(0)) bit/s" : (bits / 1_000).fixed(1) + " kbit/s"
  }

  private static func share(_ time: Double, _ whole: Double) -> String {
    whole > 0 ? (100 * time / whole).fixed(3) + " %" : "-"
  }

  private static func current(_ milliamperes: Double) -> String {
    milliamperes < 0.9995 ? (milliamperes * 1_000).fixed(1) + " µA" : milliamperes.fixed(2) + " mA"
  }

  private static func life(_ days: Double?) -> String {
    guard let days else { return "-" }
    return days < 9.95 ? days.fixed(1) + " d" : "\(days.fixed(0)) d"
  }
}
