extension HCI {
  /// An HCI event from a controller to its host · Vol 4, Part E, 7.7.
  package enum Event: Hashable, Sendable {
    /// Disconnection Complete · 7.7.5
    case disconnectionComplete(ErrorCode, ConnectionHandle, reason: ErrorCode)
    /// Encryption Change [v1] · 7.7.8; `enabled`: 0 for off, 1 for on.
    case encryptionChange(ErrorCode, ConnectionHandle, enabled: UInt8)
    /// Read Remote Version Information Complete · 7.7.12
    case readRemoteVersionInformationComplete(ErrorCode, ConnectionHandle, RemoteVersion)
    /// Command Complete · 7.7.14; `credits` is Num_HCI_Command_Packets, the number of commands that may be sent now.
    case commandComplete(credits: UInt8, Opcode, ReturnParameters)
    /// Command Status · 7.7.15
    case commandStatus(ErrorCode, credits: UInt8, Opcode)
    /// Hardware Error · 7.7.16
    case hardwareError(UInt8)
    /// Number Of Completed Packets · 7.7.19
    case numberOfCompletedPackets(CompletedPackets)
    /// Data Buffer Overflow · 7.7.26
    case dataBufferOverflow(linkType: UInt8)
    /// Encryption Key Refresh Complete · 7.7.39
    case encryptionKeyRefreshComplete(ErrorCode, ConnectionHandle)
    /// Encryption Change [v2] · 7.7.8; `enabled`: 0 for off, 1 for on; `keySize` in octets, 7 to 16.
    case encryptionChangeV2(ErrorCode, ConnectionHandle, enabled: UInt8, keySize: UInt8)
    /// Authenticated Payload Timeout Expired · 7.7.75
    case authenticatedPayloadTimeoutExpired(ConnectionHandle)

    /// LE Connection Complete · 7.7.65.1
    case leConnectionComplete(ConnectionComplete)
    /// LE Advertising Report · 7.7.65.2
    case leAdvertisingReport(AdvertisingReports)
    /// LE Connection Update Complete · 7.7.65.3
    case leConnectionUpdateComplete(ErrorCode, ConnectionHandle, ConnectionValues)
    /// LE Read Remote Features Complete · 7.7.65.4
    case leReadRemoteFeaturesComplete(ErrorCode, ConnectionHandle, LEFeatures)
    /// LE Long Term Key Request · 7.7.65.5
    case leLongTermKeyRequest(ConnectionHandle, random: UInt64, encryptedDiversifier: UInt16)
    /// LE Remote Connection Parameter Request · 7.7.65.6
    case leRemoteConnectionParameterRequest(ConnectionHandle, ConnectionParameters)
    /// LE Data Length Change · 7.7.65.7
    case leDataLengthChange(ConnectionHandle, transmit: DataLength, receive: DataLength)
    /// LE Read Local P-256 Public Key Complete · 7.7.65.8; the coordinates X and Y, 32 octets each.
    case leReadLocalP256PublicKeyComplete(ErrorCode, ByteSlice)
    /// LE Generate DHKey Complete · 7.7.65.9; 32 octets.
    case leGenerateDHKeyComplete(ErrorCode, Secret<ByteSlice>)
    /// LE Enhanced Connection Complete [v1] · 7.7.65.10
    case leEnhancedConnectionComplete(ConnectionComplete)
    /// LE Directed Advertising Report · 7.7.65.11
    case leDirectedAdvertisingReport(DirectedAdvertisingReport)
    /// LE PHY Update Complete · 7.7.65.12
    case lePHYUpdateComplete(ErrorCode, ConnectionHandle, transmit: UInt8, receive: UInt8)
    /// LE Extended Advertising Report · 7.7.65.13
    case leExtendedAdvertisingReport(ExtendedAdvertisingReports)
    /// LE Periodic Advertising Sync Established [v1] · 7.7.65.14
    case lePeriodicAdvertisingSyncEstablished(ErrorCode, PeriodicSync)
    /// LE Periodic Advertising Report [v1] · 7.7.65.15
    case lePeriodicAdvertisingReport(PeriodicAdvertisingReport)
    /// LE Periodic Advertising Sync Lost · 7.7.65.16
    case lePeriodicAdvertisingSyncLost(SyncHandle)
    /// LE Scan Timeout · 7.7.65.17
    case leScanTimeout
    /// LE Advertising Set Terminated · 7.7.65.18
    case leAdvertisingSetTerminated(ErrorCode, AdvertisingHandle, ConnectionHandle, completedEvents: UInt8)
    /// LE Scan Request Received · 7.7.65.19
    case leScanRequestReceived(AdvertisingHandle, scanner: PeerAddress)
    /// LE Channel Selection Algorithm · 7.7.65.20; 0 for algorithm #1, 1 for #2.
    case leChannelSelectionAlgorithm(ConnectionHandle, UInt8)
    /// LE Periodic Advertising Sync Transfer Received [v1] · 7.7.65.24
    case lePeriodicAdvertisingSyncTransferReceived(ErrorCode, ConnectionHandle, serviceData: UInt16, PeriodicSync)
    /// LE Request Peer SCA Complete · 7.7.65.30; `clockAccuracy` from 0 (500 ppm) to 7 (20 ppm).
    case leRequestPeerSCAComplete(ErrorCode, ConnectionHandle, clockAccuracy: UInt8)
    /// An LE Meta event whose subevent has no case in this type.
    case unknownLE(subevent: UInt8, ByteSlice)

    /// An event without a case in this type.
    case unknown(code: UInt8, ByteSlice)
  }

