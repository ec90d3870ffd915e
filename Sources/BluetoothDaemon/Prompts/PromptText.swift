import BluetoothHost

extension Prompt.Question {
  /// A summary in a few words, without secret numbers.
  package var summary: String {
    switch self {
    case .useBluetooth(let app, _): "use of Bluetooth by \(app)"
    case .turnOn: "turning Bluetooth on"
    case .shareNotifications(let accessory): "notifications for \(accessory.who)"
    case .pairing(let prompt, let pairing):
      switch prompt {
      case .allow: "pairing with \(pairing.who)"
      case .show: "pairing with \(pairing.who) by displaying a passkey"
      case .enterPasskey: "pairing with \(pairing.who) by entering a passkey"
      case .compare: "pairing with \(pairing.who) by numeric comparison"
      }
    }
  }
}

extension Prompt.Pairing {
  /// The peer's name in texts: its own name, sanitized, or else the beginning of its identifier.
  package var who: String {
    if let name, let text = Self.harmless(name) { return "\u{201C}\(text)\u{201D}" }
    return "an unnamed device (\(identifier.digits.prefix(8))\u{2026})"
  }

  /// Returns the name as one line of at most 40 characters: a peer could otherwise write any text on the user's
  /// terminal.
  package static func harmless(_ name: String) -> String? {
    var text = String.UnicodeScalarView()
    for scalar in name.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator:
        text.append("?")
      case .spaceSeparator: text.append(" ")
      // An unlimited number of combining marks could cover other lines.
      case .nonspacingMark, .enclosingMark, .spacingMark:
        if let last = text.last, last.properties.generalCategory.isLetterLike { text.append(scalar) }
      // Quotation marks like the ones around the name
      default: text.append(scalar == "\u{201C}" || scalar == "\u{201D}" ? "\"" : scalar)
      }
    }
    let line = String(text)
    let short = line.count > 40 ? line.prefix(39) + "\u{2026}" : line[...]
    return short.contains { $0 != " " } ? String(short) : nil
  }
}

extension Unicode.GeneralCategory {
  fileprivate var isLetterLike: Bool {
    switch self {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .otherLetter, .modifierLetter: true
    default: false
    }
  }
}

/// Returns the passkey as six digits, with a space in the middle if `isSplit` is true.
package func passkeyDigits(_ passkey: UInt32, isSplit: Bool) -> String {
  let digits = String(passkey)
  let six = String(repeating: "0", count: max(0, 6 - digits.count)) + digits
  return isSplit ? six.prefix(3) + " " + six.dropFirst(3) : six
}
