import BluetoothCrypto
import BluetoothWire

/// The host of one adapter · Vol 1, Part A, 2: GAP, GATT, ATT and L2CAP above one controller.
///
/// The owner moves packets between the host and the controller, calls it with the current time, and takes its events.
/// The host itself only passes its input on to its parts: `GAP`, the table of links, and the `HostContext` that the
/// links share.
package struct Host {
  /// The memory pool for all packets of this adapter.
  package let pool: PacketPool
  /// The device's random static address. It identifies the device whatever address the device uses on the air
  /// · Vol 6, Part B, 1.3.2.1.
  package let address: DeviceAddress

  var gap: GAP
  var table = LinkTable()
  var context: HostContext

  package init(configuration: HostConfiguration, random: RandomStream, pool: PacketPool) {
    self.pool = pool
    var generator = random.split("address")
    address = configuration.address ?? .randomStatic(using: &generator)
    var keys = configuration.keyGenerator(else: random.split("identity key"))
    let key = configuration.identityKey ?? Block(high: keys.next(), low: keys.next())
    gap = GAP(
      ownAddress: OwnAddress(
        identity: address, key: configuration.usesPrivateAddresses ? IdentityResolvingKey(key) : nil,
        lifetime: .seconds(Int64(max(1, configuration.privateAddressTimeout))),
        generator: configuration.keyGenerator(else: random.split("private address"))))
    context = HostContext(
      configuration: configuration, pool: pool, address: address, controller: ControllerDriver(configuration),
      security: HostSecurity(
        SecurityContext(
          policy: configuration.pairing, identity: address, identityKey: key,
          generator: configuration.keyGenerator(else: random.split("security")))),
      server: GATTServerStore(
        database: GATTDatabase(
          deviceName: configuration.deviceName, appearance: configuration.appearance,
          firstHandle: configuration.firstHandle)))
  }

  /// The controller's BD_ADDR; nil: the controller has none, or the host has not read it yet.
  package var publicAddress: DeviceAddress? { context.controller.capabilities.publicAddress }
  /// Counters of invalid, unexpected and discarded input.
  package var metrics: HostMetrics { context.output.metrics }
  /// True if this host scans for extended advertising and connects to it.
  package var supportsExtendedScanAndConnect: Bool { context.controller.usesExtendedCommands }
  /// True if the controller makes and resolves private addresses · Vol 6, Part B, 6.
  package var supportsPrivacy: Bool { context.controller.capabilities.leFeatures.contains(.llPrivacy) }
  /// True if the result of `takePacedLinks` has changed.
  package var pacedLinksChanged: Bool { context.pacedLinksChanged }
  /// The links that `connected` has reported, in the order of their creation.
  package var links: [Link] { table.all.filter { $0.visibility == .reported }.map(\.link) }

  /// Returns the links whose peers have sent more than the data rate of the configuration allows: the controller must
  /// accept no data from them now.
  package mutating func takePacedLinks() -> [HCI.ConnectionHandle] {
    context.pacedLinksChanged = false
    return table.all.filter { $0.pace?.isHeld == true }.map(\.link.handle)
  }

  // MARK: Packets and time

  /// The next instant at which `timeReached` must be called; nil: none.
  ///
  /// Read-only; `mutating` avoids copying the links.
  package var deadline: Instant? {
    mutating get {
      let result = earliest(earliest(context.controller.deadline, gap.deadline), table.deadline)
      return context.nameDiscoveries.isEmpty ? result : earliest(result, context.nameDiscoveries.deadline)
    }
  }

  /// Processes a packet of the controller. The content may be arbitrary.
  package mutating func receive(_ packet: HCI.Packet, at now: Instant) {
    context.controller.lastArrival = now
    switch packet {
    case .acl(let data): table.receive(data, &context, at: now)
    case .event(let code, let parameters):
      guard let event = try? HCI.Event(code: code, parameters: parameters) else {
        context.output.metrics.malformedEvents += 1
        return
      }
      receive(event, at: now)
    case .command: context.output.metrics.unexpectedPackets += 1
    }
    settle(at: now)
  }

  package mutating func timeReached(_ now: Instant) {
    perform(context.controller.timeReached(&gap.ownAddress, &context.output, at: now), at: now)
    gap.timeReached(now, &context.output)
    table.timeReached(now, &gap, &context)
    settle(at: now)
  }

  /// Removes and returns the next packet for the controller.
  package mutating func takePacket() -> HCI.Packet? { context.controller.takePacket() }
  /// Removes and returns the next event for the upper layer.
  package mutating func takeEvent() -> HostEvent? { context.output.takeEvent() }

  /// Starts the work that has become possible. Called at the end of every input.
  mutating func settle(at now: Instant) {
    if !context.nameDiscoveries.isEmpty { table.continueNameDiscoveries(&gap, &context, at: now) }
    if context.security.hasNewIdentities { gap.bondsChanged(&context) }
    if gap.hasWork { gap.chooseCommands(&context, at: now) }
    context.controller.sendCommands(pool, at: now)
    table.sendData(&context, at: now)
  }
}
