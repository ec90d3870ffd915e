import BluetoothAir
import BluetoothTypes
import BluetoothWire
import CoreBluetoothExtras

/// A packet in the words of the specification.
struct PacketDescription: Sendable {
  /// The protocol of a packet's content.
  enum Content: String, CaseIterable, Sendable {
    case command, event, acl, advertising, ll, data, l2cap, att, smp, other
  }

  /// The receiver of a packet.
  enum Direction: String, Sendable {
    case toController, toHost, toPeripheral, toCentral

    var words: String {
      switch self {
      case .toController: "to controller"
      case .toHost: "to host"
      case .toPeripheral: "to peripheral"
      case .toCentral: "to central"
      }
    }

    var opposite: Direction {
      switch self {
      case .toController: .toHost
      case .toHost: .toController
      case .toPeripheral: .toCentral
      case .toCentral: .toPeripheral
      }
    }
  }

  /// An advertising packet or a scan response, on the air or in a report to a host.
  struct Advertisement: Sendable {
    let address: DeviceAddress
    let type: AdvertisingPacket.PDUType
    let data: [UInt8]
    let isConnectable: Bool
  }

  let number: Int
  /// The time in nanoseconds.
  let time: Int64
  let interface: CaptureInterface
  /// The channel index on the air; nil for HCI packets.
  var channel: UInt8?
  var phy: String?
  /// The level of the pseudo-header in dBm.
  var power: Int?
  var direction: Direction?
  var content = Content.other
  var name = ""
  var detail = ""
  /// The connection: its access address on the air, its handle in HCI.
  var connection: UInt32?
  /// The addresses in the packet, and those of the devices of its connection.
  var addresses: [DeviceAddress] = []
  /// The attribute handles in the packet.
  var handles: [UInt16] = []
  /// The octets of the payload of a link layer packet or an ACL data packet, without the MIC.
  var payloadLength = 0
  /// The duration of a packet on the air in nanoseconds; 0 for HCI packets.
  var airTime: Int64 = 0
  /// The parameters of the connection that the packet establishes or changes.
  var timing: (interval: UInt16, latency: UInt16, timeout: UInt16)?
  /// The reason with which the packet ends a connection.
  var endReason: HCIErrorCode?
  /// True if the packet repeats one that its receiver did not acknowledge.
  var isRetransmission = false
  var isEncrypted = false
  var hasWrongCRC = false
  var comments: [String] = []
  /// The advertising packets that the packet is, or reports.
  var advertising: [Advertisement] = []
  /// The ATT PDU that the packet completes.
  var attribute: ATT.PDU?

  init(_ packet: CapturedPacket) {
    (number, time, interface, comments) = (packet.number, packet.time, packet.interface, packet.comments)
  }

  /// The time in seconds with six decimals.
  var timeText: String {
    let microseconds = time / 1_000
    let fraction = String(microseconds.magnitude % 1_000_000)
    let padding = String(repeating: "0", count: 6 - fraction.count)
    return "\(microseconds < 0 ? "-" : "")\(microseconds.magnitude / 1_000_000).\(padding)\(fraction)"
  }

  /// The connection as text: eight digits for an access address, four for a handle.
  var connectionText: String? {
    connection.map { "0x" + (interface.link.isAir ? $0.hexadecimal : UInt16(truncatingIfNeeded: $0).hexadecimal) }
  }

  /// The place of the packet: the channel on the air, or the adapter.
  var place: String {
    guard interface.link.isAir else { return interface.title }
    return channel.map { "\(interface.title) \($0)" } ?? interface.title
  }

  /// The content in words, and the remarks about it.
  var fullDetail: String {
    var parts = detail.isEmpty ? [] : [detail]
    if isRetransmission { parts.append("retransmission") }
    if hasWrongCRC { parts.append("wrong CRC") }
    return parts.joined(separator: ", ")
  }

  /// The packet on one line, with fields separated by tabs.
  var line: String { line(withComments: false) }

  /// The packet on one line, with its comments as the last field if they are wanted.
  func line(withComments showsComments: Bool) -> String {
    var fields = [
      "\(number)", timeText, place, direction?.words ?? "-", connectionText ?? "-", name,
      fullDetail.isEmpty ? "-" : fullDetail,
    ]
    if showsComments { fields.append(comments.isEmpty ? "-" : comments.joined(separator: "; ")) }
    return fields.map(\.printable).joined(separator: "\t")
  }

  /// The packet on one line for a terminal, with columns.
  func columns(_ style: Style, withComments showsComments: Bool = false) -> String {
    func padded(_ text: String, _ width: Int) -> String {
      let text = text.printable
      return text + String(repeating: " ", count: max(0, width - text.count))
    }
    let place = place + (connectionText.map { " \($0)" } ?? "")
    let arrow =
      switch direction {
      case .toController?, .toPeripheral?: "→"
      case .toHost?, .toCentral?: "←"
      case nil: " "
      }
    return style.dim(timeText) + "  " + padded(place, 18) + " " + arrow + " " + style.bold(name.printable)
      + (fullDetail.isEmpty ? "" : "  " + fullDetail.printable)
      + (showsComments && !comments.isEmpty ? style.dim("  # " + comments.joined(separator: "; ").printable) : "")
  }

  /// The packet as a record.
  func record(octets: [UInt8]) -> JSONRecord {
    var record = JSONRecord("packet")
    record.add("number", number)
    record.add("time", .decimal(Double(time) / 1e9, places: 9))
    record.add("interface", interface.title)
    record.add("transport", interface.link.isAir ? "air" : interface.link.isHCI ? "hci" : nil)
    record.add("channel", channel.map { Int($0) })
    record.add("phy", phy)
    record.add("power", power)
    record.add("direction", direction?.rawValue)
    record.add("protocol", content.rawValue)
    record.add("name", name)
    record.add("detail", detail.isEmpty ? nil : detail)
    record.add("connection", connectionText)
    record.add("addresses", addresses.isEmpty ? nil : .list(addresses.map { .text($0.digits) }))
    record.add("handles", handles.isEmpty ? nil : .list(handles.map { .integer(Int($0)) }))
    if isRetransmission { record.add("retransmission", .flag(true)) }
    if isEncrypted { record.add("encrypted", .flag(true)) }
    if hasWrongCRC { record.add("wrongCRC", .flag(true)) }
    record.add("octets", "0x" + octets.digits)
    record.add("comments", comments.isEmpty ? nil : .list(comments.map { .text($0) }))
    return record
  }
}
