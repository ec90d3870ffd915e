#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The standard input, the standard output and the standard error, which a program can get closed.
package enum StandardFiles {
  /// The effect of writing to a standard output that the parent of this process has closed.
  package enum ClosedOutput: Sendable {
    /// Writing fails with EBADF, and so does reading a closed standard input.
    case fails
    /// The octets are discarded, and a closed standard input is empty.
    case isDiscarded
  }

  /// Opens `/dev/null` for each of the descriptors 0 to 2 that is closed. Otherwise the next file that the program
  /// opens, such as that of a bond, gets the number, and the output of the program damages that file.
  ///
  /// Call it at the beginning of the program, before other files are opened.
  package static func openClosed(_ output: ClosedOutput) {
    // In this order, each descriptor is the lowest free one, which `open` returns.
    openNull(output == .fails ? O_WRONLY : O_RDONLY, ifClosed: 0)
    for descriptor: CInt in 1...2 { openNull(output == .fails ? O_RDONLY : O_WRONLY, ifClosed: descriptor) }
  }

  /// Opens `/dev/null` for a descriptor that is closed. Does nothing if the descriptor is open.
  package static func openNull(_ access: CInt, ifClosed descriptor: CInt) {
    var status = stat()
    guard fstat(descriptor, &status) != 0, errno == EBADF else { return }
    let null = open("/dev/null", access)
    guard null >= 0, null != descriptor else { return }
    dup2(null, descriptor)
    close(null)
  }
}
