import BluetoothCapture
import BluetoothDissection
import BluetoothRadio
import BluetoothWire
import DequeModule

/// The latest packets of an air, for the viewers of its page: their words, their details and a capture file of them.
struct PacketLog {
  typealias Packet = AirRecorder.Packet
  typealias Batch = AirRecorder.Batch

  /// The number of packets that are kept at least, if there are as many.
  static let capacity = 4_096

  /// A batch, and the descriptions of those of its packets that have one.
  private struct Kept {
    var batch: Batch
    var descriptions: [UInt64: PacketDescription]
  }

  private static let interface = CaptureInterface(index: 0, name: "air", link: .linkLayerWithHeader)

  private var kept: Deque<Kept> = []
  private var count = 0
  private var dissector = Dissector()
  private var directions = ConnectionDirections()
  /// The number of packets that the dissector has got.
  private var number = 0

  /// Describes a packet. The packets of links must come in order, and none may be missing except empty ones.
  mutating func describe(_ packet: Packet, in batch: Batch) -> PacketDescription {
    let sent = batch.airPacket(packet)
    let air = packet.plain == nil ? sent : batch.airPacket(packet, isPlain: true)
    number += 1
    var octets: [UInt8] = []
    LinkLayerPseudoHeader.append(
      air, crc: air.crc, isDecrypted: packet.plain != nil, channel: packet.channel, modulation: packet.modulation,
      power: packet.power, direction: directions.direction(of: sent, sender: packet.radio.index), to: &octets)
    return dissector.describe(
      CapturedPacket(
        number: number, time: packet.start.sinceZero.nanoseconds, interface: Self.interface, octets: octets,
        originalLength: octets.count))
  }

  /// Keeps a batch, and drops the oldest ones.
  mutating func keep(_ batch: Batch, _ descriptions: [UInt64: PacketDescription]) {
    guard !batch.packets.isEmpty else { return }
    kept.append(Kept(batch: batch, descriptions: descriptions))
    count += batch.packets.count
    while let oldest = kept.first, count - oldest.batch.packets.count >= Self.capacity {
      count -= oldest.batch.packets.count
      kept.removeFirst()
    }
  }

  mutating func removeAll() {
    self = PacketLog()
  }

  /// Returns a packet that is kept; nil: there is none with this number.
  func find(_ number: UInt64) -> (packet: Packet, batch: Batch, description: PacketDescription?)? {
    for entry in kept {
      if let packet = entry.batch.packets.first(where: { $0.number == number }) {
        return (packet, entry.batch, entry.descriptions[number])
      }
    }
    return nil
  }

  /// The packets that are kept, as a pcapng file: as they were sent, so those of encrypted links are encrypted.
  func capture(name: (RadioID) -> String) -> [UInt8] {
    var writer = PcapngWriter()
    var directions = ConnectionDirections()
    for entry in kept {
      for packet in entry.batch.packets {
        let air = entry.batch.airPacket(packet)
        let receivers = entry.batch.receptions[packet.receptions].map { "\(name($0.radio)) (\($0.outcome.pageText))" }
        writer.airPacket(
          air, crc: air.crc, channel: packet.channel, modulation: packet.modulation, power: packet.power,
          start: packet.start, direction: directions.direction(of: air, sender: packet.radio.index),
          comments: [
            "\(name(packet.radio)) → \(receivers.isEmpty ? "nobody" : receivers.joined(separator: ", "))".printable
          ])
      }
    }
    return writer.finish()
  }
}

extension AirRecorder.Packet {
  var isEmptyPDU: Bool { !isAdvertising && payload.isEmpty }
}

extension ReceptionOutcome {
  var pageText: String {
    switch self {
    case .intact: "received"
    case .corrupt: "corrupt"
    case .missed: "missed"
    }
  }
}

extension AirRecorder.Batch {
  /// Returns a packet as in the messages of the page.
  ///
  /// - Parameters:
  ///   - description: its words; nil: it has no content.
  ///   - name: returns the name of a device.
  func fields(
    of packet: AirRecorder.Packet, _ description: PacketDescription?, name: (RadioID) -> String
  ) -> PageFields {
    var fields = PageFields()
    fields.add("number", .whole(packet.number))
    fields.add("time", .time(packet.start))
    fields.add("airTime", .number(Double((packet.end - packet.start).nanoseconds) / 1_000, places: 3))
    fields.add("channel", .whole(ChannelIndex(packet.channel).number))
    fields.add("frequency", .whole(packet.channel.megahertz))
    fields.add("phy", packet.modulation.phy.short)
    if packet.radio != .none { fields.add("sender", name(packet.radio)) }
    fields.add("power", .level(packet.power))
    let receivers = receptions[packet.receptions]
    fields.add(
      "receivers",
      .list(
        receivers.map { receiver in
          .object([
            ("device", .text(name(receiver.radio))), ("outcome", .text(receiver.outcome.pageText)),
            ("level", .level(receiver.level)),
          ])
        }))
    fields.add("outcome", outcome(of: packet))
    if packet.isCollided { fields.add("collided", true) }
    if let description {
      fields.add("kind", Self.kind(description.content))
      fields.add("name", description.name)
      if !description.detail.isEmpty { fields.add("summary", description.detail) }
    } else {
      fields.add("kind", packet.isAdvertising ? "advertising" : packet.payload.isEmpty ? "empty" : "other")
      fields.add("name", packet.isAdvertising ? "advertising PDU" : packet.payload.isEmpty ? "empty PDU" : "data PDU")
    }
    fields.add("length", .whole(packet.payload.count))
    if !packet.isAdvertising { fields.add("link", packet.accessAddress.linkText) }
    if packet.plain != nil { fields.add("encrypted", true) }
    if description?.isRetransmission ?? false { fields.add("retransmission", true) }
    return fields
  }

  /// Returns what became of a packet.
  func outcome(of packet: AirRecorder.Packet) -> String {
    let receivers = receptions[packet.receptions]
    if receivers.isEmpty { return "unheard" }
    if receivers.contains(where: { $0.outcome == .corrupt }) { return "corrupt" }
    return receivers.contains { $0.outcome == .missed } ? "missed" : "received"
  }

  private static func kind(_ content: PacketDescription.Content) -> String {
    switch content {
    case .advertising: "advertising"
    case .ll: "ll"
    case .att: "att"
    case .smp: "smp"
    case .l2cap: "l2cap"
    case .data: "data"
    case .command, .event, .acl, .other: "other"
    }
  }
}
