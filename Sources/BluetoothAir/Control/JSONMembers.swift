import Foundation

/// The names of the members in a JSON text. `JSONDecoder` uses one of two members with one name without an error.
enum JSONMembers {
  /// Returns the first name that occurs twice in one object, at any depth; nil: none.
  ///
  /// - Parameter text: a text in UTF-8 that `JSONDecoder` accepts.
  static func duplicate(in text: Data) -> String? {
    let octets = [UInt8](text)
    /// The names so far in each open object; no names for an open array.
    var names: [Set<String>] = []
    var position = 0
    while position < octets.count {
      switch octets[position] {
      case UInt8(ascii: "{"), UInt8(ascii: "["): names.append([])
      case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = names.popLast()
      case UInt8(ascii: "\""):
        let end = endOfString(octets, from: position)
        if isName(octets, endingAt: end), !names.isEmpty {
          let name = string(octets[position..<end])
          guard names[names.count - 1].insert(name).inserted else { return name }
        }
        position = end
        continue
      default: break
      }
      position += 1
    }
    return nil
  }

  /// Returns the position after the quotation mark that ends the string.
  private static func endOfString(_ octets: [UInt8], from start: Int) -> Int {
    var position = start + 1
    while position < octets.count, octets[position] != UInt8(ascii: "\"") {
      position += octets[position] == UInt8(ascii: "\\") ? 2 : 1
    }
    return min(position + 1, octets.count)
  }

  /// Returns true if a colon follows the string, which is the name of a member then.
  private static func isName(_ octets: [UInt8], endingAt end: Int) -> Bool {
    octets[end...].first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } == UInt8(ascii: ":")
  }

  /// Returns the text of a string with its quotation marks.
  private static func string(_ octets: ArraySlice<UInt8>) -> String {
    if octets.contains(UInt8(ascii: "\\")), let text = try? JSONDecoder().decode(String.self, from: Data(octets)) {
      return text
    }
    return String(decoding: octets.dropFirst().dropLast(), as: UTF8.self)
  }
}
