// Apple's name.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Foundation

/// A time in seconds since 1 January 2001, 00:00 UTC. Foundation on Linux does not export Core Foundation's type.
public typealias CFAbsoluteTime = Double

/// Returns the current wall clock time.
public func CFAbsoluteTimeGetCurrent() -> CFAbsoluteTime {
  Date().timeIntervalSinceReferenceDate
}
