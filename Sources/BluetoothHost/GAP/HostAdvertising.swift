import BluetoothWire

/// How a host advertises: on the legacy PDUs, or on the extended ones · Vol 4, Part E, 7.8.5, 7.8.53.
package struct HostAdvertising: Hashable, Sendable {
  /// At most 31 octets, on extended PDUs 1,650; those that can be scanned carry none.
  package var data: ByteSlice
  /// As many; only PDUs that can be scanned have one.
  package var scanResponse: ByteSlice
  package var shape = Shape()
  /// Advertises in limited discoverable mode; nil: as the Flags in the data say, and without an end.
  package var limit: LimitedDiscovery?

  /// Limited discoverable mode · Vol 3, Part C, 9.2.3: for a device that its user has just made discoverable. The Flags of
  /// the data are set accordingly.
  package struct LimitedDiscovery: Hashable, Sendable {
    package enum End: Hashable, Sendable {
      /// Advertising ends, which `HostEvent.advertisingEnded` tells.
      case stops
      /// It goes on in general discoverable mode.
      case becomesGeneral
    }

    /// T_GAP(lim_adv_timeout) · Vol 3, Part C, Appendix A.
    package static let maximumTime = TimeSpan.seconds(180)

    /// From the start on, at most `maximumTime`.
    package let time: TimeSpan
    package let end: End
    package init(for time: TimeSpan = maximumTime, then end: End = .stops) {
      self.time = min(time, Self.maximumTime)
      self.end = end
    }
  }

  /// All but what it says.
  package struct Shape: Hashable, Sendable {
    package var type = HCI.AdvertisingType.connectableScannableUndirected
    /// Whom directed kinds are for.
    package var target: DeviceAddress?
    /// Units of 0.625 ms, 0x0020 to 0x4000; nil: that of the host's configuration.
    package var interval: UInt16?
    /// Bits 0 to 2: channels 37 to 39.
    package var channelMap: UInt8 = 0b111
    /// dBm, −127 to 20; nil: that of the controller. Only extended commands can ask for one.
    package var transmitPower: Int8?
    /// Advertises on extended PDUs, which only a controller with the extended commands has; nil: on the legacy ones. No
    /// extended PDU is both connectable and scannable: `connectableScannableUndirected` is connectable only.
    package var extended: ExtendedPDUs?
  }

  /// What only extended PDUs have · Vol 4, Part E, 7.8.53.
  package struct ExtendedPDUs: Hashable, Sendable {
    /// LE 1M or LE Coded.
    package var primaryPHY = PHY.le1M
    package var secondaryPHY = PHY.le1M
    /// 0x00 to 0x0F.
    package var advertisingSID: UInt8 = 0
    package var includesTransmitPower = false
    package var isAnonymous = false
    /// Events that the secondary packets may be left out.
    package var maximumSkip: UInt8 = 0
    package init() {}
  }

  /// The longest data of extended advertising · Vol 4, Part E, 7.8.54.
  package static let maximumExtendedLength = 1650

  /// Octets that either of the data may have.
  var capacity: Int {
    shape.extended == nil ? AdvertisingData.maximumLegacyLength : Self.maximumExtendedLength
  }

  package init(data: ByteSlice, scanResponse: ByteSlice) {
    self.data = data
    self.scanResponse = scanResponse
  }

  /// Advertises a characteristic's value as the data of its service, where there is room: in the data, else in the scan
  /// response · Vol 3, Part G, 2.7. False: there is none.
  @discardableResult
  package mutating func append(_ value: ByteSlice, broadcastOf service: BluetoothUUID) -> Bool {
    let isScannable = shape.type == .connectableScannableUndirected || shape.type == .scannableUndirected
    for part in isScannable ? [\HostAdvertising.data, \.scanResponse] : [\HostAdvertising.data] {
      var builder = AdvertisingDataBuilder(capacity: AdvertisingData.maximumLegacyLength - self[keyPath: part].count)
      guard builder.appendServiceData(service, value.bytes) else { continue }
      self[keyPath: part] = ByteSlice(self[keyPath: part].bytes + builder.octets)
      return true
    }
    return false
  }

  /// The same with the Flags that its mode demands; nil: there is no room for them.
  var inMode: HostAdvertising? {
    guard limit != nil else { return self }
    var result = self
    guard let data = AdvertisingData(data).discoverable(.limitedDiscoverable, capacity: capacity) else { return nil }
    result.data = data
    return result
  }
}
