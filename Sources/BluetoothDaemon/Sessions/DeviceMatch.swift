/// The ways in which a text of the user names a device, the best one first. The commands that take a device find it by this
/// rule alone.
package enum DeviceMatch: Int, Comparable, Sendable {
  /// The text is an identifier or the address of the device.
  case identity
  /// The text is the name of the device, in upper or lower case.
  case name
  /// The text is a part of the name.
  case partOfName

  package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

  /// Compares a text with a device; nil: the text does not name it.
  ///
  /// - Parameter isIdentity: true if the text is an identifier or the address of the device.
  package init?(_ text: String, name: String?, isIdentity: Bool) {
    if isIdentity {
      self = .identity
      return
    }
    guard let name = name?.lowercased(), !text.isEmpty else { return nil }
    let text = text.lowercased()
    guard name.contains(text) else { return nil }
    self = name == text ? .name : .partOfName
  }

  /// Returns the elements with the best match.
  package static func best<Element>(of found: [(element: Element, match: DeviceMatch)]) -> [Element] {
    let best = found.map(\.match).min()
    return found.filter { $0.match == best }.map(\.element)
  }
}
