import BluetoothDissection
import BluetoothProfiles
import Foundation

/// What a step `expect` compares: a value of a characteristic or a text with variables, and the condition.
struct RunExpectation: Sendable {
  enum Comparison: String, CaseIterable, Sendable {
    case equal = "="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case contains
  }

  /// A characteristic, or a text with variables.
  let target: RunWord
  /// The field of the value, such as "heart rate"; nil: the whole value.
  let field: RunWord?
  /// The comparison and its other side; nil: any value meets the expectation.
  let condition: (comparison: Comparison, value: [RunWord])?
  /// How long to wait for a value of a subscription, in seconds; nil: the time of `--timeout`.
  let limit: Double?

  /// True if the target is a text with variables in place of a characteristic.
  var isOfVariable: Bool { target.hasVariable }

  init(_ words: [RunWord]) throws {
    var words = words
    limit =
      try words.count > 2 && words[words.count - 2].source == "within" && !words[words.count - 2].isQuoted
      ? TimeArgument(checked: words[words.count - 1].source).seconds : nil
    if limit != nil { words.removeLast(2) }
    guard let target = words.first else { throw RunStep.wrongForm(of: "expect") }
    self.target = target
    if !target.hasVariable { _ = try AttributePath(target.source) }
    let index = words.indices.dropFirst().first { !words[$0].isQuoted && Comparison(rawValue: words[$0].source) != nil }
    guard let index else {
      guard words.count == 1, !target.hasVariable else {
        let forms = Comparison.allCases.map(\.rawValue).joined(separator: " ")
        throw Failure("no comparison: expected one of \(forms) before the value", status: ExitStatus.ambiguous)
      }
      (field, condition) = (nil, nil)
      return
    }
    guard index <= 2, index + 1 < words.count, let comparison = Comparison(rawValue: words[index].source) else {
      throw RunStep.wrongForm(of: "expect")
    }
    field = index == 2 ? words[1] : nil
    condition = (comparison, Array(words[(index + 1)...]))
    guard !target.hasVariable || field == nil else {
      throw Failure("a variable has no fields", status: ExitStatus.ambiguous)
    }
    // Words that don't name octets are compared with the decoded value.
    if let first = condition?.value.first, !first.isQuoted, !first.hasVariable,
      first.source.lowercased().hasPrefix("0x")
    {
      _ = try WrittenValue(first.source)
    }
  }

  /// The condition in words: ">= 50 %".
  func text(_ variables: [String: String]) -> String {
    let words = condition.map { [$0.comparison.rawValue] + $0.value.map { $0.text(variables) } } ?? ["a value"]
    return ([field?.text(variables)].compactMap { $0 } + words).joined(separator: " ")
  }

  // MARK: Comparing

  /// One side of a comparison, as far as it is known.
  private struct Side {
    var octets: [UInt8]?
    var number: Double?
    var unit = ""
    var texts: [String] = []
  }

  /// Returns true if a value meets the condition.
  ///
  /// - Throws: `Failure` if the value can't be compared so: it has no such field, or is no number.
  func isMet(by value: ValueText, _ variables: [String: String]) throws -> Bool {
    var side = Side(octets: value.octets)
    if let field {
      let name = field.text(variables)
      guard let found = value.fields.first(where: { $0.name.lowercased() == name.lowercased() }) else {
        let names = value.fields.map(\.name).filter { !$0.isEmpty }
        throw Failure(
          "the value has no field \"\(name)\"" + NameSuggestion.suggestion(for: name, among: names)
            + (names.isEmpty ? "; it has none" : "; it has: \(names.joined(separator: ", "))"),
          status: ExitStatus.breaches)
      }
      side = Side(number: found.number.flatMap { Double($0) }, unit: found.unit, texts: [found.value])
    } else {
      let single = value.fields.count == 1 ? value.fields[0] : nil
      side.number = single?.number.flatMap { Double($0) }
      side.unit = single?.unit ?? ""
      side.texts = [value.text, value.decoded].compactMap { $0 }
    }
    return try isMet(by: side, variables)
  }

  /// Returns true if the text of the target meets the condition.
  func isMet(_ variables: [String: String]) throws -> Bool {
    let text = target.text(variables)
    return try isMet(by: Side(number: Double(text), texts: [text]), variables)
  }

  private func isMet(by side: Side, _ variables: [String: String]) throws -> Bool {
    guard let (comparison, words) = condition else { return true }
    let wanted = words.map { $0.text(variables) }.joined(separator: " ")
    let isText = words.contains(where: \.isQuoted)
    if comparison == .contains { return side.texts.contains { $0.contains(wanted) } }
    // Octets, such as 0x0102 or u16:500.
    if !isText, words.count == 1, wanted.contains(#/^(0[xX]|[uif]\d+:|text:|file:)/#), let octets = side.octets {
      let isEqual = try octets == Array(WrittenValue(wanted).octets)
      switch comparison {
      case .equal: return isEqual
      case .notEqual: return !isEqual
      default:
        throw Failure("octets are equal or not; compare the order of numbers, such as 50", status: ExitStatus.breaches)
      }
    }
    let parts = wanted.split(separator: " ", maxSplits: 1)
    if !isText, let number = parts.first.flatMap({ Double($0) }), let value = side.number {
      if parts.count == 2, parts[1] != side.unit {
        throw Failure(
          "the unit of the value is \(side.unit.isEmpty ? "none" : side.unit), not \(parts[1])",
          status: ExitStatus.breaches)
      }
      switch comparison {
      case .equal: return value == number
      case .notEqual: return value != number
      case .less: return value < number
      case .lessOrEqual: return value <= number
      case .greater: return value > number
      case .greaterOrEqual: return value >= number
      case .contains: return false
      }
    }
    let isEqual = side.texts.contains { $0 == wanted || !isText && $0.lowercased() == wanted.lowercased() }
    switch comparison {
    case .equal: return isEqual
    case .notEqual: return !isEqual
    default:
      throw Failure(
        "\(comparison.rawValue) compares numbers, and one of the values is none", status: ExitStatus.breaches)
    }
  }
}
