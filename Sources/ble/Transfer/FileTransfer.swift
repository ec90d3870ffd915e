import BluetoothWire
import CoreBluetooth
import CoreBluetoothExtras
import Foundation

/// The protocol of the two sides of a file transfer; `Documentation/Ble-reference.md` describes it.
enum FileTransfer {
  /// The service of a device that receives a file.
  static let service = CBUUID(string: "B042767A-DBA3-4429-A5A9-8CE58C4F2652")
  /// The characteristic that tells the PSM of the channel.
  static let psm = CBUUID(string: CBUUIDL2CAPPSMCharacteristicString)
  /// The characteristic that carries the octets of a transfer without a channel.
  static let data = CBUUID(string: "B042767A-DBA3-4429-A5A9-8CE58C4F2653")
  /// The number of octets that are read, written and counted at a time.
  static let pieceSize = 16_384
  /// The length of the digest, SHA-256, in octets.
  static let digestLength = 32

  /// The announcement of a file, which the sender begins with.
  struct Header: Hashable, Sendable {
    /// "BLEF" and the version of the format.
    private static let magic: [UInt8] = Array("BLEF".utf8) + [1]
    /// The longest name, in octets.
    static let maximumName = 255
    /// The number of octets before the name.
    static let prefixLength = magic.count + 8 + 1

    /// The name of the file, without folders.
    var name: String
    /// The number of octets in the file.
    var size: UInt64

    init(name: String, size: UInt64) { (self.name, self.size) = (name, size) }

    var octets: [UInt8] {
      let name = Array(name.utf8.prefix(Self.maximumName))
      return Self.magic + (0..<8).map { UInt8(truncatingIfNeeded: size >> (8 * $0)) } + [UInt8(name.count)] + name
    }

    /// Reads the octets before the name.
    ///
    /// - Returns: the size of the file, and the length of the name; nil: they are of another format.
    static func prefix(_ octets: [UInt8]) -> (size: UInt64, nameLength: Int)? {
      guard octets.count == prefixLength, octets.starts(with: magic) else { return nil }
      let size = octets[magic.count..<magic.count + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      return (size, Int(octets[prefixLength - 1]))
    }
  }

  /// The answer of the receiver, to the announcement and to the file.
  enum Answer: Hashable, Sendable {
    case accepted
    case refused(String)

    /// A length of 0 for `accepted`, else the length of the reason, and the reason.
    var octets: [UInt8] {
      switch self {
      case .accepted: return [0]
      case .refused(let reason):
        let text = Array(reason.utf8.prefix(255))
        return [UInt8(max(1, text.count))] + (text.isEmpty ? [0x3F] : text)
      }
    }
  }
}

/// The octets that come from a channel, in portions that the reader chooses.
struct ChannelReader: Sendable {
  private let channel: any TransferChannel
  private let stage: Stage
  private var rest: [UInt8] = []

  init(_ channel: any TransferChannel, _ stage: Stage) { (self.channel, self.stage) = (channel, stage) }

  /// Returns the next octets, at least one and at most this number.
  ///
  /// - Parameter isLimited: true if the wait lasts at most for the time of a step.
  /// - Throws: `Failure` if the channel ends before.
  mutating func some(_ maximum: Int, isLimited: Bool = true) async throws -> [UInt8] {
    if rest.isEmpty {
      guard let octets = try await channel.octets(within: isLimited ? stage.stepLimit : nil) else {
        throw Failure("the other side has ended the transfer", status: ExitStatus.linkLost)
      }
      rest = Array(octets)
    }
    defer { rest.removeFirst(min(maximum, rest.count)) }
    return Array(rest.prefix(maximum))
  }

  /// Returns the next octets of this number.
  mutating func exactly(_ count: Int) async throws -> [UInt8] {
    var octets: [UInt8] = []
    while octets.count < count { octets += try await some(count - octets.count) }
    return octets
  }

  /// Returns the answer of the receiver.
  ///
  /// - Parameter isLimited: true if the wait for the answer lasts at most for the time of a step.
  mutating func answer(isLimited: Bool = true) async throws -> FileTransfer.Answer {
    let length = try await some(1, isLimited: isLimited)[0]
    guard length > 0 else { return .accepted }
    return .refused(String(decoding: try await exactly(Int(length)), as: UTF8.self).printable)
  }
}
