import BluetoothDBus
import BluetoothLab
import Foundation
import Testing

@testable import BluetoothBlueZ

/// The page of the interface says of each method and property whether it is served, and the service does so.
@Suite struct BlueZPageTests {
  private struct Row {
    /// The interface without its prefix.
    let interface: String
    let member: String
    let type: String
    let answer: String

    var isMethod: Bool { type.hasPrefix("(") }
    var isServed: Bool { answer.hasPrefix("served") }
    var isThere: Bool { !answer.hasPrefix("not there") }
    /// The error of a method that is refused.
    var error: String? {
      guard answer.hasPrefix("refused: ") else { return nil }
      return answer.split(separator: "`").dropFirst().first.map(String.init)
    }
  }

  /// The rows of the page that name a member of an interface.
  private static let rows: [Row] = {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = folder.appending(path: "Documentation/BlueZ-programs.md")
    let text = (try? String(contentsOf: page, encoding: .utf8)) ?? ""
    let table = text.components(separatedBy: "| method or property | type | answer |").last ?? ""
    return table.split(separator: "\n").compactMap { line in
      let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
        $0.trimmingCharacters(in: CharacterSet(charactersIn: " `"))
      }
      guard cells.count == 5, let dot = cells[1].firstIndex(of: ".") else { return nil }
      return Row(
        interface: String(cells[1][..<dot]), member: String(cells[1][dot...].dropFirst()), type: cells[2],
        answer: line.split(separator: "|").last.map { $0.trimmingCharacters(in: .whitespaces) } ?? "")
    }
  }()

  private static func type(of method: InterfaceDeclaration.Method) -> String {
    let (input, output) = (method.input.map(\.signature), method.output.map(\.signature))
    return "(\(input.joined(separator: ", ")))" + (output.isEmpty ? "" : " → " + output.joined(separator: ", "))
  }

  @Test("The page has each declared method and property with its type, and no other one as there")
  func declarations() {
    var expected: Set<String> = []
    for interface in BlueZInterface.all {
      let name = interface.name.replacing("org.bluez.", with: "")
      for method in interface.methods { expected.insert("\(name).\(method.name) \(Self.type(of: method))") }
      for property in interface.properties {
        expected.insert("\(name).\(property.name) \(property.signature)" + (property.isWritable ? " settable" : ""))
      }
    }
    let found = Self.rows.filter(\.isThere).map { row in
      "\(row.interface).\(row.member) \(row.type)" + (row.answer.hasPrefix("served, settable") ? " settable" : "")
    }
    #expect(Set(found).count == found.count)
    #expect(Set(found).subtracting(expected).sorted() == [])
    #expect(expected.subtracting(found).sorted() == [])
    let absent = Self.rows.filter { !$0.isThere }.map { "\($0.interface).\($0.member) " }
    #expect(absent.filter { name in expected.contains { $0.hasPrefix(name) } } == [])
  }

  /// A stage with a connected lamp, and the object for each interface.
  private func lamp() throws -> (stage: BlueZStage, paths: [String: String]) {
    let stage = BlueZStage { $0.add(Flashlight(), named: "lamp", at: Position(x: 1)) }
    let device = try stage.discover("Flashlight")
    #expect(stage.error("Connect", of: "Device1", at: device) == nil)
    stage.world.run(until: { stage.property("Percentage", of: "Battery1", at: device) != nil })
    let status = try #require(stage.characteristic(Flashlight.status.path.characteristic, of: device))
    let service = try #require(stage.property("Service", of: "GattCharacteristic1", at: status)?.path)
    let descriptor = try #require(stage.server.paths.first { $0.hasPrefix(status + "/desc") })
    return (
      stage,
      [
        "AgentManager1": "/org/bluez", "ProfileManager1": "/org/bluez", "Device1": device, "Battery1": device,
        "GattService1": service, "GattCharacteristic1": status, "GattDescriptor1": descriptor,
      ]
    )
  }

  @Test("Each property that the page calls served has a value, unless it depends on the device")
  func properties() throws {
    let (stage, paths) = try lamp()
    var count = 0
    for row in Self.rows where row.isServed && !row.isMethod && !row.answer.contains("if it is known") {
      let value = stage.property(row.member, of: row.interface, at: paths[row.interface] ?? BlueZStage.adapter)
      #expect(value?.signature == row.type, "\(row.interface).\(row.member)")
      count += 1
    }
    #expect(count > 40)
  }

  @Test("Each method is answered as the page says: a served one is known, a refused one has its error")
  func methods() throws {
    let arguments: [String: DBusValue] = [
      "a{sv}": .properties([:]), "o": .path("/client"), "s": .string("180d"), "ay": .bytes([1]),
    ]
    var count = 0
    for row in Self.rows where row.isThere && row.isMethod {
      let (stage, paths) = try lamp()
      var path = paths[row.interface] ?? BlueZStage.adapter
      if ["WriteValue", "AcquireWrite"].contains(row.member), row.interface == "GattCharacteristic1" {
        let device = try #require(paths["Device1"])
        path = try #require(stage.characteristic(Flashlight.lightSwitch.path.characteristic, of: device))
      }
      let declaration = BlueZInterface.all.first { $0.name == "org.bluez." + row.interface }
      let method = try #require(declaration?.methods.first { $0.name == row.member })
      let values = try method.input.map { try #require(arguments[$0.signature]) }
      let error = stage.error(row.member, values, of: row.interface, at: path)
      if row.isServed {
        #expect(!["NotSupported", "test.NoAnswer"].contains(error), "\(row.interface).\(row.member): \(error ?? "")")
      } else {
        #expect(error == row.error, "\(row.interface).\(row.member)")
      }
      count += 1
    }
    #expect(count > 20)
  }
}
