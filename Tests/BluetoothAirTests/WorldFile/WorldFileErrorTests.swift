import Testing

@testable import BluetoothAir

@Suite("World files: errors")
struct WorldFileErrorTests {
  /// A line of a file, and the expected error.
  struct Case: CustomTestStringConvertible {
    var text: String
    var complaint: String
    var testDescription: String { text }
  }

  private static let device = "devices: [{name: d, accessory: battery, "
  private static let place = "expected [x, y] or [x, y, z] in metres, each -1000000 to 1000000"

  static let values = [
    Case(
      text: device + "position: far}]",
      complaint: "w:1:51: devices[0].position: \(place), got \"far\""),
    Case(
      text: device + "position: [1]}]",
      complaint: "w:1:51: devices[0].position: \(place), got a list"),
    Case(
      text: device + "position: [1, 2e6]}]",
      complaint: "w:1:51: devices[0].position: \(place), got a list"),
    Case(
      text: device + "transmitPower: 30}]",
      complaint: "w:1:56: devices[0].transmitPower: expected a number from -20 to 20, got 30"),
    Case(
      text: device + "transmitPower: \"3\"}]",
      complaint: "w:1:56: devices[0].transmitPower: expected a number from -20 to 20, got \"3\""),
    Case(
      text: device + "transmitPower: .inf}]",
      complaint: "w:1:56: devices[0].transmitPower: expected a number from -20 to 20, got \".inf\""),
    Case(
      text: device + "bondLimit: 010}]",
      complaint: "w:1:52: devices[0].bondLimit: expected a whole number from 0 to 1000, got \"010\""),
    Case(
      text: device + "bondLimit: 1.5}]",
      complaint: "w:1:52: devices[0].bondLimit: expected a whole number from 0 to 1000, got 1.5"),
    Case(
      text: device + "usesPrivateAddresses: yes}]",
      complaint: "w:1:63: devices[0].usesPrivateAddresses: expected true or false, got yes"),
    Case(
      text: device + "gapName: 5}]",
      complaint: "w:1:50: devices[0].gapName: expected text of 1 to 248 octets (in quotes if it looks like "
        + "something else), got 5"),
    Case(
      text: device + "gapName: }]",
      complaint: "w:1:50: devices[0].gapName: expected text of 1 to 248 octets (in quotes if it looks like "
        + "something else), got nothing"),
    Case(
      text: device + "address: 12:34}]",
      complaint: "w:1:50: devices[0].address: expected a device address such as \"C0:FF:EE:00:00:01\", got "
        + "\"12:34\""),
    Case(
      text: device + "chip: modrn}]",
      complaint: "w:1:47: devices[0].chip: expected \"bcm4330\", \"bcm4334\", \"first-single-mode\", \"modern\" or "
        + "\"nrf52832\", got \"modrn\"; did you mean \"modern\"?"),
    Case(
      text: "environment: ofice",
      complaint: "w:1:14: environment: expected \"free\", \"line-of-sight\" or \"office\", or an object, got "
        + "\"ofice\"; did you mean \"office\"?"),
    Case(text: "seed: -1", complaint: "w:1:7: seed: expected a whole number from 0 to 18446744073709551615, got -1"),
    Case(text: "devices: {}", complaint: "w:1:10: devices: expected a list, got an object"),
    Case(text: "[]", complaint: "w:1:1: expected an object: the contents of an air, got a list"),
    Case(
      text: "interference: [{kind: jammer, channels: [40]}]",
      complaint: "w:1:42: interference[0].channels[0]: expected a whole number from 0 to 39, got 40"),
    Case(
      text: "interference: [jammer]",
      complaint: "w:1:16: interference[0]: \"jammer\" requires \"channels\": expected an object"),
    Case(
      text: "interference: [{channels: [1]}]",
      complaint: "w:1:16: interference[0]: \"kind\" is missing: expected \"wi-fi\", \"microwave-oven\", "
        + "\"classic-bluetooth\" or \"jammer\""),
    Case(
      text: "interference: [{kind: wifi}]",
      complaint: "w:1:23: interference[0].kind: expected \"wi-fi\", \"microwave-oven\", \"classic-bluetooth\" or "
        + "\"jammer\", got \"wifi\"; did you mean \"wi-fi\"?"),
  ]

  @Test(
    "The error for a wrong value has its place, its field, the expected value and the value found",
    arguments: values)
  func value(of test: Case) {
    #expect(complaints(test.text) == [test.complaint])
  }

