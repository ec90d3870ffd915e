import BluetoothNumbers
import BluetoothProfiles
import BluetoothTypes
import BluetoothWire

/// The value of an attribute as text: its octets, as UTF-8 if they are readable, and decoded with units.
package struct ValueText: Sendable {
  package let octets: [UInt8]
  /// The octets as UTF-8; nil: they are none, not readable, or of a type that is no text.
  package let text: String?
  /// The decoded value with units; nil: the type is not known.
  package let decoded: String?
  /// The fields of the decoded value.
  package let fields: [ValueField]
  /// The reason why the octets are no value of the type; nil: they are, or the type is not known.
  package let problem: String?

  /// Creates the text of a value.
  ///
  /// - Parameters:
  ///   - uuid: the type of the characteristic or descriptor; nil: not known.
  ///   - format: the presentation format of the characteristic; nil: none.
  package init(_ value: some Sequence<UInt8>, of uuid: BluetoothUUID?, format: PresentationFormat? = nil) {
    octets = Array(value)
    let readable = Self.readable(octets)
    var decoded: String?
    var fields: [ValueField] = []
    var problem: String?
    if let short = uuid?.shortValue, let type = CharacteristicValues.type(of: short) {
      do throws(ValueError) {
        let value = try type.init(octets)
        (decoded, fields) = (value.description, value.fields)
      } catch {
        problem = "no valid \(AssignedNumbers.name(of: short) ?? "value"): \(error.words)"
      }
    } else if let format {
      do throws(ValueError) {
        let field = try format.field(of: octets)
        (decoded, fields) = (field.value, [field])
      } catch {
        problem = "no valid value of its presentation format: \(error.words)"
      }
    }
    // A number can look like a letter.
    text = decoded == nil || decoded == readable ? readable : nil
    self.decoded = decoded
    self.fields = fields
    self.problem = problem
  }

  /// Returns the octets as text, if they are readable.
  private static func readable(_ octets: [UInt8]) -> String? {
    let end = octets.lastIndex { $0 != 0 } ?? -1
    guard end >= 0, let text = String(validating: octets[...end], as: UTF8.self), text.printable == text else {
      return nil
    }
    return text
  }

  /// The octets in hexadecimal, with `0x`.
  package var hexadecimal: String { octets.isEmpty ? "empty" : "0x" + octets.digits }

  /// The value in one line: the octets, and the text or the decoded value.
  package var line: String {
    [hexadecimal, text?.debugDescription ?? decoded, problem.map { "(\($0))" }].compactMap { $0 }
      .joined(separator: "  ")
  }

  /// The value for a tree, in which the octets of a value that can be read are too much.
  package var brief: String {
    text?.debugDescription ?? decoded
      ?? [hexadecimal, problem.map { "(\($0))" }].compactMap { $0 }.joined(separator: "  ")
  }
}

extension ValueError {
  /// The reason in words.
  fileprivate var words: String {
    switch self {
    case .tooShort: "too short"
    case .tooLong: "too long"
    case .outOfRange(let field): "\(field) out of range"
    }
  }
}

extension Sequence<UInt8> {
  /// Two hexadecimal digits for each octet.
  package var digits: String {
    reduce(into: "") { $0 += ($1 < 0x10 ? "0" : "") + String($1, radix: 16, uppercase: true) }
  }
}

extension DeviceAddress {
  /// The octets of the address, most significant first, without its kind.
  package var digits: String { String(description.prefix(17)) }
}
