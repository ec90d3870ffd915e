import Foundation

/// The file descriptors reserved for control connections and captures, which hosts must not use. Confined to one
/// thread.
struct DescriptorReserve {
  /// The size of the reserve: enough for the control connections and several captures. A process with a low descriptor
  /// limit reserves a quarter of its descriptors.
  private static let count = 32

  /// The first descriptor number that hosts must not use.
  private let limit: Int

  init() {
    var system = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &system)
    let most = Int(clamping: system.rlim_cur)
    limit = most - min(Self.count, most / 4)
  }

  /// The maximum number of control connections at a time.
  static let controlConnections = 8

  /// True if the connection of another host would use the reserve. The system assigns the lowest free descriptor, so a
  /// file opened for a moment shows how many are in use.
  var areShort: Bool {
    let lowest = open("/dev/null", O_RDONLY | O_CLOEXEC)
    guard lowest >= 0 else { return true }
    close(lowest)
    return lowest >= limit
  }
}