  static let fields = [
    Case(
      text: device + "postion: [1, 2]}]",
      complaint: "w:1:41: devices[0].postion: unknown field; did you mean \"position\"?"),
    Case(text: "device: []", complaint: "w:1:1: device: unknown field; did you mean \"devices\"?"),
    Case(text: "x y: 1", complaint: "w:1:1: \"x y\": unknown field"),
    Case(
      text: "clients: [{position: [0, 0]}]",
      complaint: "w:1:11: clients[0]: \"name\" is missing: expected text of 1 to 248 octets (in quotes if it looks "
        + "like something else)"),
    Case(
      text: "devices: [{name: d, accessory: {kind: battery, celsius: 3}}]",
      complaint: "w:1:48: devices[0].accessory.celsius: unknown field"),
  ]

  @Test(
    "The error for an unknown field suggests the nearest one, and the error for a missing field says what it must be",
    arguments: fields)
  func field(of test: Case) {
    #expect(complaints(test.text) == [test.complaint])
  }

  @Test("A name that is used twice is an error, for devices and clients together")
  func names() {
    let text = """
      devices:
        - {name: a, accessory: battery}
        - {name: a, accessory: battery}
      clients:
        - name: a
      """
    #expect(
      complaints(text) == [
        "w:3:12: devices[1].name: duplicate name \"a\", first used on line 2",
        "w:5:11: clients[0].name: duplicate name \"a\", first used on line 2",
      ])
  }

  @Test("An unknown name in losses or faults is an error that suggests the nearest name")
  func unknownNames() {
    let text = """
      devices: [{name: strap, accessory: battery}]
      clients: [{name: phone}]
      losses:
        - {between: [strap, fone], decibels: 5}
        - {between: [phone, phone], decibels: 5}
      faults:
        - {layer: air, fault: lose, from: stra}
        - {layer: device, fault: mute, device: nobody, after: {layer: hci, device: phon}}
      """
    #expect(
      complaints(text) == [
        "w:4:23: losses[0].between[1]: unknown device or client \"fone\"",
        "w:5:23: losses[1].between[1]: expected two different devices",
        "w:7:37: faults[0].from: unknown device or client \"stra\"; did you mean \"strap\"?",
        "w:8:42: faults[1].device: unknown device or client \"nobody\"",
        "w:8:78: faults[1].after.device: unknown device or client \"phon\"; did you mean \"phone\"?",
      ])
  }

  @Test("Permitted intervals out of order, and an alert of a category that is not supported, are errors")
  func accessoryValues() {
    func complaint(_ accessory: String) -> String {
      complaints("devices: [{name: d, accessory: {\(accessory)}}]").joined(separator: "; ")
    }
    let accessory = "devices[0].accessory"
    #expect(
      complaint("kind: thermometer, permittedIntervals: [9, 2]")
        .hasSuffix(": \(accessory).permittedIntervals: the shortest interval exceeds the longest one"))
    #expect(complaint("kind: thermometer, permittedIntervals: [2, 2]").isEmpty)
    #expect(
      complaint("kind: telephone, alerts: [{at: 1, category: sms}, {at: 1, category: news}]")
        .hasSuffix(": \(accessory).alerts[1].category: the telephone does not support this category"))
    #expect(complaint("kind: telephone, categories: [news], alerts: [{at: 1, category: news}]").isEmpty)
  }

  @Test("A notification that is removed before it appears is an error")
  func notificationTimes() {
    func text(_ times: String) -> String {
      "devices: [{name: d, accessory: {kind: notifying-phone, notifications: [{app: a, \(times)}]}}]"
    }
    let path = "devices[0].accessory.notifications[0].removedAt"
    for times in ["at: 2, removedAt: 1", "at: 2, removedAt: 2", "removedAt: 0"] {
      let found = complaints(text(times))
      #expect(found.count == 1)
      #expect(found.first?.hasSuffix(": \(path): the notification is removed before it appears") == true)
    }
    #expect(complaints(text("at: 2, removedAt: 2.001")).isEmpty)
  }

  @Test(
    "A date or a time that does not exist, or before 1970, is an error",
    arguments: [
      "2023-02-29T08:30:00", "1900-02-29T00:00:00", "1969-12-31T23:59:59", "2024-13-01T00:00:00", "2024-00-10T00:00:00",
      "2024-04-31T00:00:00", "2024-04-00T00:00:00", "2024-04-30T24:00:00", "2024-04-30T23:60:00", "2024-04-30T23:59:60",
      "2024-04-30 23:59:00", "2024-04-30", "2024-04-30T23:59:00Z", "10000-01-01T00:00:00", "2024-4-30T23:59:000",
    ])
  func dates(text: String) {
    #expect(
      complaints("devices: [{name: d, accessory: {kind: telephone, startTime: \"\(text)\"}}]") == [
        "w:1:61: devices[0].accessory.startTime: expected a date from 1970 on and a time, such as "
          + "\"2024-02-29T08:30:00\", got \"\(text)\""
      ])
  }

  @Test("Times out of order are an error, in paths and in power switches")
  func times() {
    let text = """
      devices:
        - name: d
          accessory: battery
          path: [{at: 2, position: [0, 0]}, {at: 1, position: [0, 0]}]
          power: [{at: 2, isOn: false}, {at: 2, isOn: true}]
      """
    #expect(
      complaints(text) == [
        "w:4:44: devices[0].path[1].at: times must increase: the previous time is 2",
        "w:5:40: devices[0].power[1].at: times must increase: the previous time is 2",
      ])
  }

  static let faults = [
    Case(
      text: "{layer: air, fault: mute}",
      complaint: "w:1:23: faults[0].fault: expected \"lose\", \"corrupt\" or \"inject\" on the air, got \"mute\""),
    Case(text: "{layer: hci, fault: delay}", complaint: "w:1:10: faults[0]: \"by\" is missing"),
    Case(
      text: "{layer: hci, fault: lose, by: 1}",
      complaint: "w:1:36: faults[0].by: this fault does not have this key"),
    Case(
      text: "{layer: air, fault: lose, control: 300}",
      complaint: "w:1:45: faults[0].control: expected a number of 8 bits such as 27 or \"0x1B\", or \"any\", got 300"),
    Case(
      text: "{layer: air, fault: lose, number: 1, percent: 5}",
      complaint: "w:1:47: faults[0].percent: conflicts with \"number\": expected only one of them"),
    Case(
      text: "{layer: device, fault: mute, after: {layer: air, data: true}}",
      complaint: "w:1:59: faults[0].after.data: this fault does not have this key"),
    Case(
      text: "{layer: air, fault: lose, octets: 0Z}",
      complaint: "w:1:44: faults[0].octets: expected 0 to 255 pairs of hexadecimal digits, got \"0Z\""),
  ]

  @Test("An error of the fault plan is reported at the place of the field", arguments: faults)
  func fault(of test: Case) {
    #expect(complaints("faults: [\(test.text)]") == [test.complaint])
  }

  @Test("All errors are reported in the order of the text, up to the first twenty")
  func many() {
    let text = "seed: x\ndevices:\n" + String(repeating: "- {name: 1}\n", count: 50) + "environment: 5"
    let lines = complaints(text)
    #expect(lines.count == WorldFileFailure.maximumCount + 1)
    #expect(lines[0].hasPrefix("w:1:7: seed: "))
    #expect(lines[1].hasPrefix("w:3:3: devices[0]: \"accessory\" is missing"))
    #expect(lines[2].hasPrefix("w:3:10: devices[0].name: "))
    #expect(lines.last == "w: 82 more problems")
  }

  @Test("Each of several unknown fields gets a suggestion among the fields that the object lacks")
  func severalUnknownFields() {
    #expect(
      complaints("device: []\nenvironmnt: office\nseed: 1\nsed: 2") == [
        "w:1:1: device: unknown field; did you mean \"devices\"?",
        "w:2:1: environmnt: unknown field; did you mean \"environment\"?", "w:4:1: sed: unknown field",
      ])
  }

  @Test("Text of a file is shortened in errors, and its terminal control characters are escaped")
  func control() {
    let line = complaints("seed: \"\\e[31m\(String(repeating: "x", count: 100))\"")[0]
    #expect(line.hasSuffix("got \"\\u{1B}[31m" + String(repeating: "x", count: 35) + "…\""))
    #expect(complaints("\"\\e[0m\": 1")[0].hasPrefix("w:1:1: \"\\u{1B}[0m\": unknown field"))
  }

  @Test("A file with 10,000 devices is read, and one with 10,001 devices is refused")
  func crowd() throws {
    func text(_ count: Int) -> String {
      "devices:\n" + (0..<count).map { "- {name: d\($0), accessory: battery}\n" }.joined()
    }
    #expect(try WorldFile(text: text(10_000)).members.count == 10_000)
    #expect(complaints(text(10_001)) == ["w:2:1: devices: expected 0 to 10000 values, got 10001"])
  }

  // MARK: Peripherals

  static let peripherals = [
    Case(
      text: "advertising: {payload: {name: 123456789 123456789 1234567, flags: 6}}",
      complaint: "w:5:28: devices[0].accessory.advertising.payload: the AD structures have 32 octets; the maximum "
        + "is 31"),
    Case(
      text: "advertising: {interval: 1, schedule: [{interval: 1}]}",
      complaint: "w:5:32: devices[0].accessory.advertising.schedule: conflicts with \"interval\": expected only "
        + "one of them"),
    Case(
      text: "services: [{uuid: 1801}]",
      complaint: "w:5:23: devices[0].accessory.services[0].uuid: the GAP and GATT services are added automatically"),
    Case(
      text: "services: [{uuid: 180F, includes: [180A]}]",
      complaint: "w:5:40: devices[0].accessory.services[0].includes[0]: no service 180A is defined before this one"),
  ]

  static let characteristics = [
    Case(
      text: "{uuid: 2A19, properties: [read], value: 123}",
      complaint: "w:7:65: devices[0].accessory.services[0].characteristics[0].value: expected 0 to 512 octets, as "
        + "pairs of hexadecimal digits or as a list of numbers, got 123"),
    Case(
      text: "{uuid: 2A19, properties: [read], value: 12, text: a}",
      complaint: "w:7:69: devices[0].accessory.services[0].characteristics[0].text: conflicts with \"value\": "
        + "expected only one of them"),
    Case(
      text: "{uuid: 2A19, properties: [read], notifyPeriod: 1}",
      complaint: "w:7:72: devices[0].accessory.services[0].characteristics[0].notifyPeriod: requires the "
        + "property \"notify\" or \"indicate\""),
    Case(
      text: "{uuid: 2A19, properties: [read], descriptors: [{uuid: 2902}]}",
      complaint: "w:7:79: devices[0].accessory.services[0].characteristics[0].descriptors[0].uuid: 2902 is "
        + "added automatically, has its own field, or is not a descriptor"),
    Case(
      text: "{uuid: 2A19, properties: [read], aggregateFormat: [2A19]}",
      complaint: "w:7:76: devices[0].accessory.services[0].characteristics[0].aggregateFormat[0]: this service has no "
        + "characteristic 2A19 with a presentation format"),
    Case(
      text: "{uuid: 2A19, properties: [red]}",
      complaint: "w:7:51: devices[0].accessory.services[0].characteristics[0].properties[0]: expected "
        + "\"broadcast\", \"indicate\", \"notify\", \"read\", \"signed-write\", \"write\" or "
        + "\"write-without-response\", got "
        + "\"red\"; did you mean \"read\"?"),
  ]

  @Test("A peripheral that can't be served or advertised is refused", arguments: peripherals)
  func peripheral(of test: Case) {
    #expect(complaints(peripheralFile(test.text)) == [test.complaint])
  }

  @Test("A characteristic that can't be served is refused", arguments: characteristics)
  func characteristic(of test: Case) {
    let text = peripheralFile("services:\n- uuid: 180F\n  characteristics: [\(test.text)]")
    #expect(complaints(text) == [test.complaint])
  }

  @Test("Too many characteristics are refused")
  func tooManyCharacteristics() {
    let services = (0..<11).map { service in
      let all = (0..<100).map { "{uuid: \(2_000 + $0), properties: [read]}" }.joined(separator: ", ")
      return "- {uuid: \(3_000 + service), characteristics: [\(all)]}"
    }
    #expect(
      complaints(peripheralFile("services:\n" + services.joined(separator: "\n"))) == [
        "w:6:5: devices[0].accessory.services: expected at most 1000 characteristics, got 1100"
      ])
  }

  // MARK: Words

  @Test("The nearest word differs by a few letters changed, omitted, inserted or swapped; a distant word has none")
  func nearestWords() {
    let words = ["position", "path", "power", "address"]
    #expect(SpellingSuggestion.nearest(to: "postion", among: words) == "position")
    #expect(SpellingSuggestion.nearest(to: "POSITION", among: words) == "position")
    #expect(SpellingSuggestion.nearest(to: "pwoer", among: words) == "power")
    #expect(SpellingSuggestion.nearest(to: "adress", among: words) == "address")
    #expect(SpellingSuggestion.nearest(to: "seed", among: words) == nil)
    #expect(SpellingSuggestion.nearest(to: "", among: words) == nil)
    #expect(SpellingSuggestion.nearest(to: String(repeating: "p", count: 10_000), among: words) == nil)
  }
}
