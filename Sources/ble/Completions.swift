import ArgumentParser

/// The verb that prints completions for a shell.
struct Completions: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints completions for a shell.",
    discussion: """
      bash: ble completions bash > ~/.local/share/bash-completion/completions/ble
      zsh:  ble completions zsh > "${fpath[1]}/_ble"
      fish: ble completions fish > ~/.config/fish/completions/ble.fish
      """
  )
  .examples("ble completions bash", "ble completions zsh > _ble")

  enum Shell: String, ExpressibleByArgument, CaseIterable { case bash, zsh, fish }

  @Argument(help: "bash, zsh or fish.")
  var shell: Shell

  @OptionGroup var output: OutputOptions

  func run() throws {
    let kind: CompletionShell =
      switch shell {
      case .bash: .bash
      case .zsh: .zsh
      case .fish: .fish
      }
    let script = Ble.completionScript(for: kind)
    guard output.json else { return try put(script + "\n") }
    var record = JSONRecord("completions")
    record.add("shell", shell.rawValue)
    record.add("script", script)
    try put(record.line + "\n")
  }
}
