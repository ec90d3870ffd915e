// Overview
//
// The host is everything between HCI and the services of an app: GAP, GATT, ATT, the Security Manager and L2CAP.
// BluetoothHost is one for both roles and any number of links, on one controller of any kind.
//
// The idea: `Host` only passes its input on. Each of its parts owns its state, and takes what it needs of the others
// `inout`:
// - `ControllerDriver` has the controller: power, transport, initialization, recovery, and the queues of commands and
//   packets. It knows nothing about links. Where an event concerns them, it returns an `Outcome`, and `Host` applies it
//   to the other parts.
// - `GAP` has advertising, scanning, connecting, and this device's addresses.
// - `LinkTable` has the links, finds them by their handles, and shares the controller's buffers among them. A
//   `HostLink` has all that belongs to one link, from the ATT bearer to the Security Manager.
// - `HostContext` has what all links use: the driver, the bonds (`HostSecurity`), the local database and what outlives
//   links (`GATTServerStore`), and the queue of events (`HostOutput`).
//
// Callers: BluetoothDaemon's `DaemonContext` owns the host of a system, BluetoothLab's accessories own one without a
// daemon. The host calls BluetoothCrypto and BluetoothWire only.
//
// Invariants:
// - An engine: no clock, socket, thread or file; time and the key generator are arguments.
// - The folders use each other in one direction only; `FolderTests` has the table. At the bottom are `Interface`, the
//   values that pass between the host and the layer above, and `Privacy`, this device's private addresses and the
//   resolution of peers' addresses. On them rest the protocols (`ATT`, `SMP`, `HCI`, `L2CAP`, `GATT`), which do not
//   know the host's state. `Context` puts their shared state together for `GAP` and `Links`, and `Host` routes.
// - A peer, or a controller, that misbehaves costs itself: what it can make grow is bounded, and each wait has an end.
//
// Where to begin: `Host+Events.swift`, then the part that you look for. The rules of a part are at the head of its
// file: `Startup.swift` and `Recovery.swift` (HCI), `GAP.swift`, `CreditChannels.swift` (L2CAP),
// `SecurityManager.swift` and `HostLink+Security.swift`, `GATTServer.swift`, `RemoteDatabase.swift` and
// `GATTRequestQueue.swift`, `OwnAddress.swift`.
//
// Specification: Vol 3 (Part A: L2CAP, C: GAP, F: ATT, G: GATT, H: Security Manager); Vol 4, Part E (HCI).

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
