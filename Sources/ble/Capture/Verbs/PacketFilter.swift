import ArgumentParser
import BluetoothAir
import BluetoothDissection
import BluetoothTypes

/// The options that choose packets.
struct PacketFilterOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Only packets with this device address, and those of its connections.", valueName: "address"))
  var address: [String] = []

  @Option(
    help: ArgumentHelp(
      "Only packets of this connection: an access address of 8 digits, or an HCI handle.", valueName: "number"))
  var connection: [String] = []

  @Option(help: ArgumentHelp("Only packets with this attribute handle.", valueName: "handle"))
  var handle: [String] = []

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("Only packets on this channel, 0 to 39.", valueName: "channel"))
  var channel: [Int] = []

  @Option(
    name: .customLong("protocol"),
    help: ArgumentHelp(
      "Only packets of this protocol: \(PacketDescription.Content.names).", valueName: "protocol"),
    completion: .list(PacketDescription.Content.allCases.map(\.rawValue)))
  var content: [String] = []

  @Option(
    help: ArgumentHelp("Only packets of this interface: air, or the name of an adapter.", valueName: "name"))
  var interface: [String] = []

  @Option(
    help: ArgumentHelp("Only packets with this text in their name, such as READ or \"LE Set\".", valueName: "text"))
  var name: [String] = []

  @Option(parsing: .unconditional, help: ArgumentHelp("Only packets from this time on.", valueName: "seconds"))
  var from: Double?

  @Option(parsing: .unconditional, help: ArgumentHelp("Only packets before this time.", valueName: "seconds"))
  var to: Double?

  func validate() throws { _ = try PacketFilter(self) }
}

extension PacketDescription.Content {
  /// The names of all protocols.
  fileprivate static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
}

/// The packets that a verb shows. A packet passes if it has one of the values of each given option.
struct PacketFilter: Sendable {
  private var addresses: Set<String> = []
  private var connections: Set<UInt32> = []
  private var handles: Set<UInt16> = []
  private var channels: Set<UInt8> = []
  private var contents: Set<PacketDescription.Content> = []
  private(set) var interfaces: Set<String> = []
  private var names: [String] = []
  /// Nanoseconds.
  private var start = Int64.min
  private var end = Int64.max

  /// Reads the options.
  ///
  /// - Throws: `ValidationError` for a value that can't be read.
  init(_ options: PacketFilterOptions) throws {
    for text in options.address {
      let digits = text.filter(\.isHexDigit)
      guard digits.count == 12, text.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "-" }) else {
        throw ValidationError(
          "invalid --address \"\(text)\": expected 12 hexadecimal digits, such as C0:11:22:33:44:55")
      }
      addresses.insert(digits.uppercased())
    }
    for text in options.connection {
      guard let number = UInt32(number: text) else {
        throw ValidationError("invalid --connection \"\(text)\": expected a number such as 0x0040 or 0x50C7A2B4")
      }
      connections.insert(number)
    }
    for text in options.handle {
      guard let number = UInt16(number: text) else {
        throw ValidationError("invalid --handle \"\(text)\": expected 0x0001 to 0xFFFF")
      }
      handles.insert(number)
    }
    for number in options.channel {
      guard (0...39).contains(number) else { throw ValidationError("invalid --channel \(number): expected 0 to 39") }
      channels.insert(UInt8(number))
    }
    for text in options.content {
      guard let content = PacketDescription.Content(rawValue: text.lowercased()) else {
        let names = PacketDescription.Content.allCases.map(\.rawValue)
        throw ValidationError(
          "unknown protocol \"\(text)\": expected one of \(names.joined(separator: ", "))"
            + SpellingSuggestion.suggestion(for: text, among: names))
      }
      contents.insert(content)
    }
    interfaces = Set(options.interface)
    names = options.name.map { $0.lowercased() }
    if let from = options.from { start = try Self.nanoseconds(from, "--from") }
    if let to = options.to { end = try Self.nanoseconds(to, "--to") }
  }

  private static func nanoseconds(_ seconds: Double, _ option: String) throws -> Int64 {
    guard seconds.magnitude <= 9e9 else { throw ValidationError("\(option) must be -9000000000 to 9000000000") }
    return Int64((seconds * 1e9).rounded())
  }

  /// True if the packets of this time can pass.
  func admits(time: Int64) -> Bool { time >= start && time < end }

  func admits(_ packet: PacketDescription) -> Bool {
    guard admits(time: packet.time) else { return false }
    if !interfaces.isEmpty, !interfaces.contains(packet.interface.title) { return false }
    if !contents.isEmpty, !contents.contains(packet.content) { return false }
    if !channels.isEmpty, packet.channel.map(channels.contains) != true { return false }
    if !connections.isEmpty, packet.connection.map(connections.contains) != true { return false }
    if !handles.isEmpty, !packet.handles.contains(where: handles.contains) { return false }
    if !addresses.isEmpty,
      !packet.addresses.contains(where: { addresses.contains($0.digits.filter(\.isHexDigit)) })
    {
      return false
    }
    if !names.isEmpty {
      let name = packet.name.lowercased()
      if !names.contains(where: name.contains) { return false }
    }
    return true
  }
}

extension FixedWidthInteger where Self: UnsignedInteger {
  /// Reads a decimal number, or a hexadecimal one after `0x`.
  fileprivate init?(number text: String) {
    if text.lowercased().hasPrefix("0x") { self.init(text.dropFirst(2), radix: 16) } else { self.init(text) }
  }
}
