import BluetoothAir
import BluetoothWire

/// Spelling suggestions for names of several words.
enum NameSuggestion {
  /// A name that is near a text.
  struct Match: Equatable {
    let name: String
    /// The part of the name that is near the text: the whole name, or as many consecutive words as the text has.
    let part: String
  }

  /// Returns `; did you mean "Body Sensor Location"?` with the nearest name, or an empty text if no name is near.
  static func suggestion(for text: String, among names: [String]) -> String {
    nearest(to: text, among: names).map { suggestion($0.name) } ?? ""
  }

  /// Returns the suggestion of a word.
  static func suggestion(_ word: String) -> String { "; did you mean \"\(word.printable)\"?" }

  /// Returns the name with the smallest edit distance from the text, if that distance is small. The distance is that of
  /// the whole name or of a part with as many words as the text. It is 0 if the text is the beginning of a part.
  /// Case and the characters between words do not count.
  ///
  /// - Parameter limit: the largest edit distance.
  static func nearest(to text: String, among names: [String], within limit: Int = .max) -> Match? {
    let wanted = words(of: text)
    let query = normalized(text)
    guard !query.isEmpty else { return nil }
    var best: (match: Match, rank: Int)?
    func offer(_ name: String, _ part: String, _ rank: Int) {
      if rank < best?.rank ?? .max { best = (Match(name: name, part: part), rank) }
    }
    for name in names {
      for (index, part) in parts(of: name, count: wanted.count).enumerated() {
        guard let distance = SpellingSuggestion.distance(from: query, to: normalized(part)), distance <= limit else {
          continue
        }
        // Of several names at one distance, a whole name comes before a part.
        offer(name, part, distance * 2 + min(index, 1))
      }
      if query.count > 2, (" " + normalized(name)).contains(" " + query) { offer(name, name, 1) }
    }
    return best?.match
  }

  /// Returns the name, and each part of it that has this number of consecutive words.
  private static func parts(of name: String, count: Int) -> [String] {
    let words = words(of: name)
    guard words.count > count else { return [name] }
    return [name]
      + (0...words.count - count).map { String(name[words[$0].startIndex..<words[$0 + count - 1].endIndex]) }
  }

  private static func words(of text: String) -> [Substring] { text.split { !$0.isLetter && !$0.isNumber } }

  private static func normalized(_ text: String) -> String { words(of: text).joined(separator: " ").lowercased() }
}
