import BluetoothProfiles
import Foundation
import Requirements
import TestVectors
import Testing

/// The vectors of `gatt_values.json`.
struct ValueVectors {
  struct Row: Sendable, CustomTestStringConvertible {
    var uuid: UInt16
    var name: String
    var octets: [UInt8]
    /// The fields of the value, as text.
    var facts: [String: String]
    var testDescription: String { "\(name) \(digits(octets))" }
  }

  static func rows(_ section: String) throws -> [Row] {
    let rows = try #require(try TestVectors.load("gatt_values")[section] as? [[String: Any]])
    return try rows.map { row in
      let decoded = row["decoded"] as? [String: Any] ?? [:]
      return Row(
        uuid: try #require(UInt16(row["uuid"] as? String ?? "", radix: 16)), name: row["name"] as? String ?? "",
        octets: try #require([UInt8](hexadecimal: row["value"] as? String ?? "?")),
        facts: decoded.mapValues(Self.text))
    }
  }

  private static func text(_ fact: Any) -> String {
    switch fact {
    case let list as [Any]: return "[" + list.map(Self.text).joined(separator: ", ") + "]"
    case let string as String: return string
    case let number as NSNumber: return "\(number.doubleValue)"
    default: return "null"
    }
  }
}

@Suite struct ValueVectorTests {
  @Test("Every vector decodes to the fields that it lists", .requirement("L188"))
  func values() throws {
    let rows = try ValueVectors.rows("values")
    #expect(rows.count >= 144)
    for row in rows {
      let value = try #require(try CharacteristicValues.value(of: row.uuid, row.octets), "\(row.name) has no type")
      let known = try #require(facts(of: value), "nothing is known of \(row.name)")
      for (name, fact) in row.facts where name != "flags" || known["flags"] != nil {
        #expect(known[name] == fact, "\(name) of \(row.testDescription)")
      }
    }
  }

  @Test("Every vector's value encodes to the vector's octets, except for reserved bits")
  func octets() throws {
    for row in try ValueVectors.rows("values") {
      let value = try #require(try CharacteristicValues.value(of: row.uuid, row.octets))
      switch row.testDescription {
      // The vector reports sensor contact as detected but not supported.
      case "Heart Rate Measurement 0250": #expect(value.octets == [0x00, 0x50])
      // The second octet may be left out on receipt.
      case "Supported New Alert Category 2a": #expect(value.octets == [0x2A, 0x00])
      default: #expect(value.octets == row.octets, "\(row.testDescription)")
      }
    }
  }

  @Test("Every vector's characteristic has the vector's name")
  func names() throws {
    for row in try ValueVectors.rows("values") {
      let name = row.name == "Characteristic Declaration" ? "Characteristic" : row.name
      #expect(CharacteristicValues.type(of: row.uuid)?.name == name)
    }
  }

  @Test("Every invalid vector is an error")
  func invalid() throws {
    let rows = try ValueVectors.rows("invalid")
    #expect(rows.count >= 18)
    for row in rows {
      #expect(throws: ValueError.self, "\(row.testDescription)") {
        try CharacteristicValues.value(of: row.uuid, row.octets)
      }
    }
  }

  @Test("Every SFLOAT and FLOAT of the vectors decodes to its number or special value", .requirement("L161"))
  func medicalFloats() throws {
    let vectors = try TestVectors.load("gatt_values")
    func check<Float: MedicalFloat>(_ section: String, _ type: Float.Type, count: Int) throws {
      let rows = try #require(vectors[section] as? [[String: Any]])
      #expect(rows.count >= count)
      for row in rows {
        let octets = try #require([UInt8](hexadecimal: row["on_air"] as? String ?? "?"))
        var reader = ValueReader(octets)
        let float = try reader.medicalFloat(Float.self)
        #expect(
          String(float.rawValue, radix: 16) == String(UInt32(row["raw"] as? String ?? "", radix: 16) ?? 0, radix: 16))
        if let number = row["value"] as? Double {
          #expect(float.value == number)
        } else {
          #expect(float.description == row["value"] as? String)
        }
        var writer = ValueWriter()
        writer.medicalFloat(float)
        #expect(writer.octets == octets)
      }
    }
    try check("sfloat", MedicalFloat16.self, count: 16)
    try check("float", MedicalFloat32.self, count: 12)
  }
}
