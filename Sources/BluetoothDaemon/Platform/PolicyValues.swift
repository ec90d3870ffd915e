/// The description of a field of `PlatformPolicy` or of its limits: a row of the tables in Documentation/Platforms.md.
package struct PolicyField {
  /// The name of the property.
  package var name: String
  /// The rule in words.
  package var meaning: String
  /// The text for a value that is nil.
  package var otherwise: String
  /// The sources of the values.
  package var source: String
}

/// The values of one platform, chosen from those of all platforms. The initializers of `PlatformPolicy` and of its limits
/// consist of such choices, so the compiler and `PlatformPageTests` find a field without one.
struct PolicyValues {
  /// A platform with values of its own.
  enum Platform {
    case ios
    case iosInTheField
    case macos
    case watchos
    case tvos
    case visionos
    case open
  }

  let platform: Platform
  /// The fields in the order of the choices; empty unless `listsFields`.
  private(set) var fields: [PolicyField] = []
  private let listsFields: Bool

  init(of platform: Platform, listsFields: Bool = false) {
    self.platform = platform
    self.listsFields = listsFields
  }

  /// Returns the value of the platform.
  mutating func choose<Value>(
    _ name: String, _ meaning: String, ios: Value, iosInTheField: Value, macos: Value, watchos: Value, tvos: Value,
    visionos: Value, open: Value, otherwise: String = "", source: String
  ) -> Value {
    note(name, meaning, otherwise, source)
    return switch platform {
    case .ios: ios
    case .iosInTheField: iosInTheField
    case .macos: macos
    case .watchos: watchos
    case .tvos: tvos
    case .visionos: visionos
    case .open: open
    }
  }

  /// Returns the value of the platform for a limit of apps in the background, which `macos` and `open` do not have.
  mutating func choose<Value>(
    _ name: String, _ meaning: String, ios: Value, iosInTheField: Value, watchos: Value, tvos: Value, visionos: Value,
    otherwise: String = "", source: String
  ) -> Value {
    note(name, meaning, otherwise, source)
    return switch platform {
    case .ios, .macos, .open: ios
    case .iosInTheField: iosInTheField
    case .watchos: watchos
    case .tvos: tvos
    case .visionos: visionos
    }
  }

  /// Returns the value that all platforms have.
  mutating func choose<Value>(_ name: String, _ meaning: String, everywhere value: Value, source: String) -> Value {
    note(name, meaning, "", source)
    return value
  }

  private mutating func note(_ name: String, _ meaning: String, _ otherwise: String, _ source: String) {
    guard listsFields else { return }
    fields.append(PolicyField(name: name, meaning: meaning, otherwise: otherwise, source: source))
  }
}
