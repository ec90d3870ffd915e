import BluetoothWire

/// The fixed properties of a controller.
package struct ControllerConfiguration: Sendable {
  /// The public device address (Read BD_ADDR). If the address is random, the controller has no public address and
  /// starts with this address as its random address.
  package var address: DeviceAddress
  /// A name for logs and tests; it appears neither on the air nor in HCI.
  package var name: String
  /// The transmit power of every packet unless the host sets another one for an advertising set: −20 to +20 dBm. The
  /// controller uses the nearest possible value.
  package var transmitPower = Decibel(0)
  /// The accuracy that the controller claims for its sleep clock, parts per million, 0 to 500.
  package var sleepClockAccuracy = 50
  /// The real error of the sleep clock, parts per billion; positive if its seconds are too long. An honest device
  /// stays within `sleepClockAccuracy`.
  package var sleepClockDrift: Int64 = 0
  /// The number of ACL packets from the host that the controller buffers, over all connections.
  package var aclBufferCount = 64
  /// The longest payload of an ACL packet, octets, 27 to 65,535.
  package var aclBufferLength = 251
  /// The maximum number of simultaneous connections.
  package var connectionLimit = 256
  /// True if connections measure the loss on each channel and exclude channels with high loss.
  package var assessesChannels = true
  /// The minimum number of used channels that a peripheral requests from the central, because of regional or power
  /// rules; nil: no request.
  package var minimumUsedChannels: LL.MinimumUsedChannels?
  /// Company_Identifier of Read Local Version Information; 0xFFFF is for tests and for devices without a
  /// manufacturer.
  package var companyIdentifier: UInt16 = 0xFFFF
  /// HCI_Version and LL Version: Core 5.4.
  package var version: UInt8 = 0x0D
  /// HCI_Subversion and LL Subversion.
  package var subversion: UInt16 = 0x0001

  /// The features that the controller may have. It reports those that it implements, in its features and in its
  /// supported commands, and rejects the rest. All by default.
  package var features = HCI.LEFeatures(rawValue: .max)
  /// The roles that the device supports. All by default.
  package var roles = ControllerRoles.all

  package init(address: DeviceAddress, name: String = "") {
    self.address = address
    self.name = name
  }

  /// The public device address; nil: the device has none.
  var publicAddress: DeviceAddress? { address.kind == .public ? address : nil }

  /// A copy with values limited to what a radio can do, and without features that this link layer does not implement.
  var possible: ControllerConfiguration {
    var result = self
    result.transmitPower = Self.possiblePower(transmitPower)
    result.features.formIntersection(.claimed)
    return result
  }

  /// The range of transmit power, dBm.
  static let minimumPower = Decibel(-20)
  static let maximumPower = Decibel(20)

  /// Returns the possible power that is nearest to `power`.
  static func possiblePower(_ power: Decibel) -> Decibel { min(maximumPower, max(minimumPower, power)) }

  /// Returns the configuration of an accessory of 2010, Bluetooth 4.0: packets of 27 octets, one connection, as
  /// peripheral, and encryption as the only feature.
  package static func bluetooth40Peripheral(address: DeviceAddress, name: String = "") -> ControllerConfiguration {
    var configuration = ControllerConfiguration(address: address, name: name)
    configuration.version = HCI.Version.bluetooth40
    configuration.features = .encryption
    configuration.roles = [.advertiser, .peripheral]
    configuration.connectionLimit = 1
    configuration.aclBufferLength = 27
    configuration.aclBufferCount = 8
    return configuration
  }
}
