import BluetoothCrypto
import BluetoothWire

/// What a host does by itself.
package struct HostConfiguration: Sendable {
  /// The largest ATT_MTU that this host offers, 23 to 517.
  package var maximumMTU = 517
  /// What a central asks for when it connects: interval 30 ms, latency 0, supervision timeout 2 s.
  package var connection = ConnectionParameters(
    minimumInterval: 24, maximumInterval: 24, latency: 0, supervisionTimeout: 200)
  /// Scan interval and scan window, for scanning and for connecting, in units of 0.625 ms: 30 ms, all the time.
  package var scanInterval: UInt16 = 48
  /// Advertising interval in units of 0.625 ms: 100 ms.
  package var advertisingInterval: UInt16 = 160
  /// Advertises with the extended commands where the controller has them, which then takes no legacy ones: for hosts that
  /// neither scan nor connect.
  package var advertisesWithExtendedCommands = false
  /// The physical layers that this host wants its links to be on, if its controller has them: as central it asks for them
  /// on each link whose peer has more than LE 1M, and its controller agrees to them when a peer asks. nil: whatever peers
  /// and controllers agree on, which nobody asks for here.
  package var preferredPHYs: HCI.PHYs? = [.le1M, .le2M]
  /// Asks for other connection parameters by the link layer where both sides have its procedure, else, and without this
  /// always, by L2CAP.
  package var requestsParametersByLinkLayer = true
  /// Advertises, scans and connects with the extended commands where the controller has them, and with the legacy ones
  /// elsewhere. What is sent does not depend on it.
  package var usesExtendedCommands = true
  /// Looks for devices to connect to on LE Coded, too, where the controller has it and extended commands are used.
  package var connectsOnLECoded = false
  /// What this device can do, offers and demands when it pairs.
  package var pairing = PairingPolicy()
  /// As central: encrypts the link to a bonded peer as soon as it is there, before anything else is said on it; else when
  /// something is asked of the peer.
  package var encryptsBondedLinks = true
  /// Nothing is asked of a bonded peer and nothing of it believed before the link is encrypted, but that what is signed may
  /// go out. Else a link that nobody encrypts is used as one without a bond is, until a peer refuses something.
  package var guardsBondedLinks = true
  /// What this device's private addresses are made with, which bonded peers get; nil: one is drawn.
  package var identityKey: Block?
  /// This device is called on the air by resolvable private addresses, made with its identity key, and gives its identity
  /// away to bonded peers only; else its identity address, a static or public one, is what everybody hears.
  package var usesPrivateAddresses = false
  /// Where keys come from: for every device whose air is not simulated, one that nobody can guess. nil: the device's own
  /// generator, so that the same seed gives the same packets.
  package var keyGenerator: KeyGenerator?
  /// How long a resolvable private address of this device's is used, in seconds: 1 to 3,600. T_GAP(private_addr_int) is
  /// 15 min · Vol 3, Part C, Appendix A.
  package var privateAddressTimeout: UInt16 = 900
  /// The value of the characteristic Device Name; at most 248 octets are served.
  package var deviceName: String
  /// The value of the characteristic Appearance; 0: unknown.
  package var appearance: UInt16
  /// The random static address of the device; nil: one is drawn.
  package var address: DeviceAddress?
  /// The device's identity address is the public address of its controller, which is also what it is called on the air unless
  /// it uses private addresses; else it is the random static address · Vol 6, Part B, 1.3.
  package var usesPublicAddress = false

  package init(deviceName: String, appearance: UInt16 = 0, address: DeviceAddress? = nil) {
    self.deviceName = deviceName
    self.appearance = appearance
    self.address = address
  }

  /// What keys come from, where `generator` is the device's own.
  package func keyGenerator(else generator: SplitGenerator) -> KeyGenerator {
    keyGenerator ?? KeyGenerator(generator)
  }
}

/// How to scan.
package struct ScanParameters: Hashable, Sendable {
  /// Ask advertisers for their scan responses.
  package var isActive: Bool
  /// Report each advertiser once instead of each of its packets.
  package var filterDuplicates: Bool
  /// Listens on LE Coded, too, where the controller has it and extended commands are used.
  package var includesLECoded: Bool
  package init(isActive: Bool, filterDuplicates: Bool, includesLECoded: Bool = false) {
    self.isActive = isActive
    self.filterDuplicates = filterDuplicates
    self.includesLECoded = includesLECoded
  }
}
