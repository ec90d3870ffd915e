import BluetoothDissection
import CoreBluetooth
import Foundation
import Testing

@testable import ble

/// The lines of `ble run`, without a device.
@Suite struct RunTests {
  private static func step(_ line: String, variables: Set<String> = []) throws -> RunStep? {
    var variables = variables
    return try RunStep(line, at: "check.ble:3", variables: &variables)
  }

  @Test("A line is split into words, of which quotation marks hold several together, up to a comment")
  func words() throws {
    func texts(_ line: String) throws -> [String] { try RunWord.words(of: line).map(\.source) }
    #expect(try texts("  read \"battery level\" as level # the level") == ["read", "battery level", "as", "level"])
    #expect(try texts("# nothing").isEmpty && texts("").isEmpty)
    #expect(try texts(#"print "a \"b\" \\ c#""#) == ["print", #"a "b" \ c#"#])
    #expect(try texts("write 2A39#1 0x01") == ["write", "2A39#1", "0x01"])
    #expect(try RunWord.words(of: "\"5\" 5").map(\.isQuoted) == [true, false])
    #expect(throws: Failure.self) { try RunWord.words(of: "print \"open") }
  }

  @Test("Variables stand for their values, also within words")
  func variables() throws {
    let word = try #require(RunWord.words(of: "\"$a-${a}b $c\"").first)
    #expect(word.text(["a": "1", "c": "x y"]) == "1-1b x y")
    #expect(word.hasVariable)
    #expect(throws: Failure.self) { try word.check(["a"]) }
    try word.check(["a", "c"])
    var known: Set<String> = []
    _ = try RunStep("read 2A19 as level", at: "-:1", variables: &known)
    _ = try RunStep("set limit 50", at: "-:2", variables: &known)
    #expect(known == ["level", "limit"])
  }

  @Test(
    "A wrong line is refused with its place, the reason and a remedy",
    arguments: [
      ("conect strap", "did you mean \"connect\""), ("dance", "expected one of: connect, disconnect"),
      ("disconnect strap", "expected \"disconnect\""), ("read", "expected \"read CHARACTERISTIC"),
      ("read temprature", "did you mean \"Temperature\""), ("read 2A19 2A37 as x", "one characteristic, not of 2"),
      ("read 2A19 as 5", "invalid name of a variable"), ("write 2A39 5", "did you mean u8:5"),
      ("write 2A39", "expected \"write CHARACTERISTIC VALUE"), ("wait soon", "expected seconds"),
      ("expect 2A19 87", "no comparison"), ("expect 2A19 >=", "expected \"expect CHARACTERISTIC"),
      ("expect $x = 5", "unknown variable \"$x\"; set it before, with: set x VALUE"), ("print \"a", "not closed"),
    ])
  func wrongLines(line: String, reason: String) {
    let failure = #expect(throws: Failure.self) { try Self.step(line) }
    #expect(failure?.description.hasPrefix("check.ble:3: ") == true, "\(failure?.description ?? "")")
    #expect(failure?.description.contains(reason) == true, "\(failure?.description ?? "")")
  }

  @Test("All wrong lines of a text are reported at once")
  func text() throws {
    let failure = #expect(throws: Failure.self) {
      try RunText("conect a\nwait 1\r\nread\n", named: "f", variables: [])
    }
    #expect(failure?.lines.count == 2 && failure?.status == ExitStatus.ambiguous)
    #expect(failure?.lines.last?.hasPrefix("f:3: ") == true)
    #expect(throws: Failure.self) { try RunText("# nothing\n", named: "f", variables: []) }
  }

  @Test("An unknown variable is refused with the nearest one")
  func unknownVariable() {
    let failure = #expect(throws: Failure.self) { try Self.step("print $levle", variables: ["level"]) }
    #expect(failure?.description.contains("did you mean \"level\"") == true, "\(failure?.description ?? "")")
  }

  @Test(
    "A value meets an expectation about its number, its unit, a field, its words or its octets",
    arguments: [
      ("2A19", [0x57], "= 87", true), ("2A19", [0x57], "= 87 %", true), ("2A19", [0x57], "!= 87", false),
      ("2A19", [0x57], ">= 87", true), ("2A19", [0x57], "< 87", false), ("2A19", [0x57], "> 86.5", true),
      ("2A19", [0x57], "= 0x57", true), ("2A19", [0x57], "!= u8:87", false), ("2A19", [0x57], "contains 7", true),
      ("2A38", [0x01], "= chest", true), ("2A38", [0x01], "= \"chest\"", false), ("2A38", [0x01], "= Chest", true),
      ("2A37", [0x00, 0x48], "\"heart rate\" <= 72 /min", true), ("2A37", [0x00, 0x48], "\"heart rate\" > 72", false),
      ("2A29", [0x41, 0x7A], "= \"Az\"", true), ("2A29", [0x35], "= \"5\"", true),
    ] as [(String, [UInt8], String, Bool)])
  func expectations(uuid: String, octets: [UInt8], condition: String, isMet: Bool) throws {
    let expectation = try RunExpectation(RunWord.words(of: "\(uuid) \(condition)"))
    let value = ValueText(octets, of: CBUUID(string: uuid))
    #expect(try expectation.isMet(by: value, [:]) == isMet)
  }

  @Test("A value that can't be compared as an expectation says is a failure with the reason")
  func incomparable() throws {
    for (condition, reason) in [
      ("= 87 mV", "the unit of the value is %"), ("speed = 5", "has no field \"speed\""),
      ("< 0x58", "octets are equal or not"), ("< full", "compares numbers"),
    ] {
      let expectation = try RunExpectation(RunWord.words(of: "2A19 \(condition)"))
      let failure = #expect(throws: Failure.self) {
        try expectation.isMet(by: ValueText([0x57], of: CBUUID(string: "2A19")), [:])
      }
      #expect(failure?.description.contains(reason) == true, "\(failure?.description ?? "")")
      #expect(failure?.status == ExitStatus.breaches)
    }
  }

  @Test("An expectation about a variable compares numbers as numbers, and other texts as texts")
  func variableExpectations() throws {
    func isMet(_ line: String, _ value: String) throws -> Bool {
      try RunExpectation(RunWord.words(of: line)).isMet(["x": value])
    }
    #expect(try isMet("$x >= 50", "87") && !isMet("$x >= 100", "87"))
    #expect(try isMet("$x = lamp", "Lamp") && isMet("$x contains am", "Lamp"))
    #expect(throws: Failure.self) { try isMet("$x > 5", "Lamp") }
  }

  @Test("The time limit of an expectation is its last words")
  func limits() throws {
    let expectation = try RunExpectation(RunWord.words(of: "2A37 \"heart rate\" > 60 within 500ms"))
    #expect(expectation.limit == 0.5 && expectation.text([:]) == "heart rate > 60")
    #expect(try RunExpectation(RunWord.words(of: "2A37 within 2s")).condition == nil)
  }
}
