import ArgumentParser
import BluetoothDaemon

/// The values of `--policy`.
enum PolicyOption {
  /// The names of all policies.
  static var forms: String { PlatformPolicy.all.map { name(of: $0) }.joined(separator: ", ") }

  /// Returns the policy with a name.
  static func policy(_ text: String) throws -> PlatformPolicy {
    guard let policy = PlatformPolicy.all.first(where: { name(of: $0) == text }) else {
      throw ValidationError("invalid --policy \"\(text)\": expected one of: \(forms)")
    }
    return policy
  }

  /// The name of a policy without spaces, for the command line.
  private static func name(of policy: PlatformPolicy) -> String {
    String(policy.name.map { $0 == " " ? "-" : $0 })
  }
}