  /// The parameters of LE Connection Complete · 7.7.65.1, and of LE Enhanced Connection Complete · 7.7.65.10.
  package struct ConnectionComplete: Hashable, Sendable {
    package var status: ErrorCode
    package var handle: ConnectionHandle
    /// 0: central, 1: peripheral.
    package var role: UInt8
    package var peer: PeerAddress
    /// Only in the enhanced event; 0 if no such address was used.
    package var localResolvablePrivateAddress: UInt64
    /// Only in the enhanced event; 0 if no such address was used.
    package var peerResolvablePrivateAddress: UInt64
    package var values: ConnectionValues
    /// The central's sleep clock accuracy, 0 (500 ppm) to 7 (20 ppm); valid only for a peripheral.
    package var centralClockAccuracy: UInt8
    package init(
      status: ErrorCode, handle: ConnectionHandle, role: UInt8, peer: PeerAddress,
      localResolvablePrivateAddress: UInt64 = 0, peerResolvablePrivateAddress: UInt64 = 0, values: ConnectionValues,
      centralClockAccuracy: UInt8
    ) {
      self.status = status
      self.handle = handle
      self.role = role
      self.peer = peer
      self.localResolvablePrivateAddress = localResolvablePrivateAddress
      self.peerResolvablePrivateAddress = peerResolvablePrivateAddress
      self.values = values
      self.centralClockAccuracy = centralClockAccuracy
    }

    /// Creates the parameters of a failed connection attempt: all fields except the status are zero.
    package init(failure status: ErrorCode) {
      self.init(
        status: status, handle: ConnectionHandle(rawValue: 0), role: 0, peer: PeerAddress(type: 0, value: 0),
        values: ConnectionValues(interval: 0, latency: 0, supervisionTimeout: 0), centralClockAccuracy: 0)
    }

    init(from reader: inout ByteReader, isEnhanced: Bool) throws(DecodingError) {
      status = try reader.errorCode()
      handle = try ConnectionHandle(from: &reader)
      role = try reader.uint8()
      peer = try PeerAddress(from: &reader)
      localResolvablePrivateAddress = isEnhanced ? try reader.addressValue() : 0
      peerResolvablePrivateAddress = isEnhanced ? try reader.addressValue() : 0
      values = try ConnectionValues(from: &reader)
      centralClockAccuracy = try reader.uint8()
    }

    func encode(into writer: inout ByteWriter, isEnhanced: Bool) {
      writer.append(status)
      writer.append(handle)
      writer.append(role)
      peer.encode(into: &writer)
      if isEnhanced {
        writer.append(addressValue: localResolvablePrivateAddress)
        writer.append(addressValue: peerResolvablePrivateAddress)
      }
      values.encode(into: &writer)
      writer.append(centralClockAccuracy)
    }
  }

  /// The connection parameters in effect.
  package struct ConnectionValues: Hashable, Sendable {
    /// The connection interval in units of 1.25 ms.
    package var interval: UInt16
    package var latency: UInt16
    /// The supervision timeout in units of 10 ms.
    package var supervisionTimeout: UInt16
    package init(interval: UInt16, latency: UInt16, supervisionTimeout: UInt16) {
      self.interval = interval
      self.latency = latency
      self.supervisionTimeout = supervisionTimeout
    }

    init(from reader: inout ByteReader) throws(DecodingError) {
      interval = try reader.uint16()
      latency = try reader.uint16()
      supervisionTimeout = try reader.uint16()
    }

    func encode(into writer: inout ByteWriter) {
      writer.append(interval)
      writer.append(latency)
      writer.append(supervisionTimeout)
    }
  }

  /// The version information of the peer's link layer · 7.7.12; Vol 6, Part B, 2.4.2.13.
  package struct RemoteVersion: Hashable, Sendable {
    package var version: UInt8
    package var companyIdentifier: UInt16
    package var subversion: UInt16
    package init(version: UInt8, companyIdentifier: UInt16, subversion: UInt16) {
      self.version = version
      self.companyIdentifier = companyIdentifier
      self.subversion = subversion
    }
  }
}
