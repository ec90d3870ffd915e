import Foundation
import Testing

/// A golden file: commands, each with the output that it must have.
///
/// A line that begins with "$ " is a command of bash. The output below it has the standard output, the messages on the
/// standard error, and the exit status if it is not 0. All commands of a file run in one shell and in one folder of their
/// own, which has the files of `Tests/ProgramTests/Files`.
///
/// A command that ends in "&" goes on in the background. If it ends in "& # TEXT", the next one begins when its output
/// contains the text, which is an extended regular expression. The output of such a command is complete, because it is
/// read at the end of the file.
struct Session: Sendable {
  struct Command: Sendable {
    let line: String
    var output: String

    /// The command and its output, as they are in a file.
    var text: String { "$ \(line)\n\(output)" }

    var isInBackground: Bool { line.hasSuffix(" &") || readiness != nil }

    /// The expression for which the next command waits.
    var readiness: String? { line.firstMatch(of: /& # (.+)$/).map { String($0.1) } }

    /// The command as a page shows it.
    var shown: String { "$ \(line.replacing(/\ &( # .+)?$/, with: ""))\n\(output)" }
  }

  /// The lines before the first command: comments.
  let preface: String
  let commands: [Command]

  init(preface: String, commands: [Command]) {
    self.preface = preface
    self.commands = commands
  }

  init(_ text: String) {
    let parts = "\n\(text)".split(separator: "\n$ ", omittingEmptySubsequences: false)
    let preface = parts[0].dropFirst()
    self.preface = preface.isEmpty ? "" : preface + "\n"
    commands = parts.dropFirst().enumerated().map { number, part in
      let end = part.firstIndex(of: "\n") ?? part.endIndex
      let rest = String(part[end...].dropFirst())
      let isLast = number == parts.count - 2
      return Command(line: String(part[..<end]), output: isLast || rest.isEmpty ? rest : rest + "\n")
    }
  }

  var text: String { preface + commands.map(\.text).joined() }

  /// Runs the commands. Returns them with the output that they have now.
  ///
  /// - Parameter hasMessages: true if the output has the standard error.
  func run(_ kind: Golden.Kind, hasMessages: Bool = true) async throws -> Session {
    let place = try Place(for: text)
    defer { place.remove() }
    if text.contains("room.pcapng") || text.contains("encrypted.pcapng") { try await Prepared.shared.copy(to: place) }
    try place.write(script(kind), to: ".script")
    let status = try await place.run(["timeout", "-k", "5", "300", "bash", ".script"], world: kind == .world)
    if status != 0 { Issue.record("the shell ended with \(status): \(place.read(".shell"))") }
    let known = place.known
    return Session(
      preface: preface,
      commands: commands.enumerated().map { number, command in
        let output = Golden.output(
          of: command.line, place.read(".out.\(number)"), errors: hasMessages ? place.read(".err.\(number)") : "",
          known: known)
        let status = place.read(".status.\(number)").trimmingCharacters(in: .newlines)
        let end = status == "0" ? "" : "[exit status \(status)]\n"
        return Command(line: command.line, output: output + end)
      })
  }

  private func script(_ kind: Golden.Kind) -> String {
    var lines = [Self.functions, kind == .world ? Self.virtualTime : ""]
    for (number, command) in commands.enumerated() {
      let line = command.readiness == nil ? command.line : command.line.replacing(/\ # [^#]+$/, with: "")
      let run = "{ \(line)\n} >.out.\(number) 2>.err.\(number)\necho $? >.status.\(number)"
      lines.append(!command.isInBackground ? run : "set -m\n\(run)\nset +m\necho $! >>.processes")
      if let readiness = command.readiness {
        let isReady = "grep -qE -- \"\(readiness)\" .out.\(number) .err.\(number)"
        lines.append("within 60 '\(isReady)' || echo late >.status.\(number)")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// within SECONDS COMMAND: repeats the command until it succeeds. The time is a limit that only a hang reaches.
  ///
  /// No program gets the descriptors by which this process waits for the shell. A command in the background has a process group of its own, because a shell ignores SIGINT for the others.
  ///
  /// terminal COMMAND [COLUMNS]: runs the command at a terminal. ESC is ␛ in its output, and CR is ␍.
  private static let functions = """
    ulimit -c 0
    trap 'for group in $(jobs -p); do kill -KILL -- -$group 2>/dev/null; done' EXIT
    for file in /proc/$$/fd/*; do case ${file##*/} in 0 | 1 | 2 | 255) ;; *) eval "exec ${file##*/}>&-" ;; esac; done
    within() {
      local end=$((SECONDS + $1))
      until eval "$2" >/dev/null 2>&1; do
        [ $SECONDS -lt $end ] || { echo "not within $1 s: $2"; return 1; }
        sleep 0.05
      done
    }
    terminal() {
      script -qec "stty rows 24 cols ${2:-80}; $1" /dev/null </dev/null | sed -u 's/\\x1b/␛/g; s/\\r/␍/g'
    }
    """

  /// Verbs that use an adapter take no real time.
  private static let virtualTime = """
    ble() {
      case $1 in
        doctor) command ble "$@" ;;
        *) command ble "$@" --virtual-time ;;
      esac
    }
    """
}
