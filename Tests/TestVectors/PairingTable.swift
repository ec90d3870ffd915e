/// The expected method of a pairing in which at least one side requires MITM protection: a second copy of Table 2.8 of
/// Vol 3, Part H.
public enum PairingTable {
  /// The method by which two devices authenticate each other, as their users see it.
  public enum Method: Character, Sendable {
    case justWorks = "J"
    case numericComparison = "C"
    case initiatorShowsPasskey = "I"
    case responderShowsPasskey = "R"
    case bothTypePasskey = "B"
  }

  /// One row for each responder, with a letter for each initiator. Both are in the order of the numbers of the IO
  /// capabilities: DisplayOnly, DisplayYesNo, KeyboardOnly, NoInputNoOutput, KeyboardDisplay.
  private static let legacy = ["JJRJR", "JJRJR", "IIBJI", "JJJJJ", "IIRJI"]
  private static let secureConnections = ["JJRJR", "JCRJC", "IIBJI", "JJJJJ", "ICRJC"]

  /// - Parameters:
  /// - initiator: The number of its IO capability, 0 to 4.
  /// - responder: The number of its IO capability, 0 to 4.
  public static func method(initiator: UInt8, responder: UInt8, isSecureConnections: Bool) -> Method? {
    let table = isSecureConnections ? secureConnections : legacy
    return Method(rawValue: Array(table[Int(responder)])[Int(initiator)])
  }
}
