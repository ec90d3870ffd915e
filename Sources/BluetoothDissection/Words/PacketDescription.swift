import BluetoothTypes
import BluetoothWire

/// A packet in the words of the specification.
package struct PacketDescription: Sendable {
  /// The protocol of a packet's content.
  package enum Content: String, CaseIterable, Sendable {
    case command, event, acl, advertising, ll, data, l2cap, att, smp, other
  }

  /// The receiver of a packet.
  package enum Direction: String, Sendable {
    case toController, toHost, toPeripheral, toCentral

    package var words: String {
      switch self {
      case .toController: "to controller"
      case .toHost: "to host"
      case .toPeripheral: "to peripheral"
      case .toCentral: "to central"
      }
    }

    package var opposite: Direction {
      switch self {
      case .toController: .toHost
      case .toHost: .toController
      case .toPeripheral: .toCentral
      case .toCentral: .toPeripheral
      }
    }
  }

  /// An advertising packet or a scan response, on the air or in a report to a host.
  package struct Advertisement: Sendable {
    /// The types of packets, with their names in the specification · Vol 6, Part B, 2.3.
    package enum Kind: String, Hashable, Sendable {
      case advInd = "ADV_IND"
      case advDirectInd = "ADV_DIRECT_IND"
      case advNonconnInd = "ADV_NONCONN_IND"
      case advScanInd = "ADV_SCAN_IND"
      case scanRsp = "SCAN_RSP"
      case advExtInd = "ADV_EXT_IND"
      case auxScanRsp = "AUX_SCAN_RSP"
    }

    /// The advertiser.
    package let address: DeviceAddress
    package let type: Kind
    /// The AD structures, as octets.
    package let data: [UInt8]
    package let isConnectable: Bool
  }

  package let number: Int
  /// The time in nanoseconds.
  package let time: Int64
  package let interface: CaptureInterface
  /// The channel index on the air; nil for HCI packets.
  package var channel: UInt8?
  package var phy: String?
  /// The level of the pseudo-header in dBm.
  package var power: Int?
  package var direction: Direction?
  package var content = Content.other
  package var name = ""
  package var detail = ""
  /// The connection: its access address on the air, its handle in HCI.
  package var connection: UInt32?
  /// The number of the connection in the capture, from 1; another connection may have had the same access address or
  /// handle before.
  package var link: Int?
  /// The addresses in the packet, and those of the devices of its connection.
  package var addresses: [DeviceAddress] = []
  /// The attribute handles in the packet.
  package var handles: [UInt16] = []
  /// The octets of the payload of a link layer packet or an ACL data packet, without the MIC.
  package var payloadLength = 0
  /// The duration of a packet on the air in nanoseconds; 0 for HCI packets.
  package var airTime: Int64 = 0
  /// The parameters of the connection that the packet establishes or changes.
  package var timing: (interval: UInt16, latency: UInt16, timeout: UInt16)?
  /// The reason with which the packet ends a connection.
  package var endReason: HCIErrorCode?
  /// True if the packet repeats one that its receiver did not acknowledge.
  package var isRetransmission = false
  package var isEncrypted = false
  package var hasWrongCRC = false
  /// True if the packet could not be read because it is cut, or its length is wrong.
  package var isMalformed = false
  package var comments: [String] = []
  /// The advertising packets that the packet is, or reports.
  package var advertising: [Advertisement] = []
  /// The ATT PDU that the packet completes.
  package var attribute: ATT.PDU?

  package init(_ packet: CapturedPacket) {
    (number, time, interface, comments) = (packet.number, packet.time, packet.interface, packet.comments)
  }

  /// The time in seconds with six decimals.
  package var timeText: String {
    let microseconds = time / 1_000
    let fraction = String(microseconds.magnitude % 1_000_000)
    let padding = String(repeating: "0", count: 6 - fraction.count)
    return "\(microseconds < 0 ? "-" : "")\(microseconds.magnitude / 1_000_000).\(padding)\(fraction)"
  }

  /// The connection as text: eight digits for an access address, four for a handle.
  package var connectionText: String? {
    connection.map { "0x" + (interface.link.isAir ? $0.hexadecimal : UInt16(truncatingIfNeeded: $0).hexadecimal) }
  }

  /// The place of the packet: the channel on the air, or the adapter.
  package var place: String {
    guard interface.link.isAir else { return interface.title }
    return channel.map { "\(interface.title) \($0)" } ?? interface.title
  }

  /// The content in words, and the remarks about it.
  package var fullDetail: String {
    var parts = detail.isEmpty ? [] : [detail]
    if isRetransmission { parts.append("retransmission") }
    if hasWrongCRC { parts.append("wrong CRC") }
    return parts.joined(separator: ", ")
  }

  /// The packet on one line, with fields separated by tabs.
  package var line: String { line(withComments: false) }

  /// The packet on one line, with its comments as the last field if they are wanted.
  package func line(withComments showsComments: Bool) -> String {
    var fields = [
      "\(number)", timeText, place, direction?.words ?? "-", connectionText ?? "-", name,
      fullDetail.isEmpty ? "-" : fullDetail,
    ]
    if showsComments { fields.append(comments.isEmpty ? "-" : comments.joined(separator: "; ")) }
    return fields.map(\.printable).joined(separator: "\t")
  }
}
