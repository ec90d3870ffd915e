import BluetoothWire

/// The parameters and data of a host's advertising, on legacy or on extended PDUs · Vol 4, Part E, 7.8.5, 7.8.53.
package struct HostAdvertising: Hashable, Sendable {
  /// The advertising data: at most 31 octets, on extended PDUs 1,650. Scannable extended PDUs carry none.
  package var data: ByteSlice
  /// The scan response data, with the same limits; only scannable PDUs have a scan response.
  package var scanResponse: ByteSlice
  package var shape = Shape()
  /// The settings of limited discoverable mode; nil: the mode follows the Flags in the data, and advertising has no
  /// time limit.
  package var limit: LimitedDiscovery?
  /// The periodic train of the set; nil: none. Only extended PDUs that are neither connectable nor scannable nor
  /// anonymous can announce a train · Vol 4, Part E, 7.8.61.
  @Boxed package var train: PeriodicTrain?

  /// The settings of limited discoverable mode · Vol 3, Part C, 9.2.3: for a device that its user has just made
  /// discoverable. The host sets the Flags in the data accordingly.
  package struct LimitedDiscovery: Hashable, Sendable {
    package enum End: Hashable, Sendable {
      /// Advertising ends, and the host reports `HostEvent.advertisingEnded`.
      case stops
      /// Advertising goes on in general discoverable mode.
      case becomesGeneral
    }

    /// T_GAP(lim_adv_timeout) · Vol 3, Part C, Appendix A.
    package static let maximumTime = TimeSpan.seconds(180)

    /// The duration from the start of advertising, at most `maximumTime`.
    package let time: TimeSpan
    package let end: End
    package init(for time: TimeSpan = maximumTime, then end: End = .stops) {
      self.time = min(time, Self.maximumTime)
      self.end = end
    }
  }

  /// All parameters except the data.
  package struct Shape: Hashable, Sendable {
    package var type = HCI.AdvertisingType.connectableScannableUndirected
    /// The target of directed advertising.
    package var target: DeviceAddress?
    /// The advertising interval in units of 0.625 ms, 0x0020 to 0x4000; nil: the interval of the host's
    /// configuration.
    package var interval: UInt16?
    /// The advertising channels: bits 0 to 2 are channels 37 to 39.
    package var channelMap: UInt8 = 0b111
    /// The transmit power in dBm, −127 to 20; nil: the controller chooses. Only extended commands can set it.
    package var transmitPower: Int8?
    /// The parameters of extended PDUs, which need a controller with the extended commands; nil: legacy PDUs. No
    /// extended PDU is both connectable and scannable: `connectableScannableUndirected` is connectable only.
    package var extended: ExtendedPDUs?
  }

  /// The parameters that only extended PDUs have · Vol 4, Part E, 7.8.53.
  package struct ExtendedPDUs: Hashable, Sendable {
    /// The primary PHY: LE 1M or LE Coded.
    package var primaryPHY = RadioPHY.le1M
    package var secondaryPHY = RadioPHY.le1M
    /// The advertising SID, 0x00 to 0x0F.
    package var advertisingSID: UInt8 = 0
    package var includesTransmitPower = false
    package var isAnonymous = false
    /// The maximum number of advertising events without the secondary packets.
    package var maximumSkip: UInt8 = 0
    package init() {}
  }

  /// The periodic advertising of a set · Vol 4, Part E, 7.8.61 to 7.8.63.
  package struct PeriodicTrain: Hashable, Sendable {
    /// The parameters, which the controller takes only while it does not send the train.
    package struct Shape: Hashable, Sendable {
      /// The shortest interval of a train in units of 1.25 ms: 7.5 ms.
      package static let minimumInterval: UInt16 = 6

      /// The interval in units of 1.25 ms, 0x0006 to 0xFFFF.
      package var interval: UInt16
      package var includesTransmitPower: Bool
    }

    package var shape: Shape
    /// At most 1,650 octets. New data of more than 252 octets interrupt the train, because the controller takes
    /// fragments only while it is off.
    package var data: ByteSlice
    package init(interval: UInt16, includesTransmitPower: Bool = false, data: ByteSlice) {
      shape = Shape(interval: interval, includesTransmitPower: includesTransmitPower)
      self.data = data
    }
  }

  /// The maximum length of extended advertising data in octets · Vol 4, Part E, 7.8.54.
  package static let maximumExtendedLength = 1650

  /// The maximum length of `data` and of `scanResponse`, in octets each.
  var capacity: Int {
    shape.extended == nil ? AdvertisingData.maximumLegacyLength : Self.maximumExtendedLength
  }

  package init(data: ByteSlice, scanResponse: ByteSlice) {
    self.data = data
    self.scanResponse = scanResponse
  }

  /// True if the lengths of all data are within their limits.
  var fits: Bool {
    max(data.count, scanResponse.count) <= capacity && train.map { $0.data.count <= Self.maximumExtendedLength } ?? true
  }

  /// True if PDUs of this shape can announce the train, if there is one.
  var canHaveTrain: Bool {
    guard let train else { return true }
    guard let extended = shape.extended, !extended.isAnonymous else { return false }
    return shape.type == .nonConnectableUndirected && train.shape.interval >= PeriodicTrain.Shape.minimumInterval
  }

  /// Adds a characteristic's value as service data (broadcast) to the data or, without room there, to the scan
  /// response · Vol 3, Part G, 2.7. Returns false if neither has room.
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

  /// The same advertising with the Flags of its discoverable mode; nil: the Flags do not fit.
  var inMode: HostAdvertising? {
    guard limit != nil else { return self }
    var result = self
    guard let data = AdvertisingData(data).discoverable(.limitedDiscoverable, capacity: capacity) else { return nil }
    result.data = data
    return result
  }
}
