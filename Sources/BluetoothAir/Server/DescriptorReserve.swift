import Foundation

/// The file descriptors that hosts leave to everything else: control connections and captures. Confined to one thread.
struct DescriptorReserve {
  /// Enough for some control connections and captures.
  private static let count = 32

  /// The limit that hosts must not reach.
  private let limit: Int

  init() {
    var system = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &system)
    let most = Int(clamping: system.rlim_cur)
    limit = most - min(Self.count, most / 4)
  }

  /// The control connections that may be open at once.
  static let controlConnections = 8

  /// True if one more host would take from the reserve. The system always gives the lowest descriptor that is free.
  var areShort: Bool {
    let lowest = open("/dev/null", O_RDONLY | O_CLOEXEC)
    guard lowest >= 0 else { return true }
    close(lowest)
    return lowest >= limit
  }
}
