#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The time of day, for dates that apps see. No protocol depends on it.
package enum WallClock {
  /// The seconds from 1970-01-01 to 2001-01-01, UTC.
  private static let from1970To2001 = 978_307_200.0

  private static var time: timespec {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return now
  }

  /// The nanoseconds since 1970-01-01 00:00:00 UTC.
  package static var nanosecondsSince1970: Int64 {
    let now = time
    return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
  }

  /// The seconds since 2001-01-01 00:00:00 UTC, as `CFAbsoluteTime` counts.
  package static var secondsSince2001: Double {
    let now = time
    return Double(now.tv_sec) - from1970To2001 + Double(now.tv_nsec) / 1e9
  }
}
