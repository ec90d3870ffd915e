/// What is expected of a pairing in which somebody wants to be safe from a man in the middle, from Table 2.8 of Vol 3, Part H,
/// written down once more.
public enum PairingTable {
  /// How two devices make sure of each other, as their users see it.
  public enum Method: Character, Sendable {
    case justWorks = "J"
    case numericComparison = "C"
    case initiatorShowsPasskey = "I"
    case responderShowsPasskey = "R"
    case bothTypePasskey = "B"
  }

  /// One row for each responder, in it a letter for each initiator, both in the order of the capabilities' numbers:
  /// DisplayOnly, DisplayYesNo, KeyboardOnly, NoInputNoOutput, KeyboardDisplay.
  private static let legacy = ["JJRJR", "JJRJR", "IIBJI", "JJJJJ", "IIRJI"]
  private static let secureConnections = ["JJRJR", "JCRJC", "IIBJI", "JJJJJ", "ICRJC"]

  /// - Parameters:
  ///   - initiator: the number of its IO capability, 0 to 4.
  ///   - responder: the same.
  public static func method(initiator: UInt8, responder: UInt8, isSecureConnections: Bool) -> Method? {
    let table = isSecureConnections ? secureConnections : legacy
    return Method(rawValue: Array(table[Int(responder)])[Int(initiator)])
  }
}
