import BluetoothWire

/// The parts of a host that all of its links use: the controller, security, the GATT server's state, and the output.
///
/// Links take it `inout` even where they only read: passing it by value would copy it.
struct HostContext {
  let configuration: HostConfiguration
  /// The memory pool for all packets of this adapter.
  let pool: PacketPool
  /// The device's random static address.
  let address: DeviceAddress
  var controller: ControllerDriver
  var security: HostSecurity
  var server: GATTServerStore
  var listeners = ChannelListeners()
  var nameDiscoveries = NameDiscoveries()
  var output = HostOutput()
  /// True if the upper layer wants `linkChanged`.
  var reportsLinkChanges = false
  /// True if the links that `linkDataRate` holds have changed since the upper layer has last asked.
  var pacedLinksChanged = false
  /// True if any link may have data to send; false only if no link has any.
  var isReady = false

  /// The address that this device uses when it does not use a private address.
  @inline(__always)
  var ownIdentity: DeviceAddress {
    controller.capabilities.ownAddressType == .public || configuration.usesPublicAddress
      ? controller.capabilities.publicAddress ?? address : address
  }

  /// Reports that the properties of a link have changed, if the upper layer wants to know.
  mutating func tellLinkChanged(_ handle: HCI.ConnectionHandle) {
    if reportsLinkChanges { output.tell(.linkChanged(handle)) }
  }
}
