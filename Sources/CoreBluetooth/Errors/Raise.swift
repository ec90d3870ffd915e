/// Stops the program where an exception is raised on Apple's systems, and says why. `preconditionFailure` would keep the
/// reason to itself in release builds.
func raise(_ reason: String, file: StaticString = #fileID, line: UInt = #line) -> Never {
  fatalError(reason, file: file, line: line)
}
