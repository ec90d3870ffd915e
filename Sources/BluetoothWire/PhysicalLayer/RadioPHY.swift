/// An LE PHY · Vol 6, Part A. A receiver receives on one PHY at a time. The raw values are those of HCI.
package enum RadioPHY: UInt8, Hashable, Sendable {
  case le1M = 1
  case le2M = 2
  case leCoded = 3

  /// The name of the PHY.
  package var words: String {
    switch self {
    case .le1M: "LE 1M"
    case .le2M: "LE 2M"
    case .leCoded: "LE Coded"
    }
  }

  /// Returns the name of the PHY with this number.
  package static func words(of number: UInt8) -> String { RadioPHY(rawValue: number)?.words ?? "PHY \(number)" }
}
