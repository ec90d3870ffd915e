import ArgumentParser
import BluetoothAir
import BluetoothDissection
import BluetoothTypes
import CoreBluetooth
import CoreBluetoothExtras
import Foundation
import Testing

@testable import ble

@Suite struct ValueTests {
  @Test(
    "A value on the command line is hexadecimal, text, a number or a file",
    arguments: [
      ("0x0A1b", [0x0A, 0x1B]), ("0X 0a:1B-ff", [0x0A, 0x1B, 0xFF]), ("0x", []), ("\"Az\"", [0x41, 0x7A]),
      ("\"\"", []), ("text:0x", [0x30, 0x78]), ("u8:255", [0xFF]), ("u16:500", [0xF4, 0x01]),
      ("u16:0x0102", [0x02, 0x01]), ("u24:1", [1, 0, 0]), ("i8:-128", [0x80]), ("i32:-2", [0xFE, 0xFF, 0xFF, 0xFF]),
      ("u64:18446744073709551615", [UInt8](repeating: 0xFF, count: 8)), ("f32:1", [0, 0, 0x80, 0x3F]),
      ("f64:-2", [0, 0, 0, 0, 0, 0, 0, 0xC0]), ("file:/dev/null", []),
    ] as [(String, [UInt8])])
  func forms(text: String, octets: [UInt8]) throws {
    #expect(Array(try WrittenValue(text).octets) == octets)
  }

  @Test(
    "A value that can't be read is refused with the reason",
    arguments: [
      ("500", "expected one of"), ("0x123", "odd number"), ("0x1g", "is no octet"), ("u16:65536", "0 to 65535"),
      ("u8:-1", "0 to 255"), ("i8:128", "-128 to 127"), ("u12:1", "unknown form \"u12:\""), ("f32:a", "no number"),
      ("u128:1", "unknown form"), ("file:/nowhere", "No such file"),
      ("0x" + String(repeating: "00", count: 513), "at most 512"),
    ])
  func refusals(text: String, reason: String) {
    let failure = #expect(throws: Failure.self) { try WrittenValue(text) }
    #expect(failure?.description.contains(reason) == true, "\(failure?.description ?? "none")")
    #expect(failure?.status == (text.hasPrefix("file:") ? ExitStatus.ambiguous : ExitStatus.usage))
  }

  @Test(
    "A value without a form is refused with the forms that were probably meant",
    arguments: [
      ("5", "did you mean u8:5 or u16:5?"), ("500", "did you mean u16:500 or u32:500?"), ("-5", "i8:-5 or i16:-5?"),
      ("1.5", "did you mean f32:1.5?"), ("0A1B", "did you mean 0x0A1B or text:0A1B?"), ("on", "did you mean text:on?"),
      ("uint16:5", "did you mean u16:5?"), ("int:-1", "did you mean i8:-1?"), ("hex:0A", "did you mean 0x0A?"),
      ("string:on", "did you mean text:on?"), ("two words", "did you mean 'text:two words'?"),
    ])
  func suggestedForms(text: String, suggestion: String) {
    let failure = #expect(throws: Failure.self) { try WrittenValue(text) }
    #expect(failure?.description.contains(suggestion) == true, "\(failure?.description ?? "none")")
  }

  @Test("Numbers of a value are numbers in a record, beside their units")
  func numbers() {
    func json(_ octets: [UInt8], _ uuid: String) -> String {
      var record = JSONRecord("value")
      ValueText(octets, of: CBUUID(string: uuid)).add(to: &record)
      return record.line
    }
    #expect(json([0x57], "2A19").contains(#""decoded":"87 %","number":87,"unit":"%"}"#))
    #expect(json([0x01], "2A38").hasSuffix(#""decoded":"Chest"}"#))
    let rate = json([0x06, 0x48], "2A37")
    #expect(rate.contains(#"{"name":"heart rate","number":72,"unit":"/min"}"#), "\(rate)")
    #expect(rate.contains(#"{"name":"sensor contact","text":"detected"}"#), "\(rate)")
    // The special value "not known" is no number.
    #expect(!json([0x00, 0x80], "2A6E").contains("number"), "\(json([0x00, 0x80], "2A6E"))")
  }

