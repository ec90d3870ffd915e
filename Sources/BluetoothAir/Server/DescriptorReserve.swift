import Foundation

/// The file descriptors reserved for control connections and captures, which hosts must not use. Confined to one
/// thread.
struct DescriptorReserve {
  /// The size of the reserve: enough for some control connections and captures.
  private static let count = 32

  /// The first descriptor number that hosts must not use.
  private let limit: Int

  init() {
    var system = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &system)
    let most = Int(clamping: system.rlim_cur)
    limit = most - min(Self.count, most / 4)
  }

  /// The largest number of control connections at a time.
  static let controlConnections = 8

  /// True if one more host would use the reserve. The system always assigns the lowest free descriptor.
  var areShort: Bool {
    let lowest = open("/dev/null", O_RDONLY | O_CLOEXEC)
    guard lowest >= 0 else { return true }
    close(lowest)
    return lowest >= limit
  }
}
