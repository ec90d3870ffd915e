#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A user of this machine, as whom an app runs.
package struct AppUser: Hashable, Sendable {
  package let name: String
  package let number: UInt32
  /// The user's own group.
  package let group: UInt32
  private let home: String
  private let shell: String

  /// Finds a user by name or number; nil: this machine has no such user.
  package init?(_ text: String) {
    guard let entry = (UInt32(text).flatMap { getpwuid($0) } ?? getpwnam(text))?.pointee else { return nil }
    name = String(cString: entry.pw_name)
    (number, group) = (entry.pw_uid, entry.pw_gid)
    home = String(cString: entry.pw_dir)
    shell = String(cString: entry.pw_shell)
  }

  /// The variables of the user's programs, as a service manager sets them · systemd.exec(5).
  package var environment: [String: String] {
    [
      "HOME": home, "LOGNAME": name, "SHELL": shell, "USER": name,
      "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    ]
  }
}
