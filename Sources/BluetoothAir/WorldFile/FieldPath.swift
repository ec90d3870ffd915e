/// The path from the root of the file to a value. Its text is computed only for a problem.
indirect enum FieldPath: Sendable {
  case root
  case field(FieldPath, String)
  case element(FieldPath, Int)

  var text: String {
    switch self {
    case .root: return ""
    case .field(let parent, let name):
      let isPlain = !name.isEmpty && name.unicodeScalars.allSatisfy { $0.properties.isAlphabetic || $0 == "$" }
      let shown = isPlain && name.utf8.count <= 40 ? name : "\"\(name.shortened)\""
      return parent.text.isEmpty ? shown : parent.text + "." + shown
    case .element(let parent, let index): return parent.text + "[\(index)]"
    }
  }
}
