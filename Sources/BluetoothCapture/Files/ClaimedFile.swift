import NIOConcurrencyHelpers

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A claim on a file that this process reads or writes. No capture may replace the file, through any path or link.
///
/// The claim ends when this object is released.
package final class ClaimedFile: Sendable {
  private struct Identity: Hashable {
    let device: UInt64
    let inode: UInt64
  }

  private static let claimed = NIOLockedValueBox<[Identity: Int]>([:])
  private let identity: Identity?

  /// Claims the file with this status for writing; nil if it is claimed already.
  ///
  /// Devices such as /dev/null are not claimed: several captures may write them.
  init?(writing status: stat) {
    let kind = UInt32(status.st_mode) & UInt32(S_IFMT)
    guard kind == UInt32(S_IFREG) || kind == UInt32(S_IFIFO) else {
      identity = nil
      return
    }
    let identity = Self.identity(status)
    let isFree = Self.claimed.withLockedValue { claimed in
      if claimed[identity] != nil { return false }
      claimed[identity] = 1
      return true
    }
    guard isFree else { return nil }
    self.identity = identity
  }

  /// True if the file with this status is claimed.
  static func isClaimed(_ status: stat) -> Bool {
    let identity = identity(status)
    return claimed.withLockedValue { $0[identity] != nil }
  }

  /// Claims the file at `path`, which this process reads or writes outside of captures. A file may have several such
  /// claims. If the file does not exist, nothing is claimed.
  package init(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else {
      identity = nil
      return
    }
    let identity = Self.identity(status)
    Self.claimed.withLockedValue { $0[identity, default: 0] += 1 }
    self.identity = identity
  }

  deinit {
    guard let identity else { return }
    Self.claimed.withLockedValue { claimed in
      guard let count = claimed[identity], count > 1 else {
        claimed[identity] = nil
        return
      }
      claimed[identity] = count - 1
    }
  }

  private static func identity(_ status: stat) -> Identity {
    Identity(device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(truncatingIfNeeded: status.st_ino))
  }
}
