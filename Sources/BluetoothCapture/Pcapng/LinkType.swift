/// The link type of a capture interface · the LINKTYPE_ numbers of tcpdump.org.
package enum LinkType: UInt16, Hashable, Sendable {
  /// HCI packets in H4 form, each after a direction of four octets: LINKTYPE_BLUETOOTH_HCI_H4_WITH_PHDR.
  case hciH4WithDirection = 201
  /// Link layer packets, each after a pseudo-header about its reception: LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR.
  case lowEnergyLinkLayer = 256
}
