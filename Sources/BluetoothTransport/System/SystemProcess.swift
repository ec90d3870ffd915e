#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// This process, as its user has started it.
package enum SystemProcess {
  /// Returns the value of an environment variable.
  package static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

  /// The name of the program file, which prompts show to the user.
  package static var programName: String {
    CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "this program"
  }
}
