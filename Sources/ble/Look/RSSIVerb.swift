import ArgumentParser
import BluetoothAir
import CoreBluetooth
import CoreBluetoothExtras
import Foundation

/// The verb that shows the signal strength of a link.
struct RSSI: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rssi", abstract: "Shows the signal strength of the link to a device.",
    discussion: "On a terminal, a line with the last values is kept up to date. In a pipe or with NO_COLOR, each "
      + "value is a line."
  )
  .examples("ble rssi strap", "ble rssi strap --interval 100ms --count 20 --json")

  @OptionGroup var device: DeviceChoice
  @Option(parsing: .unconditional, help: "Ends after this number of values (default: until interrupted).")
  var count: Int?
  @Option(
    parsing: .unconditional, help: ArgumentHelp("The time between two values (default: 1).", valueName: "time"),
    transform: TimeArgument.seconds(of:))
  var interval = 1.0
  @OptionGroup var adapter: AdapterOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if let count, count < 1 { throw ValidationError("--count must be at least 1, not \(count)") }
    guard interval >= 0.01, interval <= 1e6 else { throw ValidationError("--interval must be 0.01 to 1000000") }
    if adapter.virtualTime, count == nil { throw ValidationError("with --virtual-time, expected --count") }
  }

  func run() throws {
    let isLive = Screen.isLive && !output.json && !adapter.virtualTime
    try Stage(adapter).run(isEndless: count == nil) { stage in
      try await stage.withDevice(device) { peripheral in
        var values: [Int] = []
        let start = stage.now
        var picture = LivePicture()
        defer { picture.end() }
        for number in 1... {
          if number > 1 { try await stage.sleep(interval) }
          let rssi = try await peripheral.readRSSI(within: stage.stepLimit)
          if let rssi { values.append(rssi) }
          let time = stage.now - start
          if isLive {
            let line = Sparkline.line(values, columns: min(60, Screen.size.columns - 30))
            try picture.show(["\(line)  \(rssi.map { output.style.bold("\($0) dBm") } ?? "not available")"])
          } else {
            try put(text(rssi, time, peripheral, stage) + "\n")
          }
          if number == count { break }
        }
      }
    }
  }

  private func text(_ rssi: Int?, _ time: Duration, _ peripheral: Peripheral, _ stage: Stage) -> String {
    guard output.json else { return "\(time.seconds.fixed(3))\t\(rssi.map { "\($0) dBm" } ?? "-")" }
    var record = JSONRecord("rssi")
    record.add(time: time, on: stage)
    record.add("device", peripheral.id.uuidString)
    record.add("rssi", rssi.map { .integer($0) } ?? .null)
    return record.line
  }
}

/// A line of bars, one for each value.
enum Sparkline {
  private static let bars = Array("▁▂▃▄▅▆▇█")

  /// The weakest and the strongest level that bars tell apart, in dBm.
  private static let range = -100...(-30)

  /// Returns the bars of the last values.
  static func line(_ values: [Int], columns: Int) -> String {
    let shown = values.suffix(max(1, columns))
    return String(
      shown.map { value in
        let position = Double(value - range.lowerBound) / Double(range.upperBound - range.lowerBound)
        return bars[min(bars.count - 1, max(0, Int(position * Double(bars.count))))]
      })
  }
}

extension Double {
  /// The number with exactly this number of decimals.
  func fixed(_ places: Int) -> String { String(format: "%.\(places)f", self) }
}
