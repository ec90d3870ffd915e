import BluetoothLab
import Foundation
import TestSupport
import Testing

@testable import BluetoothAir

/// The reader, the JSON Schema and the documentation share one table of fields. These tests check that all three agree
/// with it. `COREBLUETOOTH_WRITE_TABLES=1` writes the files again.
@Suite("World files: the table of fields")
struct WorldFieldTests {
  /// The capture that the examples of recordings name.
  private static let recordings = try? RecordingFolder()
  private static let rewrites = ProcessInfo.processInfo.environment["COREBLUETOOTH_WRITE_TABLES"] == "1"

  /// Every kind of object in a file: its shape, and a function that embeds such an object in a file.
  private static var places: [(shape: ObjectShape, file: (String) -> String)] {
    func device(_ fields: String) -> String { "{\"devices\": [{\"name\": \"d\", \(fields)}]}" }
    func peripheral(_ fields: String) -> String { device("\"accessory\": {\"kind\": \"peripheral\", \(fields)}") }
    func characteristic(_ fields: String) -> String {
      peripheral(
        "\"services\": [{\"uuid\": \"1815\", \"characteristics\": [{\"uuid\": \"2A58\", \"properties\": [\"read\"], "
          + "\(fields)}]}]")
    }
    func advertising(_ fields: String) -> String { peripheral("\"advertising\": {\(fields)}") }
    func payload(_ fields: String) -> String { advertising("\"payload\": {\(fields)}") }
    let ab = "{\"name\": \"a\", \"accessory\": \"battery\"}, {\"name\": \"b\", \"accessory\": \"battery\"}"
    let files: [String: (String) -> String] = [
      "environment": { "{\"environment\": \($0)}" },
      "loss": { "{\"devices\": [\(ab)], \"losses\": [\($0)]}" },
      "device": { "{\"devices\": [\($0)]}" },
      "waypoint": { device("\"accessory\": \"battery\", \"path\": [\($0)]") },
      "power": { device("\"accessory\": \"battery\", \"power\": [\($0)]") },
      "signalStrength": { device("\"accessory\": \"battery\", \"signalStrength\": \($0)") },
      "antenna": { device("\"accessory\": \"battery\", \"antenna\": \($0)") },
      "client": { "{\"clients\": [\($0)]}" },
      "connection": { peripheral("\"connection\": \($0)") },
      "route": { device("\"accessory\": {\"kind\": \"location\", \"routes\": [\($0)]}") },
      "routePoint": {
        device(
          "\"accessory\": {\"kind\": \"location\", \"routes\": [{\"name\": \"r\", \"waypoints\": [\($0)]}]}")
      },
      "alert": { device("\"accessory\": {\"kind\": \"telephone\", \"alerts\": [\($0)]}") },
      "press": { device("\"accessory\": {\"kind\": \"pin-board\", \"presses\": [\($0)]}") },
      "notification": { device("\"accessory\": {\"kind\": \"notifying-phone\", \"notifications\": [\($0)]}") },
      "weighing": { device("\"accessory\": {\"kind\": \"weight-scale\", \"weighings\": [\($0)]}") },
      "advertising": { peripheral("\"advertising\": \($0)") },
      "phase": { advertising("\"schedule\": [\($0)]") },
      "payload": { advertising("\"payload\": \($0)") },
      "serviceData": { payload("\"serviceData\": [\($0)]") },
      "manufacturerData": { payload("\"manufacturerData\": \($0)") },
      "structure": { payload("\"structures\": [\($0)]") },
      "service": { peripheral("\"services\": [{\"uuid\": \"180A\"}, \($0)]") },
      "characteristic": {
        // The part of the example of an aggregate format.
        let part =
          "{\"uuid\": \"2A6E\", \"properties\": [\"read\"], \"presentationFormat\": {\"format\": 14, \"unit\": 10031}}"
        return peripheral("\"services\": [{\"uuid\": \"1815\", \"characteristics\": [\(part), \($0)]}]")
      },
      "presentationFormat": { characteristic("\"presentationFormat\": \($0)") },
      "refusal": { characteristic("\"refuses\": \($0)") },
      "descriptor": { characteristic("\"descriptors\": [\($0)]") },
    ]
    let root: [(shape: ObjectShape, file: (String) -> String)] = [
      (
        .world,
        {
          $0 == "{}"
            ? "{\"devices\": [\(ab)]}" : $0.contains("\"devices\"") ? $0 : "{\"devices\": [\(ab)], " + $0.dropFirst()
        }
      )
    ]
    let defined = WorldSchema.definitions.compactMap { shape in files[shape.name].map { (shape, $0) } }
    let sources = ObjectShape.interferenceKinds.map { kind in
      (kind, { (text: String) in "{\"interference\": [\(Self.add(kind.name, to: text))]}" })
    }
    let accessories = ObjectShape.accessoryKinds.map { kind in
      (
        kind,
        { (text: String) in
          let text = text.replacing("session.pcapng", with: (Self.recordings?.path ?? "") + "/session.pcapng")
          return device("\"accessory\": \(Self.add(kind.name, to: text))")
        }
      )
    }
    return root + defined + sources + accessories
  }