  @Test("A value is shown as octets, as text if it is text, and decoded with its unit")
  func shown() {
    let battery = ValueText([0x57], of: CBUUID(string: "2A19"))
    #expect(battery.line == "0x57  87 %")
    // 0x57 is "W" as well, which a battery level is not.
    #expect(battery.text == nil)
    #expect(battery.brief == "87 %")
    let name = ValueText(Array("Lamp".utf8), of: CBUUID(string: "2A00"))
    #expect(name.line == "0x4C616D70  \"Lamp\"")
    #expect(name.text == "Lamp" && name.decoded == "Lamp")
    let own = CBUUID(string: "6F0D2A10-7C56-4D1F-9E0F-31B7A5F0C002")
    #expect(ValueText(Array("Az\0".utf8), of: own).line == "0x417A00  \"Az\"")
    #expect(ValueText([0x1B, 0x41], of: own).line == "0x1B41")
    #expect(ValueText([] as [UInt8], of: own).line == "empty")
    // A command that no specification defines, without and with octets behind its op code.
    let control = CBUUID(string: "2A52")
    #expect(ValueText([0xFF], of: control).line == "0xFF  op code reserved (255)")
    #expect(ValueText([0xFF, 0x01], of: control).line.hasPrefix("0xFF01  op code reserved (255), octets "))
    let invalid = ValueText([101], of: CBUUID(string: "2A19"))
    #expect(invalid.problem?.hasPrefix("no valid Battery Level: ") == true)
    #expect(invalid.line == "0x65  \"e\"  (\(invalid.problem ?? ""))")
    #expect(invalid.decoded == nil)
  }

