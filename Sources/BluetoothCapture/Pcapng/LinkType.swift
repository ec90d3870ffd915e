/// What the packets of a capture interface are · the LINKTYPE_ numbers of tcpdump.org.
package enum LinkType: UInt16, Hashable, Sendable {
  /// HCI packets in H4 form after a direction of four octets: LINKTYPE_BLUETOOTH_HCI_H4_WITH_PHDR.
  case hciH4WithDirection = 201
  /// Link layer packets after a header about their reception: LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR.
  case lowEnergyLinkLayer = 256
}