  private static func add(_ kind: String, to object: String) -> String {
    "{\"kind\": \"\(kind)\"" + (object == "{}" ? "" : ", ") + object.dropFirst()
  }

  private static func object(_ fields: [WorldField]) -> String {
    "{" + fields.map { "\"\($0.name)\": \($0.example)" }.joined(separator: ", ") + "}"
  }

  @Test("These tests cover every object of the table, except faults, which the lab reads")
  func allObjects() {
    let tried = Set(Self.places.map(\.shape.name))
    let all = Set(WorldSchema.definitions.map(\.name))
    #expect(all.subtracting(tried) == ["fault", "faultTrigger"])
  }

  @Test("Every field of the table changes the result, has an example that fits, and is in the schema")
  func everyFieldIsRead() throws {
    let schema = try SchemaValidator(WorldSchema.text)
    for (shape, file) in Self.places {
      let required = shape.fields.filter(\.isRequired)
      let base = try WorldFile(text: file(Self.object(required)))
      for field in shape.fields where !field.isRequired && field.name != "$schema" {
        let text = file(Self.object(required + [field]))
        #expect(complaints(text) == [], "\(shape.name).\(field.name)")
        #expect(schema.complaints(try WorldSyntax.read(text)) == [], "\(shape.name).\(field.name)")
        let changed = try WorldFile(text: text)
        #expect("\(changed)" != "\(base)", "\(shape.name).\(field.name) means nothing")
      }
    }
  }