  @Test("JSON escapes what would break a line, and keeps the order of the fields")
  func json() {
    var record = JSONRecord("test")
    record.add("text", "a\"b\\c\n\u{1B}\u{2028}é")
    record.add("nothing", nil as String?)
    record.add("number", .decimal(-1.5, places: 2))
    record.add("whole", .decimal(2.999999, places: 3))
    record.add("list", .list([.null, .flag(true), .integer(7)]))
    #expect(
      record.line
        == #"{"version":2,"record":"test","text":"a\"b\\c\n\u001b\u2028é","number":-1.5,"whole":3,"list":[null,true,7]}"#
    )
    #expect((0.25).decimal(1) == "0.3")
    #expect((-0.001).decimal(2) == "0")
    #expect((-12.50).decimal(2) == "-12.5")
  }

  @Test("Unknown names are refused with the nearest known one")
  func names() throws {
    #expect(try KnownNames.service("heart-rate") == 0x180D)
    #expect(try KnownNames.service("0x180d") == 0x180D)
    let failure = #expect(throws: Failure.self) { try KnownNames.service("hart rate") }
    #expect(failure?.description.contains("did you mean \"Heart Rate\"") == true)
    #expect(try KnownNames.companies("76") == [76])
    #expect(try KnownNames.companies("apple, inc") == [76])
    #expect(throws: Failure.self) { try KnownNames.companies("no such company anywhere") }
    #expect(throws: Failure.self) { try AttributePath("temprature") }
    #expect(throws: Failure.self) { try AttributePath("180D//2A37") }
    _ = try AttributePath("180D/heart rate measurement/2902")
  }

  @Test("A write of a subscription is a characteristic and a value, separated by the first equals sign")
  func plannedWrites() throws {
    #expect(try Array(PlannedWrite("2A39=0x01").octets) == [0x01])
    #expect(try Array(PlannedWrite("180D/heart rate control point=text:a=b").octets) == Array("a=b".utf8))
    for (text, reason) in [
      ("2A39", "expected CHARACTERISTIC=VALUE"), ("=0x01", "invalid characteristic"), ("2A39=", "invalid value"),
      ("2A39=7", "invalid value 7"), ("temprature=0x01", "did you mean \"Temperature\""),
    ] {
      let failure = #expect(throws: Failure.self) { try PlannedWrite(text) }
      #expect(failure?.status == ExitStatus.usage)
      #expect(failure?.description.contains(reason) == true, "\(failure?.description ?? "none")")
    }
    let command = try Subscribe.parse(["strap", "2A37", "2A19", "--write", "2A39=0x01", "--write", "2A39=0x02"])
    #expect(command.characteristics == ["2A37", "2A19"] && command.write == ["2A39=0x01", "2A39=0x02"])
    #expect(throws: (any Error).self) { try Subscribe.parse(["strap"]) }
  }

  @Test(
    "The suggestion for an unknown service or attribute is a name with a near word, or the nearest UUID",
    arguments: [
      ("hart", "Heart Rate"), ("enviromental", "Environmental Sensing"), ("18zz", "1800"), ("180O", "1800"),
      ("0x18z9", "1809"),
    ])
  func suggestions(text: String, suggestion: String) {
    let service = #expect(throws: Failure.self) { try KnownNames.service(text) }
    #expect(
      service?.description
        == "unknown service \"\(text)\": expected a UUID or an assigned name; did you mean \"\(suggestion)\"?")
    let attribute = #expect(throws: Failure.self) { try AttributePath(text) }
    #expect(attribute?.description.hasPrefix("unknown attribute \"\(text)\"") == true)
    #expect(attribute?.description.contains("; did you mean \"") == true)
  }

  @Test(
    "The suggestion for a part of a name, with or without errors, is the name, and the service before it counts",
    arguments: [
      ("body sensr", "Body Sensor Location"), ("hart rate control", "Heart Rate Control Point"),
      ("battery/levl", "Battery Level"), ("180F/levl", "Battery Level"),
      ("heart rate/measuremnt", "Heart Rate Measurement"),
    ])
  func partsOfNames(text: String, suggestion: String) {
    let failure = #expect(throws: Failure.self) { try AttributePath(text) }
    #expect(failure?.status == ExitStatus.usage)
    #expect(failure?.description.hasSuffix("assigned name; did you mean \"\(suggestion)\"?") == true)
  }

  @Test("The nearest name has the smallest edit distance; a whole name comes before a part, and a part before none")
  func nearestNames() {
    let names = ["Living Room Lamp", "Lamp", "Weather Station"]
    func part(_ text: String) -> String? { NameSuggestion.nearest(to: text, among: names)?.part }
    #expect(part("lmp") == "Lamp")
    #expect(NameSuggestion.nearest(to: "lmp", among: names)?.name == "Lamp")
    #expect(part("livng-room") == "Living Room")
    #expect(part("wether") == "Weather")
    #expect(part("wether staton") == "Weather Station")
    #expect(part("weath") == "Weather Station")
    #expect(part("ther") == nil)
    #expect(part("") == nil)
    #expect(part("qqqq") == nil)
    #expect(NameSuggestion.nearest(to: "wether staton", among: names, within: 1) == nil)
    #expect(NameSuggestion.suggestion(for: "weath", among: names) == "; did you mean \"Weather Station\"?")
  }

  @Test("The suggestion for an address or an identifier with a wrong digit is the right one")
  func wrongDigits() throws {
    try Meeting.run { local, central, stage in
      try await local.withAdvertising(localName: "Thing") {
        let peripheral = try await Meeting.find("Thing", central, stage).peripheral
        let address = try #require(peripheral.address?.digits)
        for identity in [address, peripheral.id.uuidString] {
          let wrong = String(identity.dropLast()) + (identity.hasSuffix("0") ? "1" : "0")
          let choice = try DeviceChoice.parse([wrong, "--search-time", "1"])
          let failure = await #expect(throws: Failure.self) { try await choice.find(by: central, on: stage) }
          #expect(failure?.status == ExitStatus.notFound)
          #expect(
            failure?.description
              == "no device \"\(wrong)\" among 1 device within 1 s; did you mean \"\(identity)\"?")
        }
      }
    }
  }

  @Test("A text that is near no service gets no suggestion")
  func noSuggestion() {
    let failure = #expect(throws: Failure.self) { try KnownNames.service("qqqqqqqq") }
    #expect(failure?.description == "unknown service \"qqqqqqqq\": expected a UUID or an assigned name")
  }

  @Test("A line for a terminal is cut without breaking its control sequences")
  func cut() {
    #expect("\u{1B}[1mabc\u{1B}[0mdef".cut(to: 4) == "\u{1B}[1mabc\u{1B}[0md")
    #expect("\u{1B}[1mabcdef\u{1B}[0m".cut(to: 2) == "\u{1B}[1mab\u{1B}[0m")
    #expect(Sparkline.line([-100, -65, -30, 0, -127], columns: 4) == "▅██▁")
  }
}
