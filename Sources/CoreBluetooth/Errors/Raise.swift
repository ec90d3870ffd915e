/// Stops the program with a reason where Apple's systems raise an exception. `preconditionFailure` would omit the
/// reason in release builds.
func raise(_ reason: String, file: StaticString = #fileID, line: UInt = #line) -> Never {
  fatalError(reason, file: file, line: line)
}
