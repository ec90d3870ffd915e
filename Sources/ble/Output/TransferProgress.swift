import BluetoothAir
import BluetoothDissection
import Foundation

/// A line on the standard error, at a terminal only, that tells how far a transfer, or the reading of a file, is.
struct TransferProgress {
  /// The time between two pictures, in seconds.
  private static let interval = 0.1

  /// The octets of the whole transfer.
  let total: UInt64
  private let start: Double
  private var lastShown: Double?

  /// Begins at this time, in seconds.
  init(total: UInt64, at start: Double) { (self.total, self.start) = (total, start) }

  /// Shows the number of octets so far.
  mutating func show(_ count: UInt64, at now: Double) {
    guard Screen.showsProgress, now - (lastShown ?? -1) >= Self.interval else { return }
    lastShown = now
    LivePart.show(line: Self.line(count, of: total, after: now - start))
  }

  /// Erases the line, before other lines.
  mutating func end() {
    if lastShown != nil { Terminal.remove() }
    lastShown = nil
  }

  /// Returns the line: octets, percentage, rate and remaining time.
  static func line(_ count: UInt64, of total: UInt64, after seconds: Double) -> String {
    let percent = total == 0 ? 100 : Int(Double(count) / Double(total) * 100)
    var parts = ["\(amount(count)) of \(amount(total))", "\(percent) %"]
    if seconds > 0, count > 0 {
      let rate = Double(count) / seconds
      parts.append("\(amount(UInt64(rate)))/s")
      parts.append("\(time((Double(total) - Double(count)) / rate)) left")
    }
    return parts.joined(separator: "  ")
  }

  /// Returns a number of octets with a unit: "999 B", "1.5 kB", "12.3 MB".
  static func amount(_ count: UInt64) -> String {
    var (value, units) = (Double(count), ["kB", "MB", "GB", "TB"][...])
    guard count >= 1_000 else { return "\(count) B" }
    var unit = "B"
    while value >= 999.95, let next = units.popFirst() { (value, unit) = (value / 1_000, next) }
    return "\(value.fixed(1)) \(unit)"
  }

  /// Returns a time as "0:07" or "1:02:03".
  static func time(_ seconds: Double) -> String {
    let whole = Int(min(max(0, seconds.rounded(.up)), 359_999))
    let (hours, minutes, rest) = (whole / 3_600, whole / 60 % 60, whole % 60)
    func digits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return hours > 0 ? "\(hours):\(digits(minutes)):\(digits(rest))" : "\(minutes):\(digits(rest))"
  }
}

/// The result of a transfer, for its last line.
struct TransferSummary: Sendable {
  var file: String
  var octets: UInt64
  var seconds: Double
  var digest: [UInt8]

  /// The summary in one line.
  ///
  /// - Parameter verb: "sent" or "received".
  func line(_ verb: String) -> String {
    let rate = seconds > 0 ? ", \(TransferProgress.amount(UInt64(Double(octets) / seconds)))/s" : ""
    return "\(verb) \(file): \(octets) octets in \(seconds.fixed(1)) s\(rate)"
  }

  /// The summary as a record.
  func record(_ verb: String) -> JSONRecord {
    var record = JSONRecord("transfer")
    record.add("direction", verb)
    record.add("file", file)
    record.add("octets", .number("\(octets)"))
    record.add("time", .decimal(seconds, places: 6))
    record.add("sha256", digest.digits)
    return record
  }
}
