/// Spelling suggestions for unknown words.
package enum SpellingSuggestion {
  /// Returns `; did you mean "position"?`, or an empty text if no word is near.
  package static func suggestion<Words: Collection>(for text: String, among words: Words) -> String
  where Words.Element == String {
    guard let word = nearest(to: text, among: words) else { return "" }
    return "; did you mean \"\(word.shortened)\"?"
  }

  /// Returns the word with the smallest edit distance (letters changed, left out, inserted or exchanged with the next
  /// one), if that distance is small.
  package static func nearest<Words: Collection>(to text: String, among words: Words) -> String?
  where Words.Element == String {
    let letters = Array(text.lowercased().prefix(41))
    guard letters.count <= 40 else { return nil }
    var best: (word: String, distance: Int)?
    // The search is limited to the first 1,000 words.
    for word in words.prefix(1_000) {
      if let distance = smallDistance(letters, word), distance < best?.distance ?? .max { best = (word, distance) }
    }
    return best?.word
  }

  /// Returns the edit distance of a text and a word, as `nearest(to:among:)` has it, or nil if it is not small.
  package static func distance(from text: String, to word: String) -> Int? {
    let letters = Array(text.lowercased().prefix(41))
    return letters.count <= 40 ? smallDistance(letters, word) : nil
  }

  private static func smallDistance(_ letters: [Character], _ word: String) -> Int? {
    let other = Array(word.lowercased().prefix(41))
    let limit = max(1, min(letters.count, other.count) / 3)
    guard abs(other.count - letters.count) <= limit else { return nil }
    let distance = distance(letters, other)
    return distance <= limit ? distance : nil
  }

  private static func distance(_ left: [Character], _ right: [Character]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for (row, letter) in left.enumerated() {
      var current = [row + 1]
      for (column, other) in right.enumerated() {
        var least = min(last[column + 1] + 1, current[column] + 1, last[column] + (letter == other ? 0 : 1))
        if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
          least = min(least, beforeLast[column - 1] + 1)
        }
        current.append(least)
      }
      (beforeLast, last) = (last, current)
    }
    return last[right.count]
  }
}
