/// Widths of text on a terminal, in columns.
extension Character {
  /// The number of columns that the character takes: 2 for wide East Asian characters and emoji, 0 for marks and other
  /// invisible characters that stand alone, 1 for others · Unicode Standard Annex 11.
  var columns: Int {
    if isASCII { return 1 }
    let scalars = unicodeScalars
    // U+FE0F requests the form of an emoji. Further parts of a sequence, such as those of a flag, add no columns.
    if let first = scalars.first, first.properties.isEmojiPresentation || scalars.contains("\u{FE0F}") { return 2 }
    return scalars.reduce(0) { $0 + $1.columns }
  }
}

extension Unicode.Scalar {
  /// The blocks whose characters have the width W or F · EastAsianWidth.txt. Emoji among them are recognized by their
  /// property.
  private static let wide: [ClosedRange<UInt32>] = [
    // Hangul Jamo: initial consonants. Vowels and final consonants join them.
    0x1100...0x115F,
    0x2329...0x232A,
    // CJK radicals and punctuation, of which U+303F is narrow; Hiragana to Yi.
    0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF,
    // Hangul Jamo Extended-A, Hangul syllables, compatibility ideographs and forms, fullwidth forms.
    0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60,
    0xFFE0...0xFFE6,
    // Tangut, Khitan, Nushu, supplements of Kana.
    0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF,
    // Enclosed ideographs, and ideographs of the planes 2 and 3.
    0x1F200...0x1F265, 0x20000...0x3FFFD,
  ]

  /// The number of columns that the scalar adds to a character.
  fileprivate var columns: Int {
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .control, .lineSeparator, .paragraphSeparator: return 0
    // A soft hyphen is shown.
    case .format: return value == 0xAD ? 1 : 0
    default: break
    }
    if 0x1160...0x11FF ~= value || 0xD7B0...0xD7FF ~= value { return 0 }
    return Self.wide.contains { $0.contains(value) } ? 2 : 1
  }
}

extension String {
  /// The number of columns of a text without control sequences.
  var columns: Int { reduce(0) { $0 + $1.columns } }

  /// The first columns of the text; control sequences take none, and stay complete.
  func cut(to columns: Int) -> String {
    var result = ""
    var count = 0
    var isFull = false
    var isSequence = false
    for character in self {
      if character == "\u{1B}" { isSequence = true }
      if !isSequence {
        // The last column stays empty if a wide character does not fit.
        isFull = isFull || count + character.columns > columns
        if isFull { continue }
        count += character.columns
      } else if character.isLetter {
        isSequence = false
      }
      result.append(character)
    }
    return result
  }

  /// The text without its control sequences.
  private var withoutSequences: String { replacing(#/\u{1B}\[[0-9;]*[A-Za-z]/#, with: "") }

  /// Returns the text in lines that fit, broken at spaces. A word that is longer than a line has a line of its own.
  ///
  /// - Parameter indent: the number of spaces before each line except the first one.
  func wrapped(to columns: Int, indent: Int) -> [String] {
    guard withoutSequences.columns > columns, columns > 2 * indent else { return [self] }
    var lines: [String] = []
    var (line, width) = ("", 0)
    var gap = ""
    // Several spaces between two words, as in columns, stay unless the line ends there.
    for word in split(separator: " ", omittingEmptySubsequences: false) {
      let count = String(word).withoutSequences.columns
      if width > 0, count > 0, width + gap.count + count > columns {
        lines.append(line)
        (line, width) = (String(repeating: " ", count: indent), indent)
        gap = ""
      }
      guard !word.isEmpty else {
        gap += " "
        continue
      }
      line += gap + word
      width += gap.count + count
      gap = " "
    }
    return lines + [line]
  }

  /// The first columns of the text, with an ellipsis if others follow.
  func shortened(to columns: Int) -> String { self.columns <= columns ? self : cut(to: columns - 1) + "…" }
}
