import ArgumentParser
import BluetoothAir

/// The advice in messages about a wrong command line.
enum UsageAdvice {
  /// Returns the message about a wrong command line: the nearest verb if the arguments name none, and otherwise the
  /// parser's message with the command that shows the help of the verb.
  ///
  /// - Parameters:
  ///   - message: the message of the parser, without a full stop.
  ///   - arguments: the arguments of `ble`.
  static func message(_ message: String, about arguments: [String]) -> String {
    let path = path(of: arguments)
    let verbs = path.last.configuration.subcommands.map { $0._commandName }
    let word = arguments.dropFirst(path.words.count).first
    guard !verbs.isEmpty, let word, !word.hasPrefix("-") else { return "\(message); see \(help(path))" }
    let suggestion = SpellingSuggestion.suggestion(for: word, among: verbs)
    if !suggestion.isEmpty { return "unknown verb \"\(word)\"\(suggestion)" }
    // Such a word may be an argument of the default verb.
    let hasDefault = path.last.configuration.defaultSubcommand != nil
    return "\(hasDefault ? message : "unknown verb \"\(word)\""); see \(help(path))"
  }

  /// The verbs at the beginning of a command line, and the command that they name.
  private typealias Path = (words: [String], last: any ParsableCommand.Type)

  private static func path(of arguments: [String]) -> Path {
    var path: Path = ([], Ble.self)
    for argument in arguments {
      guard let next = path.last.configuration.subcommands.first(where: { $0._commandName == argument }) else { break }
      path = (path.words + [argument], next)
    }
    return path
  }

  /// Returns the command that shows the help of a verb.
  private static func help(_ path: Path) -> String {
    let words = path.words + [path.last.configuration.defaultSubcommand?._commandName].compactMap { $0 }
    return words.isEmpty ? "ble --help" : (["ble", "help"] + words).joined(separator: " ")
  }
}
