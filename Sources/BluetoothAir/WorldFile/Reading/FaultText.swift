import BluetoothLab
import Foundation

/// A problem that the fault plan's decoder reports for a fault.
struct FaultProblem: Error {
  var place: TextLocation
  /// The path of field names within the fault.
  var names: [String]
  var reason: String

  func path(below path: FieldPath) -> FieldPath { names.reduce(path) { .field($0, $1) } }
}

/// Passes faults as JSON to the lab's decoder, and finds the places of the problems that the decoder reports.
enum FaultText {
  /// Decodes a fault.
  ///
  /// - Parameter value: a value that fits `ObjectShape.fault`.
  static func fault(_ value: LocatedValue) throws(FaultProblem) -> Fault {
    let text = json(value, .object(.fault)).line
    do {
      return try JSONDecoder().decode(Fault.self, from: Data(text.utf8))
    } catch let error as DecodingError {
      throw problem(error, in: value)
    } catch {
      throw FaultProblem(place: value.place, names: [], reason: "\(error)")
    }
  }

  private static func problem(_ error: DecodingError, in value: LocatedValue) -> FaultProblem {
    let (path, reason): ([any CodingKey], String) =
      switch error {
      case .keyNotFound(let key, let context): (context.codingPath, "\"\(key.stringValue)\" is missing")
      case .dataCorrupted(let context): (context.codingPath, context.debugDescription)
      case .typeMismatch(_, let context), .valueNotFound(_, let context): (context.codingPath, context.debugDescription)
      @unknown default: ([], "\(error)")
      }
    let names = path.filter { $0.intValue == nil }.map(\.stringValue)
    return FaultProblem(place: place(of: names[...], in: value), names: names, reason: reason)
  }

  private static func place(of names: ArraySlice<String>, in value: LocatedValue) -> TextLocation {
    guard let name = names.first, case .object(let members) = value.content,
      let member = members.first(where: { $0.name == name })
    else { return value.place }
    // For the last name, the place of the field's name is the most useful to a reader of the message.
    return names.count == 1 ? member.place : place(of: names.dropFirst(), in: member.value)
  }

  /// Returns the value as JSON. A field that is text for the lab becomes JSON text, however it was written.
  private static func json(_ value: LocatedValue, _ shape: FieldShape) -> JSONText {
    switch (value.content, shape) {
    case (.object(let members), .object(let object)):
      return .object(
        members.compactMap { member in
          object.field(member.name).map { (member.name, json(member.value, $0.shape)) }
        })
    case (.list(let values), .list(let element, _)): return .list(values.map { json($0, element) })
    default: break
    }
    switch shape {
    case .flag: return .flag(value.flag ?? false)
    case .integer, .number, .seed: return .number(value.raw.flatMap { _ in value.jsonNumber } ?? "0")
    case .protocolNumber: return (value.protocolNumber ?? nil).map { .number("\($0)") } ?? .text("any")
    default: return .text(value.raw ?? "")
    }
  }
}

extension LocatedValue {
  /// The number in JSON's form: without a plus, and with digits on both sides of the point.
  var jsonNumber: String? {
    if let whole = whole(Int64.self) { return "\(whole)" }
    return number.map { $0.short }
  }
}
