import ArgumentParser
import Foundation

/// The verbs for UUIDs.
struct UUIDVerb: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "uuid", abstract: "Makes UUIDs for services and characteristics of your own.",
    subcommands: [New.self])

  struct New: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Prints a new random UUID (version 4).",
      discussion: """
        UUIDs of 16 bits are assigned by the Bluetooth SIG. Services and characteristics of your own have random UUIDs \
        of 128 bits.
        """
    )
    .examples("ble uuid new", "ble uuid new --count 3 --swift")
    @Option(parsing: .unconditional, help: "The number of UUIDs.")
    var count = 1
    @Flag(help: "Prints Swift code.")
    var swift = false
    @OptionGroup var output: OutputOptions

    func validate() throws {
      guard 1...10_000 ~= count else { throw ValidationError("--count must be 1 to 10000, not \(count)") }
      if swift, output.json { throw ValidationError("expected either --swift or --json") }
    }

    func run() throws {
      for _ in 0..<count {
        let uuid = UUID().uuidString
        var record = JSONRecord("uuid")
        record.add("uuid", uuid)
        try put((output.json ? record.line : swift ? "CBUUID(string: \"\(uuid)\")" : uuid) + "\n")
      }
    }
  }
}
