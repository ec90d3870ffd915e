import BluetoothWire
import Foundation

/// A picture in SVG with texts, lines and symbols, in pixels from the upper left corner.
struct SVGPicture {
  /// The way in which a series is drawn: its colour, its dashes and its symbol each tell it from the others.
  struct Pen {
    let colour: String
    let dashes: String
    let symbol: Int

    /// Colours that people with any kind of colour vision tell apart (Okabe and Ito).
    private static let colours = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"]
    private static let dashes = ["", "7 3", "2 3", "9 3 2 3", "12 4", "4 4 1 4", "1 2"]

    /// The pen of all series that have no pen of their own.
    static let others = Pen(colour: "#882255", dashes: "3 6", symbol: 4)

    /// The pen of a series, by its number.
    init(_ number: Int) {
      self.init(
        colour: Self.colours[number % Self.colours.count], dashes: Self.dashes[number % Self.dashes.count],
        symbol: number % 4)
    }

    private init(colour: String, dashes: String, symbol: Int) {
      (self.colour, self.dashes, self.symbol) = (colour, dashes, symbol)
    }
  }

  let width: Double
  let height: Double
  private var body = ""

  init(width: Double, height: Double) { (self.width, self.height) = (width, height) }

  private func number(_ value: Double) -> String { value.decimal(1) }

  private func escaped(_ text: String) -> String {
    text.printable.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
      .replacingOccurrences(of: ">", with: "&gt;").replacingOccurrences(of: "\"", with: "&quot;")
  }

  enum Anchor: String { case start, middle, end }

  mutating func text(
    _ text: String, _ x: Double, _ y: Double, size: Double = 12, anchor: Anchor = .start, isBold: Bool = false
  ) {
    body +=
      "<text x=\"\(number(x))\" y=\"\(number(y))\" font-size=\"\(number(size))\""
      + (anchor == .start ? "" : " text-anchor=\"\(anchor.rawValue)\"") + (isBold ? " font-weight=\"bold\"" : "")
      + ">\(escaped(text))</text>\n"
  }

  mutating func line(
    _ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, colour: String = "#000000", width: Double = 1
  ) {
    body +=
      "<path d=\"M\(number(x1)) \(number(y1))L\(number(x2)) \(number(y2))\" stroke=\"\(colour)\" "
      + "stroke-width=\"\(number(width))\" fill=\"none\"/>\n"
  }

  mutating func polyline(_ points: [(x: Double, y: Double)], _ pen: Pen, width: Double = 1.5) {
    guard points.count > 1 else { return }
    let path = points.map { "\(number($0.x)) \(number($0.y))" }.joined(separator: "L")
    body +=
      "<path d=\"M\(path)\" stroke=\"\(pen.colour)\" stroke-width=\"\(number(width))\" fill=\"none\""
      + (pen.dashes.isEmpty ? "" : " stroke-dasharray=\"\(pen.dashes)\"") + "/>\n"
  }

  /// The symbols at these points as one path: an upright line, a triangle, a square, a diamond or a plus sign.
  mutating func symbols(_ points: [(x: Double, y: Double)], _ pen: Pen, isSmall: Bool = true) {
    guard !points.isEmpty else { return }
    let r = isSmall ? 2.0 : 3.5
    let d = points.map { x, y in
      switch pen.symbol {
      case 0: "M\(number(x)) \(number(y - r))V\(number(y + r))"
      case 1: "M\(number(x - r)) \(number(y + r))L\(number(x)) \(number(y - r))L\(number(x + r)) \(number(y + r))Z"
      case 2: "M\(number(x - r)) \(number(y - r))H\(number(x + r))V\(number(y + r))H\(number(x - r))Z"
      case 4: "M\(number(x - r)) \(number(y))H\(number(x + r))M\(number(x)) \(number(y - r))V\(number(y + r))"
      default:
        "M\(number(x - r)) \(number(y))L\(number(x)) \(number(y - r))L\(number(x + r)) \(number(y))L\(number(x)) \(number(y + r))Z"
      }
    }.joined()
    body += "<path d=\"\(d)\" stroke=\"\(pen.colour)\" stroke-width=\"1.2\" fill=\"none\"/>\n"
  }

  /// Circles at these points.
  mutating func circles(_ points: [(x: Double, y: Double)], radius: Double, colour: String) {
    guard !points.isEmpty else { return }
    let d = points.map { x, y in
      "M\(number(x - radius)) \(number(y))a\(number(radius)) \(number(radius)) 0 1 0 \(number(2 * radius)) 0"
        + "a\(number(radius)) \(number(radius)) 0 1 0 \(number(-2 * radius)) 0"
    }.joined()
    body += "<path d=\"\(d)\" stroke=\"\(colour)\" stroke-width=\"0.8\" fill=\"none\"/>\n"
  }

  /// Crosses at these points.
  mutating func crosses(_ points: [(x: Double, y: Double)], radius: Double, colour: String) {
    guard !points.isEmpty else { return }
    let r = radius
    let d = points.map { x, y in
      "M\(number(x - r)) \(number(y - r))L\(number(x + r)) \(number(y + r))"
        + "M\(number(x - r)) \(number(y + r))L\(number(x + r)) \(number(y - r))"
    }.joined()
    body += "<path d=\"\(d)\" stroke=\"\(colour)\" stroke-width=\"1.6\" fill=\"none\"/>\n"
  }

  /// The complete file.
  var svg: String {
    """
    <svg xmlns="http://www.w3.org/2000/svg" width="\(number(width))" height="\(number(height))" \
    viewBox="0 0 \(number(width)) \(number(height))" font-family="sans-serif">
    <rect width="100%" height="100%" fill="#FFFFFF"/>
    \(body)</svg>

    """
  }
}

/// The numbers along an axis: round, and about as many as asked for.
struct AxisTicks {
  let values: [Double]
  let places: Int

  init(from lowest: Double, to highest: Double, about count: Int) {
    let span = max(highest - lowest, 1e-9)
    let rough = span / Double(max(1, count))
    let power = pow(10, floor(log10(rough)))
    let step = [1.0, 2, 5, 10].map { $0 * power }.first { $0 >= rough * 0.999 } ?? rough
    places = max(0, Int(-floor(log10(step) + 1e-9)))
    let first = (lowest / step).rounded(.up)
    values = stride(from: first, through: highest / step + 1e-9, by: 1).map { $0 * step }
  }

  func text(_ value: Double) -> String { value.fixed(places) }
}
