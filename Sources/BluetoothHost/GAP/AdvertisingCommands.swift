import BluetoothWire

/// The commands that have a controller advertise on the legacy PDUs, as the older or the newer ones have them.
///
/// A controller takes one kind or the other, until it is reset · Vol 4, Part E, 3.1.1.
struct AdvertisingCommands {
  /// The extended ones.
  let isExtended: Bool
  let ownAddressType: HCI.OwnAddressType
  /// The device's random static address.
  let randomAddress: DeviceAddress
  /// Units of 0.625 ms, where nobody asks for another.
  let interval: UInt16
  let pool: PacketPool

  /// The one set that extended commands are about.
  private static let set = HCI.AdvertisingHandle(rawValue: 0)

  func parameters(_ shape: HostAdvertising.Shape) -> HCI.Command {
    let interval = shape.interval ?? interval
    guard isExtended else {
      return .leSetAdvertisingParameters(
        HCI.AdvertisingParameters(
          minimumInterval: interval, maximumInterval: interval, type: shape.type, ownAddressType: ownAddressType,
          peer: Self.peer(shape), channelMap: shape.channelMap))
    }
    return .leSetExtendedAdvertisingParameters(
      HCI.ExtendedAdvertisingParameters(
        handle: Self.set, properties: Self.properties(of: shape.type), minimumInterval: UInt32(interval),
        maximumInterval: UInt32(interval), channelMap: shape.channelMap, ownAddressType: ownAddressType,
        peer: Self.peer(shape), transmitPower: shape.transmitPower ?? HCI.ExtendedAdvertisingParameters.anyTransmitPower
      ))
  }

  private static func peer(_ shape: HostAdvertising.Shape) -> HCI.PeerAddress {
    shape.target.map { HCI.PeerAddress($0) } ?? HCI.PeerAddress(type: 0, value: 0)
  }

  /// Vol 4, Part E, 7.8.53.
  private static func properties(
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

  /// A set has a random address of its own; nil: none is needed.
  var address: HCI.Command? {
    isExtended && ownAddressType == .random ? .leSetAdvertisingSetRandomAddress(Self.set, randomAddress.value) : nil
  }

  /// nil: such PDUs carry none.
  func data(_ advertising: HostAdvertising) -> HCI.Command? {
    guard isExtended else { return .leSetAdvertisingData(advertising.data) }
    guard !Self.properties(of: advertising.shape.type).contains(.directed) else { return nil }
    return .leSetExtendedAdvertisingData(Self.set, HCI.AdvertisingDataFragment(.complete, advertising.data))
  }

  /// nil: nobody can ask for it.
  func scanResponse(_ advertising: HostAdvertising) -> HCI.Command? {
    guard isExtended else { return .leSetScanResponseData(advertising.scanResponse) }
    guard Self.properties(of: advertising.shape.type).contains(.scannable) else { return nil }
    return .leSetExtendedScanResponseData(
      Self.set, HCI.AdvertisingDataFragment(.complete, advertising.scanResponse))
  }

  func enable(_ on: Bool) -> HCI.Command {
    guard isExtended else { return .leSetAdvertisingEnable(on) }
    return .leSetExtendedAdvertisingEnable(
      on, HCI.AdvertisingSetEnables([HCI.AdvertisingSetEnables.Element(Self.set)], in: pool))
  }
}

extension Host {
  var advertisingCommands: AdvertisingCommands {
    AdvertisingCommands(
      isExtended: configuration.advertisesWithExtendedCommands && controller.leFeatures.contains(.extendedAdvertising),
      ownAddressType: controller.ownAddressType, randomAddress: address, interval: configuration.advertisingInterval,
      pool: pool)
  }
}