  @Test("The reader and the schema both report every required field that is missing")
  func everyRequiredFieldIsMissed() throws {
    let schema = try SchemaValidator(WorldSchema.text)
    for (shape, file) in Self.places {
      let required = shape.fields.filter(\.isRequired)
      for field in required {
        let text = file(Self.object(required.filter { $0.name != field.name }))
        #expect(
          complaints(text).contains { $0.contains("\"\(field.name)\" is missing") }, "\(shape.name).\(field.name)")
        #expect(!schema.complaints(try WorldSyntax.read(text)).isEmpty, "\(shape.name).\(field.name)")
      }
    }
  }

  @Test("The reader and the schema both refuse a value of the wrong type for every field")
  func wrongTypes() throws {
    let schema = try SchemaValidator(WorldSchema.text)
    for (shape, file) in Self.places {
      for field in shape.fields {
        let others = shape.fields.filter { $0.isRequired && $0.name != field.name }
        let object = Self.object(others)
        let separator = others.isEmpty ? "" : ", "
        for wrong in ["null", "[[[]]]", "{\"no such field\": true}", "-1e30"] {
          let text = file(object.dropLast() + separator + "\"\(field.name)\": \(wrong)}")
          #expect(!complaints(text).isEmpty, "\(shape.name).\(field.name): \(wrong)")
          #expect(!schema.complaints(try WorldSyntax.read(text)).isEmpty, "\(shape.name).\(field.name): \(wrong)")
        }
      }
    }
  }

  @Test("A fault has the same fields as a fault of the lab")
  func faultFields() {
    #expect(Set(ObjectShape.fault.fields.map(\.name)) == Set(Fault.fieldNames))
    let trigger = Set(ObjectShape.faultTrigger.fields.map(\.name))
    #expect(trigger.isSubset(of: Fault.fieldNames))
  }

  @Test("The reader reads faults of every layer as the lab does")
  func faults() throws {
    let plan: FaultPlan = [
      .air(.inject([1, 2]), AirMatch(.attribute(opcode: 0x1B, handle: nil), from: "a", to: "b"), .numbers(2...3)),
      .air(.corrupt, AirMatch(.control(nil)), .percent(12.5)), .air(.lose, AirMatch(.empty), .number(4)),
      .hci(.delay(.milliseconds(20)), HCIMatch(.event(0x3E, subevent: 1), on: "a", direction: .toHost)),
      .hci(.duplicate, HCIMatch(.command(0x200A))), .hci(.lose, HCIMatch(.data)),
      .device(.driftClock(partsPerMillion: -40), "a", when: .at(.seconds(1))),
      .device(.mute(for: .seconds(2)), "b", when: .afterAir(.connectIndications, .number(1))),
      .device(.resetController, "b", when: .afterHCI(HCIMatch(.command()), .number(9))),
    ]
    let json = plan.json.drop { $0 != "[" }
    let text = "{\"clients\": [{\"name\": \"a\"}, {\"name\": \"b\"}], \"faults\": \(json)"
    #expect(complaints(text) == [])
    #expect(try WorldFile(text: text).faults == plan)
    let schema = try SchemaValidator(WorldSchema.text)
    #expect(schema.complaints(try WorldSyntax.read(text)) == [])
  }

  // MARK: Files

  @Test("The schema in Documentation agrees with the table")
  func committedSchema() throws {
    if Self.rewrites {
      try WorldSchema.text.write(
        to: WorkingCopy.url("Documentation/world.schema.json"), atomically: true, encoding: .utf8)
    }
    #expect(try WorkingCopy.text("Documentation/world.schema.json") == WorldSchema.text)
    #expect(throws: Never.self) {
      try JSONSerialization.jsonObject(with: Data(WorldSchema.text.utf8))
    }
  }

  @Test("The lists in Documentation agree with the reader")
  func committedLists() throws {
    let path = "Documentation/World-files.md"
    let (start, end) = ("<!-- fields -->\n", "<!-- end of fields -->")
    var text = try WorkingCopy.text(path)
    let first = try #require(text.range(of: start))
    let last = try #require(text.range(of: end))
    if Self.rewrites {
      text.replaceSubrange(first.upperBound..<last.lowerBound, with: "\n" + FieldLists.text + "\n")
      try text.write(to: WorkingCopy.url(path), atomically: true, encoding: .utf8)
    }
    #expect(text.contains(start + "\n" + FieldLists.text + "\n" + end))
  }

  @Test("The examples fit the schema", arguments: ExampleWorlds.names)
  func examples(name: String) throws {
    let schema = try SchemaValidator(WorkingCopy.text("Documentation/world.schema.json"))
    let text = try String(contentsOfFile: ExampleWorlds.path(name), encoding: .utf8)
    #expect(schema.complaints(try WorldSyntax.read(text)) == [])
    #expect(complaints(text) == [])
  }

  @Test("The list of examples is complete")
  func allExamples() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: WorkingCopy.url("Examples/Worlds").path)
    #expect(files.sorted() == ExampleWorlds.names.map { $0 + ".yaml" })
  }
}
