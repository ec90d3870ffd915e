import ArgumentParser
import Testing

@testable import ble

/// Messages about a wrong command line.
@Suite struct UsageTests {
  @Test(
    "A message about a wrong command line names the help of its verb, or the nearest verb",
    arguments: [
      (["read", "weather"], "wrong; see ble help read"),
      (["capture", "show", "--count", "0"], "wrong; see ble help capture show"),
      (["air", "--acl-buffers", "0"], "wrong; see ble help air serve"),
      (["--bogus"], "wrong; see ble --help"),
      (["l2cap", "--bogus"], "wrong; see ble help l2cap"),
      (["scna"], "unknown verb \"scna\"; did you mean \"scan\"?"),
      (["capture", "shw", "room.pcapng"], "unknown verb \"shw\"; did you mean \"show\"?"),
      (["bonds", "forgt", "Strap"], "unknown verb \"forgt\"; did you mean \"forget\"?"),
      (["zzzzzzzz"], "unknown verb \"zzzzzzzz\"; see ble --help"),
      (["capture", "zzzzzzzz"], "unknown verb \"zzzzzzzz\"; see ble help capture"),
      // The default verb could have such an argument.
      (["bonds", "zzzzzzzz"], "wrong; see ble help bonds list"),
    ] as [([String], String)])
  func advice(arguments: [String], message: String) {
    #expect(UsageAdvice.message("wrong", about: arguments) == message)
  }

  @Test("All verbs take times with units, and tell the expected form of others")
  func times() throws {
    #expect(try Scan.parse(["--for", "1h"]).duration.seconds == 3_600)
    #expect(try Scan.parse(["--for", "0.5"]).duration.seconds == 0.5)
    #expect(try Scan.parse(["--duration", "250ms"]).duration.seconds == 0.25)
    #expect(try AdapterOptions.parse(["--timeout", "2min"]).timeout == 120)
    #expect(try DeviceChoice.parse(["strap", "--search-time", "1.5s"]).searchTime == 1.5)
    #expect(try RSSI.parse(["strap", "--interval", "100ms"]).interval == 0.1)
    for text in ["1x", "min", "nan", "inf"] {
      for verb in [Scan.self, Simulate.self] as [any ParsableCommand.Type] {
        let words = verb == Simulate.self ? ["world.yaml", "--for", text] : ["--for", text]
        let error = #expect(throws: (any Error).self) { try verb.parse(words) }
        let message = error.map { verb.message(for: $0) } ?? ""
        #expect(
          message.hasPrefix(
            "The value '\(text)' is invalid for '--for <time>': expected seconds, or a number with a unit, such as"),
          "\(message)")
      }
    }
    let error = #expect(throws: (any Error).self) { try Scan.parse(["--for", "0"]) }
    #expect(error.map { Scan.message(for: $0) } == "--for must be more than 0, up to 1000000 seconds")
  }

  @Test(
    "A PSM beyond those of LE channels is refused with their range", arguments: ["0", "256", "0x100", "65536", "psm"])
  func psm(text: String) throws {
    let command = try L2CAP.Open.parse(["strap", text])
    let failure = #expect(throws: Failure.self) { try command.run() }
    #expect(failure?.status == ExitStatus.usage)
    #expect(failure?.description == "invalid PSM \"\(text)\": expected 1 to 255 (0x01 to 0xFF)")
  }

  @Test("The help of ble has its verbs in groups, and each verb once")
  func groups() {
    let help = Ble.helpMessage(columns: 120)
    for heading in ["DEVICE SUBCOMMANDS:", "PLAYED DEVICE SUBCOMMANDS:", "SERVER SUBCOMMANDS:"] {
      #expect(help.split(separator: "\n").contains { $0 == heading })
    }
    for verb in Ble.configuration.subcommands.map({ $0._commandName }) {
      #expect(help.split(separator: "\n").filter { $0.hasPrefix("  \(verb) ") }.count == 1, "\(verb)")
    }
  }

  @Test("The defaults of times are those that their help tells")
  func defaults() throws {
    #expect(try AdapterOptions.parse([]).timeout == 30)
    #expect(try DeviceChoice.parse(["strap"]).searchTime == 10)
    #expect(try Simulate.parse(["world.yaml"]).duration.seconds == 60)
    #expect(try Scan.parse([]).duration.seconds == nil)
  }
}
