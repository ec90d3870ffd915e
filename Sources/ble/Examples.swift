import ArgumentParser

extension CommandConfiguration {
  /// The title of the examples in the help of a verb.
  static let examplesTitle = "Examples:"

  /// Returns the configuration with examples below its discussion. `ExampleTests` checks that each verb has two, and that
  /// the parser accepts them.
  func examples(_ lines: String...) -> CommandConfiguration {
    var configuration = self
    let text = ([Self.examplesTitle] + lines.map { "  " + $0 }).joined(separator: "\n")
    configuration.discussion = discussion.isEmpty ? text : discussion + "\n\n" + text
    return configuration
  }
}
