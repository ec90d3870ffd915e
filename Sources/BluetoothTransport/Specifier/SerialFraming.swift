/// The way in which HCI packets pass a serial line.
package enum SerialFraming: Hashable, Sendable {
  /// UART transport layer, with RTS/CTS flow control · Vol 4, Part A.
  case h4
  /// Three-wire UART transport layer, without flow control · Vol 4, Part D.
  case h5(hasEvenParity: Bool)

  var hasFlowControl: Bool { self == .h4 }
  var hasEvenParity: Bool { self == .h5(hasEvenParity: true) }

  /// The number of bits of an octet on the line: start bit, 8 data bits, parity bit, stop bit.
  var bitsPerOctet: Int64 { hasEvenParity ? 11 : 10 }
}
