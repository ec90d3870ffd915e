import BluetoothWire

/// The builder of the commands for advertising, in their legacy or their extended form.
///
/// A controller accepts one form or the other until it is reset · Vol 4, Part E, 3.1.1.
struct AdvertisingCommands {
  /// True for the extended commands.
  let isExtended: Bool
  let ownAddressType: HCI.OwnAddressType
  /// The device's random address, static or private.
  let randomAddress: DeviceAddress
  /// The default advertising interval in units of 0.625 ms, for shapes without an interval.
  let interval: UInt16
  let pool: PacketPool
  /// The peer identity whose local key generates the device's private addresses; nil: the device uses none.
  var identity: DeviceAddress?
  /// The advertising set that the commands are for. Legacy commands have no sets.
  var set = HCI.AdvertisingHandle.main

  /// The identity and the addresses that advertising uses.
  struct Owner: Equatable {
    let type: HCI.OwnAddressType
    let identity: DeviceAddress?
    /// The random address of the advertising set; nil: the set needs none.
    let address: DeviceAddress?
  }

  var owner: Owner {
    Owner(type: ownAddressType, identity: identity, address: hasOwnAddress ? randomAddress : nil)
  }

  func parameters(_ shape: HostAdvertising.Shape) -> HCI.Command {
    let interval = shape.interval ?? interval
    guard isExtended else {
      return .leSetAdvertisingParameters(
        HCI.AdvertisingParameters(
          minimumInterval: interval, maximumInterval: interval, type: shape.type, ownAddressType: ownAddressType,
          peer: peer(shape), channelMap: shape.channelMap))
    }
    let extended = shape.extended ?? HostAdvertising.ExtendedPDUs()
    return .leSetExtendedAdvertisingParameters(
      HCI.ExtendedAdvertisingParameters(
        handle: set, properties: Self.properties(of: shape), minimumInterval: UInt32(interval),
        maximumInterval: UInt32(interval), channelMap: shape.channelMap, ownAddressType: ownAddressType,
        peer: peer(shape), transmitPower: shape.transmitPower ?? HCI.ExtendedAdvertisingParameters.anyTransmitPower,
        primaryPHY: extended.primaryPHY, secondaryMaximumSkip: extended.maximumSkip,
        secondaryPHY: extended.secondaryPHY, advertisingSID: extended.advertisingSID))
  }

  /// Returns the target of directed PDUs; without a target, the identity whose key generates private addresses.
  private func peer(_ shape: HostAdvertising.Shape) -> HCI.PeerAddress {
    (shape.target ?? identity).map { HCI.PeerAddress($0) } ?? HCI.PeerAddress(type: 0, value: 0)
  }

  /// Returns the event properties of the extended command · Vol 4, Part E, 7.8.53.
  private static func properties(
    of shape: HostAdvertising.Shape
  ) -> HCI.ExtendedAdvertisingParameters.Properties {
    guard let extended = shape.extended else { return legacyProperties(of: shape.type) }
    var properties: HCI.ExtendedAdvertisingParameters.Properties =
      switch shape.type {
      case .connectableScannableUndirected: .connectable
      case .connectableDirectedHighDutyCycle, .connectableDirectedLowDutyCycle: [.connectable, .directed]
      case .scannableUndirected: .scannable
      case .nonConnectableUndirected: []
      }
    if extended.includesTransmitPower { properties.insert(.includesTransmitPower) }
    if extended.isAnonymous { properties.insert(.anonymous) }
    return properties
  }

  private static func legacyProperties(
    of type: HCI.AdvertisingType
  ) -> HCI.ExtendedAdvertisingParameters.Properties {
    switch type {
    case .connectableScannableUndirected: [.legacy, .connectable, .scannable]
    case .connectableDirectedHighDutyCycle: [.legacy, .connectable, .directed, .highDutyCycle]
    case .scannableUndirected: [.legacy, .scannable]
    case .nonConnectableUndirected: .legacy
    case .connectableDirectedLowDutyCycle: [.legacy, .connectable, .directed]
    }
  }

