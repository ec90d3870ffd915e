import ArgumentParser

/// A time in seconds, or with a unit: `90`, `90s`, `500ms`, `15min`, `1h`, `7d`.
struct TimeArgument: Hashable, Sendable {
  let seconds: Double

  /// The accepted forms in messages.
  private static let forms = "seconds, or a number with a unit, such as 90, 500ms, 1.5s, 15min, 2h or 1d"

  init(seconds: Double) { self.seconds = seconds }

  /// Creates the time that a simulation can take; nil: the argument is no time, or out of range.
  init?(argument: String) {
    guard let seconds = Self.number(of: argument), seconds >= 1e-9, seconds <= 1e8 else { return nil }
    // The clock of a world counts nanoseconds.
    self.seconds = seconds
  }

  /// Creates the time that a simulation can take.
  ///
  /// - Throws: an error with the expected form.
  init(checked argument: String) throws {
    guard let time = TimeArgument(argument: argument) else {
      throw ValidationError("expected \(Self.forms), up to 100000000 seconds")
    }
    self = time
  }

  /// Returns the seconds of the argument of an option. The verb checks the range.
  ///
  /// - Throws: an error with the expected form.
  @Sendable static func seconds(of argument: String) throws -> Double {
    guard let seconds = number(of: argument) else { throw ValidationError("expected \(forms)") }
    return seconds
  }

  private static func number(of argument: String) -> Double? {
    let units: [(String, Double)] = [("min", 60), ("ms", 0.001), ("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400)]
    let unit = units.first { argument.hasSuffix($0.0) }
    guard let number = Double(argument.dropLast(unit?.0.count ?? 0)), number.isFinite else { return nil }
    return number * (unit?.1 ?? 1)
  }
}
