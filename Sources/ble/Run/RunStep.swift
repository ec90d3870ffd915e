import ArgumentParser
import BluetoothAir
import Foundation

/// One step of `ble run`, as a line of its file describes it.
struct RunStep: Sendable {
  /// The place of the line in messages: `session.ble:3`.
  let place: String
  /// The line without its comment, for records and messages.
  let text: String
  let action: Action

  enum Action: Sendable {
    /// Connects to a device: its name and the options of the search.
    case connect([RunWord])
    case disconnect
    /// Reads characteristics. The variable gets the value if there is one.
    case read([RunWord], variable: String?)
    case write([(attribute: RunWord, value: RunWord)], isWithoutResponse: Bool)
    case subscribe([RunWord])
    case unsubscribe([RunWord])
    case expect(RunExpectation)
    /// Waits for a number of seconds.
    case wait(RunWord)
    case set(String, [RunWord])
    case print([RunWord])
    case help
  }

  /// The steps with their arguments, for the help and for messages.
  static let forms: [(name: String, arguments: String, effect: String)] = [
    ("connect", "DEVICE", "connects to a device, by its name, identifier or address"),
    ("disconnect", "", "ends the link"),
    ("read", "CHARACTERISTIC… [as VARIABLE]", "prints values"),
    ("write", "CHARACTERISTIC VALUE… [without response]", "writes values"),
    ("subscribe", "CHARACTERISTIC…", "prints notifications as they arrive"),
    ("unsubscribe", "CHARACTERISTIC…", "ends subscriptions"),
    (
      "expect", "CHARACTERISTIC [FIELD] [= VALUE] [within TIME]",
      "waits for a value of a subscription, or reads one; also !=, <, <=, >, >= and contains"
    ),
    ("wait", "TIME", "waits, such as 500ms or 2s"),
    ("set", "VARIABLE VALUE", "sets a variable, which $VARIABLE stands for"),
    ("print", "TEXT", "prints a text"),
    ("help", "", "lists the steps"),
  ]

  /// The lines of the help.
  static var helpLines: [String] {
    let spellings = forms.map { $0.arguments.isEmpty ? $0.name : "\($0.name) \($0.arguments)" }
    let width = spellings.map(\.columns).max() ?? 0
    return zip(spellings, forms).map { $0 + String(repeating: " ", count: width - $0.columns) + "  " + $1.effect }
  }

  /// Reads a line; nil: it is empty, or a comment.
  ///
  /// - Parameters:
  ///   - place: the place of the line in messages.
  ///   - variables: the variables that earlier lines set, to which those of this line are added.
  /// - Throws: `Failure` with the place, the reason and the remedy.
  init?(_ line: String, at place: String, variables: inout Set<String>) throws {
    do {
      let words = try RunWord.words(of: line)
      guard let first = words.first else { return nil }
      for word in words { try word.check(variables) }
      self.place = place
      text = words.map(\.spelling).joined(separator: " ")
      action = try Self.action(first.source, Array(words.dropFirst()))
      switch action {
      case .read(_, let variable?): variables.insert(variable)
      case .set(let variable, _): variables.insert(variable)
      default: break
      }
    } catch let failure as Failure {
      throw failure.at(place)
    } catch {
      throw Failure("\(place): \(Ble.message(for: error).endless)", status: ExitStatus.ambiguous)
    }
  }

  private static func action(_ name: String, _ words: [RunWord]) throws -> Action {
    func requireCount(_ count: ClosedRange<Int>) throws {
      guard count.contains(words.count) else { throw wrongForm(of: name) }
    }
    switch name {
    case "connect":
      guard !words.isEmpty else { throw wrongForm(of: name) }
      // The options of the device are those of the verbs, such as --first.
      _ = try DeviceChoice.parse(words.map(\.source))
      return .connect(words)
    case "disconnect":
      try requireCount(0...0)
      return .disconnect
    case "read": return try read(words)
    case "write": return try write(words)
    case "subscribe", "unsubscribe":
      guard !words.isEmpty else { throw wrongForm(of: name) }
      for word in words where !word.hasVariable { _ = try AttributePath(word.source) }
      return name == "subscribe" ? .subscribe(words) : .unsubscribe(words)
    case "expect": return .expect(try RunExpectation(words))
    case "wait":
      try requireCount(1...1)
      if !words[0].hasVariable { _ = try TimeArgument(checked: words[0].source) }
      return .wait(words[0])
    case "set":
      guard words.count >= 2 else { throw wrongForm(of: name) }
      return .set(try variable(words[0]), Array(words.dropFirst()))
    case "print": return .print(words)
    case "help": return .help
    default:
      let suggestion = SpellingSuggestion.suggestion(for: name, among: forms.map(\.name))
      let all = forms.map(\.name).joined(separator: ", ")
      throw Failure(
        "unknown step \"\(name)\"\(suggestion.isEmpty ? "; expected one of: \(all)" : suggestion)",
        status: ExitStatus.ambiguous)
    }
  }

  private static func read(_ words: [RunWord]) throws -> Action {
    var (paths, name) = (words, nil as String?)
    if words.count > 2, words[words.count - 2].source == "as" {
      guard words.count == 3 else {
        throw Failure(
          "\"as\" names the value of one characteristic, not of \(words.count - 2)", status: ExitStatus.ambiguous)
      }
      (paths, name) = ([words[0]], try variable(words[2]))
    }
    guard !paths.isEmpty else { throw wrongForm(of: "read") }
    for path in paths where !path.hasVariable { _ = try AttributePath(path.source) }
    return .read(paths, variable: name)
  }

  private static func write(_ words: [RunWord]) throws -> Action {
    let isWithoutResponse = words.suffix(2).map(\.source) == ["without", "response"]
    let pairs = isWithoutResponse ? words.dropLast(2) : words[...]
    guard !pairs.isEmpty, pairs.count.isMultiple(of: 2) else { throw wrongForm(of: "write") }
    var values: [(attribute: RunWord, value: RunWord)] = []
    for index in stride(from: 0, to: pairs.count, by: 2) {
      let (attribute, value) = (pairs[index], pairs[index + 1])
      if !attribute.hasVariable { _ = try AttributePath(attribute.source) }
      if !value.hasVariable { _ = try value.octets([:]) }
      values.append((attribute, value))
    }
    return .write(values, isWithoutResponse: isWithoutResponse)
  }

  /// Reads the name of a variable.
  static func variable(_ word: RunWord) throws -> String {
    guard word.source.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil else {
      throw Failure(
        "invalid name of a variable \"\(word.source)\": expected letters, digits and underscores, without $",
        status: ExitStatus.ambiguous)
    }
    return word.source
  }

  /// Returns the failure of a step whose arguments are wrong.
  static func wrongForm(of name: String) -> Failure {
    let form = forms.first { $0.name == name }
    let spelling = [name, form?.arguments ?? ""].filter { !$0.isEmpty }.joined(separator: " ")
    return Failure("wrong arguments: expected \"\(spelling)\"", status: ExitStatus.ambiguous)
  }
}

extension Failure {
  /// Returns the failure with a place before its description.
  func at(_ place: String) -> Failure {
    Failure("\(place): \(lines.first ?? "")", details: Array(lines.dropFirst()), status: status)
  }
}
