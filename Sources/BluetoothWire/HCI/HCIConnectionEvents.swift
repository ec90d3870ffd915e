extension HCI {
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

    init(from reader: inout ByteReader) throws(DecodingError) {
      version = try reader.uint8()
      companyIdentifier = try reader.uint16()
      subversion = try reader.uint16()
    }

    func encode(into writer: inout ByteWriter) {
      writer.append(version)
      writer.append(companyIdentifier)
      writer.append(subversion)
    }
  }
}
