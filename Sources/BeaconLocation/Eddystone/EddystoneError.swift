/// The reason why a frame of an Eddystone beacon has no encoding.
public enum EddystoneError: Error, Hashable, Sendable {
  /// The namespace has this number of octets instead of 10.
  case namespaceLength(Int)
  /// The instance has this number of octets instead of 6.
  case instanceLength(Int)
  /// The URL begins neither with http:// nor with https://.
  case unknownScheme
  /// The URL contains this character. Printable ASCII characters without the space are allowed.
  case invalidCharacter(Character)
  /// The URL has this number of octets after its scheme, with endings such as .com as one octet. 17 are allowed.
  case urlLength(Int)
  /// The temperature in °C is not between −128 and 128.
  case temperature(Double)
  /// The time since the start of the beacon is negative.
  case negativeUptime(Duration)
}

extension EddystoneError: CustomStringConvertible {
  /// The error as a sentence.
  public var description: String {
    switch self {
    case .namespaceLength(let count): "The namespace has \(count) octets; expected 10."
    case .instanceLength(let count): "The instance has \(count) octets; expected 6."
    case .unknownScheme: "The URL does not begin with http:// or https://."
    case .invalidCharacter(let character): "The URL contains \"\(character)\", which is not allowed."
    case .urlLength(let count):
      "The URL has \(count) octets after the scheme; at most \(EddystoneFrame.maximumURLLength) are allowed."
    case .temperature(let degrees): "The temperature \(degrees) °C is not between −128 and 128 °C."
    case .negativeUptime(let uptime): "The time since the start, \(uptime), is negative."
    }
  }
}
