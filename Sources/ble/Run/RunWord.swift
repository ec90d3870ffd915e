import BluetoothAir
import Foundation

/// A word of a line of `ble run`. Quotation marks hold several words together; `$NAME` stands for a variable.
struct RunWord: Hashable, Sendable {
  /// The text without the quotation marks, before variables are replaced.
  let source: String
  /// True if the word has been in quotation marks, so that a value is a text.
  let isQuoted: Bool

  /// The word as in a line, for records and messages.
  var spelling: String { isQuoted ? source.debugDescription : source }

  /// Splits a line into its words. A `#` at the beginning of a word begins a comment.
  ///
  /// - Throws: `Failure` if a quotation mark is missing.
  static func words(of line: String) throws -> [RunWord] {
    var words: [RunWord] = []
    var rest = line[...]
    while true {
      rest = rest.drop { $0.isWhitespace }
      guard let first = rest.first, first != "#" else { return words }
      if first == "\"" {
        words.append(RunWord(source: try quoted(&rest), isQuoted: true))
      } else {
        let word = rest.prefix { !$0.isWhitespace }
        words.append(RunWord(source: String(word), isQuoted: false))
        rest = rest.dropFirst(word.count)
      }
    }
  }

  /// Takes a text in quotation marks from the beginning of a line. `\"` and `\\` stand for these characters.
  private static func quoted(_ rest: inout Substring) throws -> String {
    var text = ""
    rest = rest.dropFirst()
    while let character = rest.popFirst() {
      if character == "\"" { return text }
      if character == "\\", let next = rest.first, next == "\"" || next == "\\" {
        text.append(next)
        rest = rest.dropFirst()
      } else {
        text.append(character)
      }
    }
    throw Failure(
      "a quotation mark is not closed; write \\\" for one within quotation marks", status: ExitStatus.ambiguous)
  }

  // MARK: Variables

  private static var pattern: Regex<(Substring, Substring?, Substring?)> {
    #/\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))/#
  }

  /// True if a variable occurs in the word, so that its text is known only when the step runs.
  var hasVariable: Bool { source.contains(Self.pattern) }

  /// Checks that the variables of the word are set.
  ///
  /// - Throws: `Failure` with the nearest variable.
  func check(_ variables: Set<String>) throws {
    for match in source.matches(of: Self.pattern) {
      let name = String(match.1 ?? match.2 ?? "")
      guard !variables.contains(name) else { continue }
      let suggestion = SpellingSuggestion.suggestion(for: name, among: variables.sorted())
      throw Failure(
        "unknown variable \"$\(name)\""
          + (suggestion.isEmpty ? "; set it before, with: set \(name) VALUE" : suggestion),
        status: ExitStatus.ambiguous)
    }
  }

  /// Returns the text with the values of the variables.
  func text(_ variables: [String: String]) -> String {
    source.replacing(Self.pattern) { variables[String($0.1 ?? $0.2 ?? "")] ?? "" }
  }

  /// Returns the octets of a value in one of the forms of `ble write`; a word in quotation marks is a text.
  func octets(_ variables: [String: String]) throws -> Data {
    let text = text(variables)
    return try WrittenValue(isQuoted ? "text:\(text)" : text).octets
  }
}
