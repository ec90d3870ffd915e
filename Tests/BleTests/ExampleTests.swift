import ArgumentParser
import Foundation
import Testing

@testable import ble

/// The examples in the help of the verbs.
@Suite struct ExampleTests {
  /// Returns the verbs without further verbs, each with all words that name it.
  private static func verbs(
    of verb: any ParsableCommand.Type = Ble.self, _ words: [String] = ["ble"]
  ) -> [(name: String, verb: any ParsableCommand.Type)] {
    let inner = verb.configuration.subcommands
    guard !inner.isEmpty else { return [(words.joined(separator: " "), verb)] }
    return inner.flatMap { verbs(of: $0, words + [$0._commandName]) }
  }

  private static func examples(of verb: any ParsableCommand.Type) -> [String] {
    let title = CommandConfiguration.examplesTitle + "\n"
    guard let part = verb.configuration.discussion.components(separatedBy: title).dropFirst().last else { return [] }
    return part.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
  }

  /// Splits a command at spaces outside of quotation marks.
  private static func words(of command: String) -> [String] {
    let parts = command.components(separatedBy: "\"")
    return parts.enumerated().flatMap { index, part in
      index.isMultiple(of: 2) ? part.split(separator: " ").map(String.init) : [part]
    }
  }

  @Test("The help of each verb has two examples that name it")
  func examples() {
    let verbs = Self.verbs()
    #expect(verbs.count > 50)
    for (name, verb) in verbs {
      let examples = Self.examples(of: verb)
      #expect(examples.count == 2 && Set(examples).count == 2, "\(name): \(examples)")
      let parent = name.split(separator: " ").dropLast().joined(separator: " ")
      let isDefault = Ble.configuration.subcommands.contains {
        $0.configuration.defaultSubcommand.map { $0 == verb } ?? false
      }
      for example in examples {
        #expect("\(example) ".hasPrefix("\(name) ") || isDefault && example.hasPrefix(parent), "\(example)")
      }
      #expect(verb.helpMessage(columns: 100).contains(examples.first ?? "-"), "\(name)")
    }
  }

  @Test("The parser accepts each example")
  func parsing() throws {
    for (name, verb) in Self.verbs() {
      for example in Self.examples(of: verb) {
        // The shell takes redirections and pipes.
        let command = Self.words(of: example).prefix { !["|", ">", "<"].contains($0) }
        let parsed = try #require(
          try? Ble.parseAsRoot(Array(command.dropFirst())), "\(example): not accepted by the parser")
        #expect(type(of: parsed) == verb, "\(name): \(example) is \(type(of: parsed))")
      }
    }
  }
}
