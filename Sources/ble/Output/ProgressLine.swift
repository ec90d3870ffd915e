import Foundation

/// A line on the standard error that shows how far long work is, if that is a terminal.
final class ProgressLine {
  private let total: Double
  private let unit: String
  /// True if the line appears on the terminal.
  let isShown: Bool
  private let start = ContinuousClock.now
  private var last: ContinuousClock.Instant?

  /// The time between two pictures.
  private static let period = Duration.milliseconds(100)

  init(of total: Double, unit: String = "s", isShown: Bool? = nil) {
    (self.total, self.unit) = (total, unit)
    self.isShown = isShown ?? Screen.showsProgress
  }

  /// Shows that this part of the total is done.
  func show(_ done: Double) {
    let now = ContinuousClock.now
    guard isShown, last.map({ now - $0 >= Self.period }) ?? true else { return }
    last = now
    LivePart.show(line: Self.line(done, of: total, unit: unit, after: (now - start).seconds))
  }

  /// Returns the line: percentage, parts and remaining time.
  ///
  /// - Parameters:
  ///   - done: the part of the total that is done. Seconds have a decimal; of other units, only whole ones are shown.
  ///   - seconds: the time that this part has taken.
  static func line(_ done: Double, of total: Double, unit: String, after seconds: Double) -> String {
    let part = total > 0 ? min(1, done / total) : 1
    let rest = part > 0.01 ? ", \(Int((seconds / part * (1 - part)).rounded(.up))) s left" : ""
    let amount = unit == "s" ? done.fixed(1) : done.rounded(.down).fixed(0)
    return "\(Int(part * 100)) %  \(amount) of \(total.fixed(unit == "s" ? 1 : 0)) \(unit)\(rest)"
  }

  /// Removes the line, so that another text can take its place.
  func clear() {
    guard last != nil else { return }
    last = nil
    Terminal.remove()
  }
}

extension LivePart {
  /// Shows a line on the standard error in place of the one before. A failure is ignored: the work goes on without it.
  static func show(line: String) {
    try? Terminal.show(LivePart(line: line, columns: Screen.size(of: STDERR_FILENO).columns), after: "\r")
  }

  /// Creates a line on the standard error.
  ///
  /// - Parameter columns: the number of columns of the terminal. The line is cut: the terminal would continue a longer
  ///   one in the next row, where "\r" does not lead to its beginning.
  init(line: String, columns: Int) {
    self.init(
      descriptor: STDERR_FILENO, text: line.cut(to: columns - 1) + "\u{1B}[K", erasure: "\r\u{1B}[K")
  }
}
