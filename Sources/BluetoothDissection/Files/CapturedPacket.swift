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
  /// Link layer packets, each after a header of the nRF Sniffer for Bluetooth LE: LINKTYPE_NORDIC_BLE.
  case nordicSniffer
  /// Packets of the Linux monitor channel, each after the adapter and an opcode: LINKTYPE_BLUETOOTH_LINUX_MONITOR.
  case linuxMonitor
  /// HCI packets of a btsnoop file, whose flags tell their kind and direction: datalink 1001.
  case btsnoopUnencapsulated
  /// HCI packets of a btsnoop file in H4 form: datalink 1002.
  case btsnoopH4
  /// HCI packets of a btsnoop file in the frames of BCSP: datalink 1003.
  case btsnoopBCSP
  /// HCI packets of a btsnoop file in the frames of the three-wire UART: datalink 1004.
  case btsnoopThreeWire
  /// Packets of the Linux monitor channel in a btsnoop file, as `btmon -w` writes them: datalink 2001.
  case btsnoopMonitor
  /// Records of Apple's PacketLogger, each after its type.
  case packetLogger
  /// Another LINKTYPE number.
  case other(UInt32)
  /// Another datalink number of btsnoop.
  case otherDatalink(UInt32)

  /// Creates the link of a LINKTYPE number of tcpdump.org.
  package init(linkType: UInt32) {
    switch linkType {
    case 187: self = .hciH4
    case 201: self = .hciH4WithDirection
    case 251: self = .linkLayer
    case 254: self = .linuxMonitor
    case 256: self = .linkLayerWithHeader
    case 272: self = .nordicSniffer
    default: self = .other(linkType)
    }
  }

  /// Creates the link of a datalink number of btsnoop.
  package init(datalink: UInt32) {
    switch datalink {
    case 1001: self = .btsnoopUnencapsulated
    case 1002: self = .btsnoopH4
    case 1003: self = .btsnoopBCSP
    case 1004: self = .btsnoopThreeWire
    case 2001: self = .btsnoopMonitor
    default: self = .otherDatalink(datalink)
    }
  }

  /// True if the packets are those between a host and its controller.
  package var isHCI: Bool {
    switch self {
    case .hciH4, .hciH4WithDirection, .btsnoopUnencapsulated, .btsnoopH4, .btsnoopBCSP, .btsnoopThreeWire,
      .linuxMonitor, .btsnoopMonitor, .packetLogger:
      true
    case .linkLayer, .linkLayerWithHeader, .nordicSniffer, .other, .otherDatalink: false
    }
  }

  /// True if the packets are those on the air.
  package var isAir: Bool { self == .linkLayer || self == .linkLayerWithHeader || self == .nordicSniffer }

  /// True if each packet names its adapter.
  package var hasAdapters: Bool { self == .linuxMonitor || self == .btsnoopMonitor }

  /// Returns the adapter that a packet of a Linux monitor channel names.
  func adapter(_ octets: [UInt8], flags: UInt32?) -> UInt16 {
    if let flags { return UInt16(truncatingIfNeeded: flags >> 16) }
    return octets.count >= 2 ? UInt16(octets[0]) << 8 | UInt16(octets[1]) : .max
  }

  /// The form in words.
  package var text: String {
    switch self {
    case .hciH4, .hciH4WithDirection, .btsnoopH4, .btsnoopUnencapsulated, .btsnoopBCSP, .btsnoopThreeWire: "HCI"
    case .linkLayer, .linkLayerWithHeader, .nordicSniffer: "air"
    case .linuxMonitor, .btsnoopMonitor: "Linux monitor"
    case .packetLogger: "PacketLogger"
    case .other(let number): "link type \(number)"
    case .otherDatalink(let number): "btsnoop datalink \(number)"
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
  /// True if the capture program has shortened the packet.
  package var isCut: Bool { originalLength > octets.count }
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
  /// A part of the file that is not read, by its kind in words.
  case unread(String)
}

/// The parts of a capture that are not read, or are damaged: each kind once, with the number of its occurrences.
package struct CaptureNotes: Sendable {
  /// The number of kinds that are told apart.
  private static let maximumKinds = 32

  private var counts: [(kind: String, count: Int)] = []

  /// Notes nothing yet.
  package init() {}

  package mutating func add(_ kind: String) {
    if let index = counts.firstIndex(where: { $0.kind == kind }) {
      counts[index].count += 1
    } else if counts.count < Self.maximumKinds {
      counts.append((kind, 1))
    } else {
      counts[Self.maximumKinds - 1].kind = "other parts"
      counts[Self.maximumKinds - 1].count += 1
    }
  }

  /// One line for each kind, in the order of their first occurrences.
  package var lines: [String] {
    counts.map { $0.count == 1 ? "not read: \($0.kind)" : "not read: \($0.kind) (\($0.count) times)" }
  }
}
