/// The form of the packets of one interface of a capture file.
package enum CaptureLink: Hashable, Sendable {
  /// HCI packets in H4 form, without a direction: LINKTYPE_BLUETOOTH_HCI_H4.
  case hciH4
  /// HCI packets in H4 form, each after its direction: LINKTYPE_BLUETOOTH_HCI_H4_WITH_PHDR.
  case hciH4WithDirection
  /// Link layer packets: LINKTYPE_BLUETOOTH_LE_LL.
  case linkLayer
  /// Link layer packets, each after a pseudo-header about its reception: LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR.
  case linkLayerWithHeader
  /// Packets of the Linux monitor channel, each after the adapter and an opcode: LINKTYPE_BLUETOOTH_LINUX_MONITOR.
  case linuxMonitor
  /// HCI packets of a btsnoop file, whose flags tell their kind and direction: datalink 1001.
  case btsnoopUnencapsulated
  /// HCI packets of a btsnoop file in H4 form: datalink 1002.
  case btsnoopH4
  /// Packets of the Linux monitor channel in a btsnoop file, as `btmon -w` writes them: datalink 2001.
  case btsnoopMonitor
  /// Another LINKTYPE number, or a datalink number of btsnoop.
  case other(UInt32)

  /// Creates the link of a LINKTYPE number of tcpdump.org.
  package init(linkType: UInt32) {
    switch linkType {
    case 187: self = .hciH4
    case 201: self = .hciH4WithDirection
    case 251: self = .linkLayer
    case 254: self = .linuxMonitor
    case 256: self = .linkLayerWithHeader
    default: self = .other(linkType)
    }
  }

  /// Creates the link of a datalink number of btsnoop.
  package init(datalink: UInt32) {
    switch datalink {
    case 1001: self = .btsnoopUnencapsulated
    case 1002: self = .btsnoopH4
    case 2001: self = .btsnoopMonitor
    default: self = .other(datalink)
    }
  }

  /// True if the packets are those between a host and its controller.
  package var isHCI: Bool {
    switch self {
    case .hciH4, .hciH4WithDirection, .btsnoopUnencapsulated, .btsnoopH4, .linuxMonitor, .btsnoopMonitor: true
    case .linkLayer, .linkLayerWithHeader, .other: false
    }
  }

  /// True if the packets are those on the air.
  package var isAir: Bool { self == .linkLayer || self == .linkLayerWithHeader }

  /// The form in words.
  package var text: String {
    switch self {
    case .hciH4, .hciH4WithDirection, .btsnoopH4, .btsnoopUnencapsulated: "HCI"
    case .linkLayer, .linkLayerWithHeader: "air"
    case .linuxMonitor, .btsnoopMonitor: "Linux monitor"
    case .other(let number): "link type \(number)"
    }
  }
}

/// An interface of a capture file.
package struct CaptureInterface: Hashable, Sendable {
  /// The number of the interface, from 0, over all sections of the file.
  package let index: Int
  /// The name; nil: the file gives none.
  package let name: String?
  package let link: CaptureLink

  package init(index: Int, name: String?, link: CaptureLink) {
    (self.index, self.name, self.link) = (index, name, link)
  }

  /// The name, or words in its place.
  package var title: String { name ?? (link.isAir ? "air" : link.isHCI ? "hci" : "interface \(index)") }
}

/// A packet of a capture file, with the octets as in the file.
package struct CapturedPacket: Sendable {
  /// The number of the packet in its file, from 1.
  package let number: Int
  /// The time in nanoseconds, since 1970 or since the beginning of a simulated world.
  package let time: Int64
  package let interface: CaptureInterface
  /// The octets, pseudo-header included.
  package let octets: [UInt8]
  /// The number of octets before the capture program shortened the packet.
  package let originalLength: Int
  /// The flags of a btsnoop record; nil for other formats.
  package var flags: UInt32?
  package var comments: [String] = []

  package init(
    number: Int, time: Int64, interface: CaptureInterface, octets: [UInt8], originalLength: Int, flags: UInt32? = nil,
    comments: [String] = []
  ) {
    (self.number, self.time, self.interface) = (number, time, interface)
    (self.octets, self.originalLength, self.flags, self.comments) = (octets, originalLength, flags, comments)
  }
}

/// A part of a capture file.
package enum CaptureElement: Sendable {
  case interface(CaptureInterface)
  case packet(CapturedPacket)
  /// The number of packets that the capture program has dropped on an interface.
  case dropped(CaptureInterface, count: UInt64)
}

/// The reason why octets are no capture.
package struct CaptureProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// The offset in the file.
  package let offset: Int
  package let reason: String

  package var description: String { "offset \(offset): \(reason)" }
}
