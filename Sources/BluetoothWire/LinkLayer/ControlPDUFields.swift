extension LL {
  /// One side's contribution to the keys of an encrypted session · 2.4.2.4, 2.4.2.5.
  package struct SessionPart: Hashable, Sendable {
    /// SKDm or SKDs.
    package var diversifier: UInt64
    /// IVm or IVs.
    package var initializationVector: UInt32

    package init(diversifier: UInt64, initializationVector: UInt32) {
      self.diversifier = diversifier
      self.initializationVector = initializationVector
    }
  }

  /// The fields of LL_VERSION_IND.
  package struct VersionInformation: Hashable, Sendable {
    package var version: UInt8
    package var company: UInt16
    package var subversion: UInt16

    package init(version: UInt8, company: UInt16, subversion: UInt16) {
      self.version = version
      self.company = company
      self.subversion = subversion
    }
  }

  /// The data lengths that a device supports for reception and prefers for transmission: octets of payload, 27 to 251,
  /// and µs on the air, 328 to 17,040.
  package struct DataLengths: Hashable, Sendable {
    package var maximumReceiveOctets: UInt16
    package var maximumReceiveTime: UInt16
    package var maximumTransmitOctets: UInt16
    package var maximumTransmitTime: UInt16

    package init(
      maximumReceiveOctets: UInt16, maximumReceiveTime: UInt16, maximumTransmitOctets: UInt16,
      maximumTransmitTime: UInt16
    ) {
      self.maximumReceiveOctets = maximumReceiveOctets
      self.maximumReceiveTime = maximumReceiveTime
      self.maximumTransmitOctets = maximumTransmitOctets
      self.maximumTransmitTime = maximumTransmitTime
    }

    /// True if all values have at least the permitted minimum · 4.5.10
    package var isValid: Bool {
      maximumReceiveOctets >= 27 && maximumTransmitOctets >= 27 && maximumReceiveTime >= 328
        && maximumTransmitTime >= 328
    }
  }

  /// The fields of LL_CONNECTION_PARAM_REQ and LL_CONNECTION_PARAM_RSP · 2.4.2.16.
  package struct ConnectionParameterProposal: Hashable, Sendable {
    /// The fields Interval_Min to Timeout.
    package var parameters: LinkParameters
    /// Units of 1.25 ms; 0: no preference.
    package var preferredPeriodicity: UInt8
    package var referenceConnectionEventCount: UInt16
    /// Offset0 to Offset5 in units of 1.25 ms, the first in the low 16 bits of `low`; 0xFFFF: not specified.
    package var offsets: Offsets

    package struct Offsets: Hashable, Sendable {
      package var low: UInt64
      package var high: UInt32
      package init(low: UInt64, high: UInt32) {
        self.low = low
        self.high = high
      }
      package static let none = Offsets(low: .max, high: .max)
    }

    package init(
      parameters: LinkParameters, preferredPeriodicity: UInt8 = 0, referenceConnectionEventCount: UInt16 = 0,
      offsets: Offsets = .none
    ) {
      self.parameters = parameters
      self.preferredPeriodicity = preferredPeriodicity
      self.referenceConnectionEventCount = referenceConnectionEventCount
      self.offsets = offsets
    }
  }
}

extension LL.ConnectionTiming {
  init(from reader: inout ByteReader) throws(DecodingError) {
    windowSize = try reader.uint8()
    windowOffset = try reader.uint16()
    interval = try reader.uint16()
    latency = try reader.uint16()
    timeout = try reader.uint16()
  }

  func encode(into writer: inout ByteWriter) {
    writer.append(windowSize)
    writer.append(windowOffset)
    writer.append(interval)
    writer.append(latency)
    writer.append(timeout)
  }
}

extension LL.SessionPart {
  init(from reader: inout ByteReader) throws(DecodingError) {
    diversifier = try reader.uint64()
    initializationVector = try reader.uint32()
  }

  func encode(into writer: inout ByteWriter) {
    writer.append(diversifier)
    writer.append(initializationVector)
  }
}

extension LL.DataLengths {
  init(from reader: inout ByteReader) throws(DecodingError) {
    maximumReceiveOctets = try reader.uint16()
    maximumReceiveTime = try reader.uint16()
    maximumTransmitOctets = try reader.uint16()
    maximumTransmitTime = try reader.uint16()
  }

  func encode(into writer: inout ByteWriter) {
    writer.append(maximumReceiveOctets)
    writer.append(maximumReceiveTime)
    writer.append(maximumTransmitOctets)
    writer.append(maximumTransmitTime)
  }
}

extension LL.ConnectionParameterProposal {
  init(from reader: inout ByteReader) throws(DecodingError) {
    parameters = try LinkParameters(from: &reader)
    preferredPeriodicity = try reader.uint8()
    referenceConnectionEventCount = try reader.uint16()
    offsets = Offsets(low: try reader.uint64(), high: try reader.uint32())
  }

  func encode(into writer: inout ByteWriter) {
    parameters.encode(into: &writer)
    writer.append(preferredPeriodicity)
    writer.append(referenceConnectionEventCount)
    writer.append(offsets.low)
    writer.append(offsets.high)
  }
}