  /// The command that sets the random address of the advertising set; nil: the set needs none.
  var address: HCI.Command? {
    hasOwnAddress ? .leSetAdvertisingSetRandomAddress(set, randomAddress.value) : nil
  }

  private var hasOwnAddress: Bool {
    isExtended && (ownAddressType == .random || ownAddressType == .resolvableOrRandom)
  }

  /// The maximum duration of high duty cycle advertising in units of 10 ms: 1.28 s · 7.8.56;
  /// Vol 6, Part B, 4.4.2.4.3.
  private static let maximumHighDutyCycleDuration: UInt16 = 128

  /// The maximum number of octets of data in one command · 7.8.54.
  static let maximumFragment = 251
  /// The maximum number of octets of a train's data in one command · 7.8.62.
  static let maximumTrainFragment = 252

  /// Returns true if the commands set advertising data for PDUs of this shape.
  func hasData(_ shape: HostAdvertising.Shape) -> Bool {
    let properties = Self.properties(of: shape)
    if properties.contains(.legacy) { return !isExtended || !properties.contains(.directed) }
    return !properties.contains(.scannable)
  }

  /// Returns true if the commands set a scan response for PDUs of this shape: extended commands do so for scannable
  /// PDUs only.
  func hasScanResponse(_ shape: HostAdvertising.Shape) -> Bool {
    !isExtended || Self.properties(of: shape).contains(.scannable)
  }

  func data(_ content: ByteSlice, from start: Int) -> HCI.Command {
    isExtended
      ? .leSetExtendedAdvertisingData(set, Self.fragment(content, from: start)) : .leSetAdvertisingData(content)
  }

  func scanResponse(_ content: ByteSlice, from start: Int) -> HCI.Command {
    isExtended
      ? .leSetExtendedScanResponseData(set, Self.fragment(content, from: start))
      : .leSetScanResponseData(content)
  }

  private static func fragment(
    _ content: ByteSlice, from start: Int, limit: Int = maximumFragment
  ) -> HCI.AdvertisingDataFragment {
    let rest = content.dropFirst(start)
    let isLast = rest.count <= limit
    let operation: HCI.AdvertisingDataFragment.Operation =
      start == 0 ? isLast ? .complete : .first : isLast ? .last : .intermediate
    return HCI.AdvertisingDataFragment(operation, rest.prefix(limit))
  }

  // MARK: Periodic trains

  func trainParameters(_ shape: HostAdvertising.PeriodicTrain.Shape) -> HCI.Command {
    .leSetPeriodicAdvertisingParameters(
      HCI.PeriodicAdvertisingParameters(
        handle: set, minimumInterval: shape.interval, maximumInterval: shape.interval,
        properties: shape.includesTransmitPower ? .includesTransmitPower : []))
  }

  func trainData(_ content: ByteSlice, from start: Int) -> HCI.Command {
    .leSetPeriodicAdvertisingData(set, Self.fragment(content, from: start, limit: Self.maximumTrainFragment))
  }

  func enableTrain(_ on: Bool) -> HCI.Command { .leSetPeriodicAdvertisingEnable(on ? .enabled : [], set) }

  // MARK: Sets

  /// The command that removes the advertising set with all that it holds; nil: legacy commands have no sets.
  var remove: HCI.Command? { isExtended ? .leRemoveAdvertisingSet(set) : nil }

  /// Returns the command that enables or disables advertising.
  ///
  /// - Parameter shape: The shape of the advertising that is being enabled.
  func enable(_ on: Bool, _ shape: HostAdvertising.Shape? = nil) -> HCI.Command {
    guard isExtended else { return .leSetAdvertisingEnable(on) }
    let isHighDutyCycle = shape.map { Self.properties(of: $0).contains(.highDutyCycle) } ?? false
    let element = HCI.AdvertisingSetEnables.Element(
      set, duration: isHighDutyCycle ? Self.maximumHighDutyCycleDuration : 0)
    return .leSetExtendedAdvertisingEnable(on, HCI.AdvertisingSetEnables([element], in: pool))
  }
}
