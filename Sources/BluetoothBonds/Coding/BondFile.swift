// Design: the form of the files
//
// - The records are `Codable` (`BondCoding.swift` and its neighbours). Files have sorted fields, so that equal records
//   give equal files. Errors name the path of the field, such as `keys.own.size`, and never the value of a key.
//   `EarlierFileTests` has files of earlier versions, whose layout differs.
// - `format` is 1. Unknown fields are ignored, and a later format is left alone. Keys are written as the specification
//   prints them, most significant octet first.

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A value that is the content of a JSON file: a bond, the secrets of an adapter, the permissions of apps, their
/// sessions.
package protocol BondFile: Codable {}

extension BondFile {
  /// The JSON text, with all keys. It has sorted fields: equal values give equal text.
  package var jsonText: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    do {
      return String(decoding: try encoder.encode(FormattedFile(content: self)), as: UTF8.self) + "\n"
    } catch {
      // The files hold only texts, whole numbers and truth values, all of which JSON can represent.
      preconditionFailure("\(Self.self) can't be encoded: \(error)")
    }
  }

  /// Reads the content of a file. Unknown fields are ignored, and lost when the file is written again.
  package init(jsonText bytes: [UInt8]) throws(BondDecodingError) {
    guard !bytes.isEmpty else { throw .malformed("the file is empty") }
    do { self = try JSONDecoder().decode(FormattedFile<Self>.self, from: Data(bytes)).content } catch {
      throw BondDecodingError(error)
    }
  }
}

/// A file's content together with the number of its format. A later format is not read at all.
private struct FormattedFile<Content: Codable>: Codable {
  private enum Key: CodingKey { case format }

  let content: Content

  init(content: Content) { self.content = content }

  init(from decoder: any Decoder) throws {
    let format: Int = try decoder.container(keyedBy: Key.self).number(.format, in: 1...Int.max)
    guard format == 1 else { throw BondDecodingError.laterFormat(format) }
    content = try Content(from: decoder)
  }

  func encode(to encoder: any Encoder) throws {
    var json = encoder.container(keyedBy: Key.self)
    try json.encode(1, forKey: .format)
    try content.encode(to: encoder)
  }
}
