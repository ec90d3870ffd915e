/// The octets of the SLIP layer, which separates the packets of a three-wire UART · Vol 4, Part D, 3.
enum SLIP {
  static let delimiter: UInt8 = 0xC0
  static let escape: UInt8 = 0xDB
  static let escapedDelimiter: UInt8 = 0xDC
  static let escapedEscape: UInt8 = 0xDD

  /// Appends a packet between two delimiters.
  static func append(_ packet: [UInt8], to output: inout [UInt8]) {
    output.append(delimiter)
    for octet in packet {
      switch octet {
      case delimiter: output += [escape, escapedDelimiter]
      case escape: output += [escape, escapedEscape]
      default: output.append(octet)
      }
    }
    output.append(delimiter)
  }
}

/// Finds the packets between the delimiters of a stream of octets.
///
/// Each delimiter ends one packet and begins the next one, so that a lost delimiter damages two packets and no more.
struct SLIPDecoder: Sendable {
  private enum State {
    /// No delimiter has arrived.
    case outside
    case inside
    /// The latest octet is the escape octet.
    case escaped
    /// The packet is damaged: its octets are dropped up to the next delimiter.
    case dropping
  }

  private let maximumLength: Int
  private var packet: [UInt8] = []
  private var state = State.outside

  /// - Parameter maximumLength: the maximum length of a packet in octets; a longer one is dropped.
  init(maximumLength: Int) { self.maximumLength = maximumLength }

  /// The number of octets of the incomplete packet.
  var keptCount: Int { packet.count }

  /// Takes the next octet. Returns the packet that it ends; nil: none.
  mutating func take(_ octet: UInt8) -> [UInt8]? {
    if octet == SLIP.delimiter {
      defer {
        packet = []
        state = .inside
      }
      return state == .inside && !packet.isEmpty ? packet : nil
    }
    switch (state, octet) {
    case (.outside, _), (.dropping, _): break
    case (.inside, SLIP.escape): state = .escaped
    case (.inside, _): append(octet)
    case (.escaped, SLIP.escapedDelimiter): append(SLIP.delimiter)
    case (.escaped, SLIP.escapedEscape): append(SLIP.escape)
    case (.escaped, _): drop()
    }
    return nil
  }

  private mutating func append(_ octet: UInt8) {
    guard packet.count < maximumLength else { return drop() }
    packet.append(octet)
    state = .inside
  }

  private mutating func drop() {
    packet = []
    state = .dropping
  }
}
