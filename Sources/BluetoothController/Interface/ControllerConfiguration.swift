import BluetoothWire

/// What a controller is made with.
package struct ControllerConfiguration: Sendable {
  /// The public device address (Read BD_ADDR). A random kind is taken for what it is: the controller then has no public
  /// address and starts with this one as its random address.
  package var address: DeviceAddress
  /// For logs and tests; nothing on the air or in HCI carries it.
  package var name: String
  /// What every packet is sent with unless the host wants another power for a set: −20 to +20 dBm. A controller takes what is
  /// nearest.
  package var transmitPower = Decibel(0)
  /// The accuracy that the controller claims for its sleep clock, parts per million, 0 to 500.
  package var sleepClockAccuracy = 50
  /// How much longer the seconds of the sleep clock really are, parts per billion: within `sleepClockAccuracy` for an honest
  /// device.
  package var sleepClockDrift: Int64 = 0
  /// How many ACL packets of the host's the controller holds, over all connections.
  package var aclBufferCount = 64
  /// The longest payload of an ACL packet, octets, 27 to 65,535.
  package var aclBufferLength = 251
  /// How many connections can exist at once.
  package var connectionLimit = 256
  /// Whether connections measure how much is lost on each channel, and leave out those that lose much.
  package var assessesChannels = true
  /// What a peripheral asks of the central, because rules of its place or its power ask it of the peripheral; nil: nothing.
  package var minimumUsedChannels: LL.MinimumUsedChannels?
  /// Company_Identifier of Read Local Version Information; 0xFFFF is for tests and for what no company makes.
  package var companyIdentifier: UInt16 = 0xFFFF
  /// HCI_Version and LL Version: Core 5.4.
  package var version: UInt8 = 0x0D
  /// HCI_Subversion and LL Subversion.
  package var subversion: UInt16 = 0x0001

  /// What the controller may have: of these it claims, in its features and in its supported commands, what it serves, and
  /// refuses the rest. All by default.
  package var features = HCI.LEFeatures(rawValue: .max)
  /// What the device can be. All by default.
  package var roles = ControllerRoles.all

  /// Values of `version` · Assigned Numbers, 2.1.
  package static let version40: UInt8 = 0x06
  package static let version42: UInt8 = 0x08
  package static let version50: UInt8 = 0x09
  package static let version51: UInt8 = 0x0A

  package init(address: DeviceAddress, name: String = "") {
    self.address = address
    self.name = name
  }

  /// The same, with what no radio can be taken to what is nearest, and without features that this link layer does not have.
  var possible: ControllerConfiguration {
    var result = self
    result.transmitPower = AdvertisingProperties.possiblePower(transmitPower)
    result.features.formIntersection(.claimed)
    return result
  }

  /// An accessory of 2010, Bluetooth 4.0: packets of 27 octets, one connection, in which it is the peripheral; of the
  /// features there is encryption only.
  package static func bluetooth40Peripheral(address: DeviceAddress, name: String = "") -> ControllerConfiguration {
    var configuration = ControllerConfiguration(address: address, name: name)
    configuration.version = version40
    configuration.features = .encryption
    configuration.roles = [.advertiser, .peripheral]
    configuration.connectionLimit = 1
    configuration.aclBufferLength = 27
    configuration.aclBufferCount = 8
    return configuration
  }
}
