import BluetoothWire
import Foundation

/// An output file that appears when it is complete.
///
/// Until then its octets are in a hidden file beside it, so that a failure leaves the former file as it was. A symbolic
/// link stays: the file that it names is replaced. FIFOs and devices are written directly, and `-` is the standard
/// output.
final class OutputFile {
  /// The path as the user has written it.
  let path: String
  /// True if a file that exists is replaced.
  private let replaces: Bool
  /// The file that gets the octets, without symbolic links.
  private let destination: String
  /// The file that has the octets until all are written; nil: `path` is written directly.
  private var unfinished: TemporaryPath?
  private var descriptor: Int32

  /// True while the octets go to a regular file: neither to the standard output nor to a FIFO or a device.
  var isRegular: Bool { unfinished != nil }

  /// The most symbolic links that are followed, as in Linux.
  private static let maximumLinks = 40

  /// Creates the file.
  ///
  /// - Parameters:
  ///   - path: the file; `-`: the standard output.
  ///   - isPrivate: true if only the user may read the file, because it may have secrets.
  ///   - replaces: true to replace a file that exists.
  /// - Throws: `Failure` if it can't be created.
  init(_ path: String, isPrivate: Bool = false, replaces: Bool = true) throws {
    (self.path, self.replaces) = (path, replaces)
    guard path != "-" else {
      (destination, descriptor) = (path, STDOUT_FILENO)
      return
    }
    guard !path.isEmpty else { throw Failure("the name of the output file is empty", status: ExitStatus.usage) }
    var status = stat()
    let exists = stat(path, &status) == 0
    if exists, !replaces { throw Failure("\(path.printable) exists", status: ExitStatus.refused) }
    if exists, status.st_mode & S_IFMT != S_IFREG {
      destination = path
      descriptor = open(path, O_WRONLY | O_CLOEXEC)
    } else {
      destination = Self.target(of: path)
      let folder = (destination as NSString).deletingLastPathComponent
      if let (file, descriptor) = TemporaryPath.makeFile(in: folder, mode: isPrivate ? 0o600 : 0o666) {
        (unfinished, self.descriptor) = (file, descriptor)
        // A new content of a file changes nothing of who may read it.
        if exists, !isPrivate { _ = fchmod(descriptor, status.st_mode & 0o777) }
      } else {
        descriptor = -1
      }
    }
    guard descriptor >= 0 else { throw Failure.system("can't write \(path.printable)") }
  }

  deinit { discard() }

  /// Writes a whole file.
  ///
  /// - Throws: `Failure` if it can't be written; `OutputFailure` if it is the standard output.
  static func write(_ text: String, to path: String) throws {
    let file = try OutputFile(path)
    try file.write(Array(text.utf8))
    try file.finish()
  }

  /// Appends octets.
  ///
  /// - Throws: `Failure` if they can't be written; `OutputFailure` if the file is the standard output.
  func write(_ octets: [UInt8]) throws {
    if descriptor == STDOUT_FILENO { return try put(octets: octets) }
    var rest = octets[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        throw Failure.system("can't write \(path.printable)")
      }
    }
  }

  /// Gives the file its name.
  ///
  /// - Parameter isSynchronized: true to wait until the storage device has all octets.
  func finish(isSynchronized: Bool = false) throws {
    guard descriptor >= 0 else { return }
    var code: Int32 = 0
    if isSynchronized, unfinished != nil, fsync(descriptor) != 0 { code = errno }
    if code == 0, let unfinished { code = unfinished.keep(as: destination, replaces: replaces) }
    discard()
    guard code == 0 else { throw Failure.system("can't write \(path.printable)", code: code) }
  }

  /// Removes what is written, unless the file has its name.
  func discard() {
    if descriptor >= 0, descriptor != STDOUT_FILENO { close(descriptor) }
    descriptor = -1
    unfinished = nil
  }

  /// Returns the file that a path names after all symbolic links, also if that file does not exist.
  private static func target(of path: String) -> String {
    var target = path
    for _ in 0..<maximumLinks {
      guard let next = try? FileManager.default.destinationOfSymbolicLink(atPath: target) else { break }
      let folder = (target as NSString).deletingLastPathComponent
      target = next.hasPrefix("/") || folder.isEmpty ? next : folder + "/" + next
    }
    return target
  }

  /// Checks that a verb may write a file whose former content a user may have edited. FIFOs and devices are never
  /// replaced.
  ///
  /// - Parameters:
  ///   - path: the file; `-`: the standard output.
  ///   - replaces: true to replace a file that exists.
  /// - Throws: `Failure` if a file exists and must stay.
  static func check(_ path: String, replaces: Bool) throws {
    var status = stat()
    guard !replaces, path != "-", stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
    throw Failure("\(path.printable) exists; use --force to replace it", status: ExitStatus.refused)
  }

  /// True if two paths are those of one regular file.
  static func isSame(_ one: String, _ other: String) -> Bool {
    var status = (stat(), stat())
    guard stat(one, &status.0) == 0, stat(other, &status.1) == 0 else { return false }
    return status.0.st_dev == status.1.st_dev && status.0.st_ino == status.1.st_ino
      && status.0.st_mode & S_IFMT == S_IFREG
  }
}
