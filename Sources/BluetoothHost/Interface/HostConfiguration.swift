import BluetoothCrypto
import BluetoothWire

/// The settings of a host.
package struct HostConfiguration: Sendable {
  /// The largest ATT_MTU that this host offers, 23 to 517.
  package var maximumMTU = 517
  /// The connection parameters that a central uses when it connects: interval 30 ms, latency 0, supervision timeout
  /// 2 s.
  package var connection = LinkParameters(
    minimumInterval: 24, maximumInterval: 24, latency: 0, supervisionTimeout: 200)
  /// The scan interval and the scan window, for scanning and for connecting, in units of 0.625 ms: 30 ms each, so the
  /// controller scans continuously.
  package var scanInterval: UInt16 = 48
  /// The advertising interval in units of 0.625 ms: 100 ms.
  package var advertisingInterval: UInt16 = 160
  /// True if the host advertises with the extended commands when the controller has them, which then rejects legacy
  /// commands. For hosts that neither scan nor connect.
  package var advertisesWithExtendedCommands = false
  /// The PHYs that this host prefers for its links, as far as its controller has them. As central, the host requests
  /// them on each link whose peer supports more than LE 1M; as either role, its controller accepts them when a peer
  /// requests them. nil: the host requests no PHY, and the controllers decide.
  package var preferredPHYs: HCI.PHYs? = [.le1M, .le2M]
  /// True if the host requests connection parameters with the link layer procedure when both sides support it, and
  /// with L2CAP when they do not; false: always with L2CAP.
  package var requestsParametersByLinkLayer = true
  /// True if the host advertises, scans and connects with the extended commands when the controller has them, and
  /// with the legacy commands when it has not. The packets on the air do not depend on it.
  package var usesExtendedCommands = true
  /// True if the host also looks for devices to connect to on LE Coded, provided that the controller has it and
  /// extended commands are used.
  package var connectsOnLECoded = false
  /// The device's pairing capabilities and requirements.
  package var pairing = PairingPolicy()
  /// True if the host, as central, encrypts the link to a bonded peer before any other traffic; false: it encrypts
  /// when an app requests something of the peer.
  package var encryptsBondedLinks = true
  /// True if the host, on a link to a bonded peer, sends no requests and trusts no answers until the link is
  /// encrypted; signed writes are exempt. False: the host uses an unencrypted link as it would without a bond, until
  /// the peer rejects a request.
  package var guardsBondedLinks = true
  /// True if the host keeps the attributes of a server that has no bond and no Service Changed characteristic for the
  /// next link, until `forgetRemoteDatabase`; false: it finds them again on each link.
  package var keepsUnbondedServices = false
  /// The maximum number of octets of ATT values and L2CAP channels that a link carries in each second and direction; nil:
  /// no maximum.
  package var linkDataRate: Int?
  /// The Identity Resolving Key of this device, which generates its private addresses and is distributed to bonded
  /// peers; nil: a random key.
  package var identityKey: Block?
  /// True if this device uses resolvable private addresses, generated with its identity key, and reveals its identity
  /// address to bonded peers only; false: it uses its identity address, static or public, on the air.
  package var usesPrivateAddresses = false
  /// The source of keys. Every device on a real radio needs an unpredictable one. nil: the device's own generator, so
  /// that the same seed gives the same packets.
  package var keyGenerator: KeyGenerator?
  /// The time after which this device changes its resolvable private address, in seconds: 1 to 3,600.
  /// T_GAP(private_addr_int) is 15 min · Vol 3, Part C, Appendix A.
  package var privateAddressTimeout: UInt16 = 900
  /// The value of the Device Name characteristic; the server returns at most 248 octets of it.
  package var deviceName: String
  /// The value of the Appearance characteristic; 0: unknown.
  package var appearance: UInt16
  /// The handle of the declaration of the GAP service, which the GATT service follows.
  package var firstHandle: AttributeHandle = 1
  /// The random static address of the device; nil: a random one.
  package var address: DeviceAddress?
  /// True if the device's identity address is the public address of its controller, which it also uses on the air
  /// unless it uses private addresses; false: the random static address · Vol 6, Part B, 1.3.
  package var usesPublicAddress = false
  /// True if the owner of the transport opens it again when `Host.needsNewTransport` is true. Until then the host is
  /// `unreachable`. False: the host is `unsupported` once all resets of its controller have failed. A controller without
  /// Low Energy is `unsupported` in both cases.
  package var canReopenTransport = false
  /// True if the host checks a controller from which no packet has arrived for 10 s: the controller has failed if it
  /// does not answer a command within 2 s. For controllers outside this process.
  package var checksSilentController = false

  package init(deviceName: String, appearance: UInt16 = 0, address: DeviceAddress? = nil) {
    self.deviceName = deviceName
    self.appearance = appearance
    self.address = address
  }

  /// Returns the source of keys: the configured one, or else the device's own `generator`.
  package func keyGenerator(else generator: RandomStream) -> KeyGenerator {
    keyGenerator ?? KeyGenerator(generator)
  }
}

/// The parameters of scanning.
package struct ScanParameters: Hashable, Sendable {
  /// True if the controller sends scan requests (active scanning).
  package var isActive: Bool
  /// True if each advertiser is reported once; false: each of its packets is reported.
  package var filterDuplicates: Bool
  /// True if the controller also scans on LE Coded, provided that it has this PHY and extended commands are used.
  package var includesLECoded: Bool
  package init(isActive: Bool, filterDuplicates: Bool, includesLECoded: Bool = false) {
    self.isActive = isActive
    self.filterDuplicates = filterDuplicates
    self.includesLECoded = includesLECoded
  }
}
