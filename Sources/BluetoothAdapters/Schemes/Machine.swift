import BluetoothBonds

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The files in which Linux describes this machine: its adapters, its processes and their rights.
package struct Machine: Sendable {
  private let root: String
  private let files = SystemFiles()

  /// - Parameter root: the folder that holds `/sys` and `/proc`.
  package init(root: String = "") { self.root = root }

  private func names(in folder: String) -> [String] { (try? files.names(in: root + folder)) ?? [] }

  private func text(of file: String) -> String {
    String(decoding: (try? files.read(root + file, limit: 1 << 16)) ?? [], as: UTF8.self)
  }

  /// The numbers of Linux's adapters in ascending order. Their folders are `hci` and the number; those of connections
  /// have a colon.
  var adapterNumbers: [Int] {
    names(in: "/sys/class/bluetooth").compactMap { name in
      name.hasPrefix("hci") ? Int(name.dropFirst(3)).flatMap { $0 >= 0 ? $0 : nil } : nil
    }.sorted()
  }

  /// True if this program has the capability CAP_NET_ADMIN (number 12).
  var hasNetworkRights: Bool {
    let line = text(of: "/proc/self/status").split(separator: "\n").first { $0.hasPrefix("CapEff:") }
    let bits = line.flatMap { UInt64($0.dropFirst(7).filter(\.isHexDigit), radix: 16) } ?? 0
    return bits & 1 << 12 != 0
  }

  /// Returns true if a process is visible whose name begins with `name`.
  func isRunning(_ name: String) -> Bool {
    names(in: "/proc").contains { Int($0) != nil && text(of: "/proc/\($0)/comm").hasPrefix(name) }
  }

  /// The path of the program of this process.
  static var programPath: String { realPath("/proc/self/exe") ?? CommandLine.arguments.first ?? "PROGRAM" }

  /// Returns the absolute path of a file without symbolic links. A file that does not exist must be in a folder that
  /// exists; nil: the folder does not exist either.
  static func realPath(_ path: String) -> String? {
    if let pointer = realpath(path, nil) {
      defer { free(pointer) }
      return String(cString: pointer)
    }
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    let folder = parts.count == 1 ? "." : parts.dropLast().joined(separator: "/") + "/"
    guard let name = parts.last, let pointer = realpath(folder, nil) else { return nil }
    defer { free(pointer) }
    return String(cString: pointer) + "/\(name)"
  }
}
