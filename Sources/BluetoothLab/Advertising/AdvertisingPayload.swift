import BluetoothWire

/// The AD structures of an advertising packet or scan response, at most 31 octets in all.
public struct AdvertisingPayload: Hashable, Sendable {
  /// The structures, in the order in which they are sent.
  public let structures: [ADStructure]

  /// The error of structures that exceed 31 octets.
  public struct TooLong: Error, Hashable, Sendable, CustomStringConvertible {
    /// The number of octets that the structures would need.
    public let octets: Int
    /// The number of octets needed and the limit, in words.
    public var description: String { "the AD structures have \(octets) octets; the maximum is 31" }
  }

  /// Creates a payload with all these structures.
  ///
  /// - Throws: `TooLong` if the structures need more than 31 octets.
  public init(_ structures: [ADStructure]) throws(TooLong) {
    let count = structures.reduce(0) { $0 + 2 + $1.data.count }
    guard count <= Self.maximumLength else { throw TooLong(octets: count) }
    self.structures = structures
  }

  /// Creates a payload with those of the structures that fit, tried in order. A name that does not fit is shortened.
  public init(fitting structures: [ADStructure]) {
    var room = Self.maximumLength
    var fitting: [ADStructure] = []
    for structure in structures {
      guard let part = structure.fitting(in: room) else { continue }
      fitting.append(part)
      room -= 2 + part.data.count
    }
    self.structures = fitting
  }

  private init(empty: Void) { structures = [] }

  /// A payload without structures.
  public static let empty = AdvertisingPayload(empty: ())

  /// The maximum length of the data in a legacy advertising packet, in octets · Vol 6, Part B, 2.3.1.
  public static let maximumLength = 31

  /// The structures as on the air, concatenated.
  public var octets: [UInt8] { structures.flatMap(\.octets) }
}

extension ADStructure {
  /// Returns the structure, or a shortened name, if it fits into `room` octets; otherwise nil.
  fileprivate func fitting(in room: Int) -> ADStructure? {
    if data.count + 2 <= room { return self }
    guard type == .completeLocalName, room > 2 else { return nil }
    let name = String(decoding: data, as: UTF8.self).utf8Prefix(room - 2).bytes
    return name.isEmpty ? nil : ADStructure(.shortenedLocalName, name)
  }
}

extension AdvertisingPayload: CustomStringConvertible {
  /// The octets in hexadecimal, with a space between structures.
  public var description: String { structures.map { $0.octets.hexadecimalText }.joined(separator: " ") }
}
