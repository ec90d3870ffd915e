import Foundation

/// A line on the standard error that shows how far long work is, if that is a terminal.
final class ProgressLine {
  private let total: Double
  private let unit: String
  private let isShown: Bool
  private let start = ContinuousClock.now
  private var last: ContinuousClock.Instant?

  /// The time between two pictures.
  private static let period = Duration.milliseconds(100)

  /// A line that is never shown.
  static var silent: ProgressLine { ProgressLine(of: 1, isShown: false) }

  init(of total: Double, unit: String = "s", isShown: Bool? = nil) {
    (self.total, self.unit) = (total, unit)
    self.isShown = isShown ?? (isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb")
  }

  /// Shows that this part of the total is done.
  func show(_ done: Double) {
    let now = ContinuousClock.now
    guard isShown, last.map({ now - $0 >= Self.period }) ?? true else { return }
    last = now
    let part = total > 0 ? min(1, done / total) : 1
    let passed = (now - start).seconds
    let rest = part > 0.01 ? ", \(Int((passed / part * (1 - part)).rounded(.up))) s left" : ""
    let places = unit == "s" ? 1 : 0
    write("\r\(Int(part * 100)) %  \(done.fixed(places)) of \(total.fixed(places)) \(unit)\(rest)\u{1B}[K")
  }

  /// Removes the line, so that another text can take its place.
  func clear() {
    guard last != nil else { return }
    last = nil
    write("\r\u{1B}[K")
  }

  private func write(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data(text.utf8)) }
}
