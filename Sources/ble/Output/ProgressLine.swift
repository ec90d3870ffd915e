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
    self.isShown = isShown ?? Screen.showsProgress
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
    LivePart.show(line: "\(Int(part * 100)) %  \(done.fixed(places)) of \(total.fixed(places)) \(unit)\(rest)")
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
