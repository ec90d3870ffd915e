/// Searches texts for the octets of a key, to check that no output shows one.
public struct KeySearch {
  /// Uppercase forms without separators: both orders of the octets, as hexadecimal and as decimal numbers.
  private let forms: [String]

  /// - Parameter key: Octets that do not occur by chance, in either order.
  public init(_ key: [UInt8]) {
    func hexadecimal(_ octets: [UInt8]) -> String {
      octets.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
    }
    func list(_ octets: [UInt8]) -> String { octets.map(String.init).joined(separator: ",") }
    func number(_ octets: [UInt8]) -> String { String(octets.reduce(UInt128(0)) { $0 << 8 | UInt128($1) }) }
    let orders = [key, key.reversed()]
    // Half of a key is enough: a block may be printed as two numbers.
    let parts = orders.flatMap { [Array($0.prefix($0.count / 2)), Array($0.suffix($0.count / 2))] }
    forms = (orders + parts).flatMap { [hexadecimal($0), number($0), list($0)] }
  }

  /// True if `text` shows the key, or half of it.
  public func finds(in text: String) -> Bool {
    let compact = text.uppercased().filter { $0.isHexDigit || $0 == "," }
    return forms.contains { compact.contains($0) }
  }

  /// True if any textual representation of `value` shows the key.
  public func finds<T>(in value: T) -> Bool {
    var dumped = ""
    dump(value, to: &dumped)
    return [String(describing: value), String(reflecting: value), "\([value])", dumped].contains { finds(in: $0) }
  }
}
