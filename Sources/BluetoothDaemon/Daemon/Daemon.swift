// Overview
//
// An operating system has one Bluetooth service for all apps. BluetoothDaemon is the core of one: it lets the sessions
// of any number of apps share one host, hides addresses behind identifiers, asks the user, and keeps bonds.
//
// The idea: a handful of brokers, each with private state: `CentralBroker` with `ScanBroker` and `GATTClientBroker`,
// `PeripheralBroker`, `ChannelBroker`, `BondBroker`, `PermissionBroker`, `NotificationBroker`, `SystemServiceBroker`.
// `Daemon` routes requests and host events to them. What all of them need (the host, the sessions, the peers, the
// links, the events for clients) is the `DaemonContext`, which each call of a broker gets. A `SystemServer` serves
// services of the system, such as those of `Device.serve`; it gets the host with each call.
//
// Callers: a runner drives the daemon: `VirtualDevice` (BluetoothSimulation) in a world, `TransportRunner`
// (BluetoothAdapters) on a transport. CoreBluetooth's managers, and a server's proxies, are clients: they send
// `DaemonRequest`s and get `DaemonEvent`s through their `Session`. The module calls BluetoothHost.
//
// Invariants:
// - Between a client and the daemon only values travel, so that the same daemon serves apps of its own process and of
//   others. The exceptions are memory that both ends share in one process: `SessionCounters` and `ChannelPipe`.
// - The folders use each other in one direction only; `FolderTests` has the table. At the bottom are `Sessions`, the
//   values and memory that the daemon shares with its clients, then `Apps`, `Bonds` and `Prompts`. `Links` has all
//   state that ends with a link, whichever broker changes it. `Context` has the `DaemonContext` with the tables of
//   peers and links. The brokers use only the context and the folders below it, except that `Central` also uses
//   `Scanning`, `GATTClient` and `Channels`, `Peripheral` uses `Channels`, and `NotificationCenter` uses `Security`.
//   `Daemon` routes.
// - An app that does not serve its queue must not make the process grow: Documentation/Contributing/Design.md, "Queues".
//
// Where to begin: `Daemon+Requests.swift` and `Daemon+HostEvents.swift`, then a broker. Rules of a part are at the head
// of its file: `AppTable.swift` (the life of apps), `ChannelPipe.swift`, `PeerIdentifier.swift`, `PromptQueue.swift`,
// `AppQuestions.swift`, `BondManager.swift`.
//
// Specification: none; it behaves as Apple's system does towards apps (Documentation/Differences.md).

import BluetoothCrypto
import BluetoothHost
import BluetoothWire
import DequeModule

/// The Bluetooth daemon of one adapter, the counterpart of an operating system's Bluetooth daemon. It shares the host
/// among sessions, hides addresses behind identifiers, merges advertisements with scan responses, caches the attributes
/// of peers, and routes every answer to the session that requested it.
///
/// The daemon is an engine: its runner passes packets, time and requests to it, then takes packets, events
/// (`takeEvent`) and the next deadline from it. After each delivered event the runner calls `handleRequests` again, so
/// that the daemon handles the calls that an app makes in a callback before time moves on.
///
/// This type only routes. Each broker owns the state of its part and gets the parts that all share, the
/// `DaemonContext`, with each call.
///
/// The type is noncopyable: an accidental copy, made to read one property, costs more than all other work for a packet.
package struct Daemon: ~Copyable {
  var context: DaemonContext
  var centrals = CentralBroker()
  var peripherals = PeripheralBroker()
  var channels = ChannelBroker()
  var bonds: BondBroker
  var permissions: PermissionBroker
  var notifications = NotificationBroker()
  var systemServices = SystemServiceBroker()
  var storing: AppStoring
  /// The key of the identifiers that apps see.
  private let appIdentifierKey: Block
  /// False if the user has switched the adapter off in a former run: the runner then starts with it off.
  package let startsOn: Bool
  /// True from a reset of the network settings until the host is on again: apps see `resetting` all the time.
  var isResetting = false
  private var requests = Deque<DaemonRequest>()
  /// The problems waiting to be logged; the oldest is dropped when there are more than `maximumTroubles`.
  private var troubles: Deque<HostDiagnostic> = []
  private static let maximumTroubles = 32

  /// Creates the daemon of one adapter.
  ///
  /// - Parameters:
  ///   - sessions: the sessions with their queue of requests.
  ///   - directory: the data that apps can read synchronously; only the daemon writes them.
  ///   - random: the random generator of peers' identifiers if there is no `identityKey`.
  ///   - prompts: the interface that asks the user.
  ///   - identityKey: a key that is the same in every run of the adapter. Peers' identifiers are derived from it
  ///     instead of `random`, so they are the same in all runs.
  ///   - identifierGeneration: the number of times that the user has reset the identifiers in former runs.
  ///   - bonds: the bond store.
  ///   - app: the name of the app for which the user must give permission before any app may use the adapter; nil: all
  ///     apps may use it.
  ///   - asksForApps: true if the user must give permission for each app with a life of its own.
  ///   - shares: the shares of the adapter that each app can have.
  ///   - policy: the behavior of the platform.
  ///   - storesApps: true if preserved sessions outlive the daemon: they are stored with the bonds.
  ///   - startsOn: false if the user has switched the adapter off in a former run.
  package init(
    host: Host, sessions: LocalSessions, directory: PeerDirectory, random: RandomStream,
    identityKey: Block? = nil, identifierGeneration: UInt32 = 0, prompts: any Prompts = AutomaticPrompts(),
    bonds: any BondStore = MemoryBondStore(), app: String? = nil, asksForApps: Bool = false,
    shares: AppShares = AppShares(), policy: PlatformPolicy = .macos, storesApps: Bool = false,
    startsOn: Bool = true
  ) {
    let peers = PeerTable(
      identifiers: identityKey.map { RandomStream(identifiersOf: $0) } ?? random.split("identifiers"),
      generation: identifierGeneration, directory: directory)
    context = DaemonContext(
      host: host, sessions: sessions, directory: directory, peers: peers, prompts: prompts, shares: shares,
      policy: policy)
    var keys = random.split("app identifiers")
    appIdentifierKey = identityKey ?? Block(high: keys.next(), low: keys.next())
    self.startsOn = startsOn
    self.bonds = BondBroker(bonds)
    permissions = PermissionBroker(app: app, asksForApps: asksForApps)
    storing = AppStoring(isOn: storesApps)
    self.bonds.recallBonds(&context)
    permissions.recallAccess(&self.bonds, &context)
    recallApps()
  }

  /// The adapter's state. It is unknown until the host first reports its own state.
  package var state: AdapterState { permissions.state }

  // MARK: Inputs and outputs

  /// Calls `body` with the host. The daemon handles the host's events at its next input.
  package mutating func withHost(_ body: (inout Host) -> Void) { body(&context.host) }

  /// The time of the next call of `timeReached`; nil: no timer is running.
  ///
  /// Read-only; `mutating` avoids copying the links.
  package var deadline: Instant? {
    mutating get {
      let below = earliest(earliest(context.host.deadline, context.prompts.deadline), context.channelDeadline)
      let links = earliest(earliest(context.idleDeadline, context.inputDevices.deadline), centrals.deadline)
      let apps = earliest(earliest(context.apps.deadline, peripherals.deadline), storingDeadline)
      return earliest(earliest(below, links), earliest(apps, systemServices.deadline))
    }
  }

  /// Handles a packet from the controller.
  package mutating func receive(_ packet: HCI.Packet, at now: Instant) {
    context.host.receive(packet, at: now)
    takeHostEvents(at: now)
  }

  package mutating func timeReached(_ now: Instant) {
    if let deadline = context.host.deadline, deadline <= now { context.host.timeReached(now) }
    takeHostEvents(at: now)
    centrals.timeReached(now, &context)
    channels.closeLateChannels(at: now, &context)
    centrals.reportHeldSightings(at: now, &context)
    peripherals.timeReached(now, &context)
    systemServices.timeReached(now, &context)
    suspendApps(at: now)
    context.endIdleLinks(at: now)
    takeHostEvents(at: now)
  }

  /// Switches the adapter on or off, as its user does. Switching the adapter off immediately ends the scans,
  /// connections, advertising and services of all apps.
  package mutating func setPower(_ on: Bool, at now: Instant) {
    isResetting = false
    // Report the state change before the host reports the ends of its links, so that apps get only the state change.
    if !on { become(.poweredOff, at: now) }
    context.host.setPower(on, at: now)
    removeDropped(at: now)
    takeHostEvents(at: now)
  }

  /// Resets the network settings, as the user of a phone does: forgets all bonds, and gives all peers new identifiers
  /// for all apps, in this run and in later ones. Apps see `resetting` and then the former state, so that their scans,
  /// links, services and peripherals are gone. Their permissions stay.
  package mutating func resetNetworkSettings(at now: Instant) { reset(forgettingBonds: true, at: now) }

  /// Gives all peers new identifiers, as `resetNetworkSettings` does, and keeps the bonds.
  package mutating func resetIdentifiers(at now: Instant) { reset(forgettingBonds: false, at: now) }

  private mutating func reset(forgettingBonds: Bool, at now: Instant) {
    let former = state
    let isPowered = former == .poweredOn
    if isPowered || former == .poweredOff { become(.resetting, at: now) }
    if isPowered {
      isResetting = true
      context.host.setPower(false, at: now)
      removeDropped(at: now)
    }
    if forgettingBonds { for record in bonds.records { bonds.forget(record.identity, at: now, &context) } }
    context.peers.resetIdentifiers()
    bonds.updateIdentifiers(at: now, &context)
    context.directory.forgetIdentifiersOfApps()
    bonds.keepIdentifierGeneration(context.peers.generation)
    if isPowered { context.host.setPower(true, at: now) }
    if former == .poweredOff { become(.poweredOff, at: now) }
    takeHostEvents(at: now)
  }

  /// Reports that the transport to the controller is available or lost. All operations of apps end when the transport
  /// is lost; apps must start them again when it is back.
  package mutating func setTransport(_ state: TransportState, at now: Instant) {
    context.host.setTransport(state, at: now)
    takeHostEvents(at: now)
  }

  /// True if the controller does not work and its transport must be opened again: see `Host.needsNewTransport`.
  package var needsNewTransport: Bool { context.host.needsNewTransport }

  /// Reports that packet boundaries in the controller's byte stream have been lost.
  package mutating func synchronizationLost(at now: Instant) {
    context.host.synchronizationLost(at: now)
    takeHostEvents(at: now)
  }

  /// Handles the requests that clients have sent since the last call; calls `note` for each request before handling it.
  package mutating func handleRequests(at now: Instant, _ note: (DaemonRequest) -> Void = { _ in }) {
    if context.prompts.hasOpenQuestions {
      context.prompts.collect(at: now)
      takeHostEvents(at: now)
    }
    context.releaseLinks()
    while true {
      context.sessions.requests.takeAll(&requests)
      guard !requests.isEmpty else { return }
      while let request = requests.popFirst() {
        note(request)
        handle(request, at: now)
        handleReleasedCommands(at: now)
      }
      takeHostEvents(at: now)
    }
  }

  /// Removes and returns the next packet for the controller.
  package mutating func takePacket() -> HCI.Packet? { context.host.takePacket() }

  /// True if `takeEvent` returns an event.
  package var hasEvents: Bool { context.hasEvents }

  /// Removes and returns the next event for a client. The caller delivers it (`LocalSessions.deliver`) before it takes
  /// the next one.
  package mutating func takeEvent() -> DaemonEvent? { context.takeEvent() }

  /// True if `takeAlert`, `takeTrouble` or `takeNotes` returns something.
  package var hasReports: Bool {
    !troubles.isEmpty || !context.alerts.isEmpty || hasNotes
  }

  /// Removes and returns the next problem for the log.
  package mutating func takeTrouble() -> HostDiagnostic? { troubles.popFirst() }

  /// Keeps a problem for the log.
  mutating func note(_ trouble: HostDiagnostic) {
    if troubles.count == Self.maximumTroubles { troubles.removeFirst() }
    troubles.append(trouble)
  }

  /// Removes and returns the next alert for the user.
  package mutating func takeAlert() -> Alert? { context.takeAlert() }

  private var hasNotes: Bool {
    bonds.hasNotes || context.backlogs.hasNotes || context.policyNotes.hasNotes || !context.limitNotes.isEmpty
  }

  /// Removes and returns the lines about bonds, blocked apps, the platform's rules and limits for the log.
  package mutating func takeNotes() -> [String] {
    guard hasNotes else { return [] }
    return bonds.takeNotes() + context.backlogs.takeNotes() + context.policyNotes.takeNotes()
      + context.limitNotes.take()
  }

  /// True if the result of `takeHeldLinks` has changed.
  package var heldLinksChanged: Bool {
    context.backlogs.heldLinksChanged || context.policy.linkDataRate != nil && context.host.pacedLinksChanged
  }

  /// Returns the links from which the controller must accept no data now.
  package mutating func takeHeldLinks() -> [HCI.ConnectionHandle] { context.takeHeldLinks() }

  // MARK: Apps

  /// Returns the app with this name, adding it as terminated if it is new; nil: there are too many apps.
  mutating func app(named name: String) -> AppIndex? {
    if context.apps.isEmpty { prepareForApps() }
    return context.apps.enter(name)
  }

  /// Lets the directory have the identifiers of apps.
  func prepareForApps() {
    context.directory.prepareForApps(identifierKey: appIdentifierKey, access: permissions.accessOfNewApps)
  }

  // MARK: Notifications

  /// The time of the adapter's time zero in seconds since 2001-01-01 00:00:00 UTC, for the dates of notifications; nil:
  /// unknown.
  package var timeOfZero: Int64? {
    get { notifications.timeOfZero }
    set { notifications.timeOfZero = newValue }
  }

  /// The notifications that accessories get, oldest first.
  package var systemNotifications: [SystemNotification] { notifications.notifications }

  /// The actions on notifications that accessories have performed, oldest first.
  package var notificationActions: [NotificationAction] { notifications.actions }

  /// Adds a notification, or replaces the one with the same identifier.
  package mutating func post(_ notification: SystemNotification, at now: Instant) {
    notifications.post(notification, at: now, &context)
    takeHostEvents(at: now)
  }

  /// Removes a notification.
  package mutating func removeNotification(_ identifier: String, at now: Instant) {
    notifications.remove(identifier, at: now, &context)
    takeHostEvents(at: now)
  }

  /// Allows or denies a bonded accessory to get notifications, as the user does in the settings.
  package mutating func setNotificationSharing(_ isAllowed: Bool, with identity: DeviceAddress, at now: Instant) {
    notifications.setSharing(isAllowed, with: identity, at: now, &bonds, &context)
    takeHostEvents(at: now)
  }

  // MARK: Services of the system

  /// Adds a server of services that the system itself provides.
  package mutating func serve(_ server: any SystemServer, at now: Instant) {
    systemServices.add(server, isOn: state == .poweredOn, at: now, &context)
    takeHostEvents(at: now)
  }

  /// Calls `body`, which changes values of such a server, with the host, and handles the events that follow.
  package mutating func changeServices(at now: Instant, _ body: (inout Host) -> Void) {
    body(&context.host)
    takeHostEvents(at: now)
  }

  // MARK: Bonds

  /// All bonds, oldest first.
  package var bondRecords: [BondRecord] { bonds.records }

  /// Forgets a device: its keys and all other stored data about it. Its link ends.
  package mutating func forget(_ identity: DeviceAddress, at now: Instant) {
    bonds.forget(identity, at: now, &context)
    takeHostEvents(at: now)
  }

  /// Imports a bond from another source, in place of an existing bond with the same device. Apps that know the device
  /// still know it by the same identifier. A failure to store the bond is logged.
  package mutating func take(_ record: BondRecord, at now: Instant) {
    bonds.take(record, at: now, &context)
    takeHostEvents(at: now)
  }

  /// True if other programs can change the bonds: `takeStoreChanges` must then be called from time to time.
  package var hasSharedBonds: Bool { bonds.isShared }

  /// Applies the changes that other programs have made: ends the links to forgotten devices; uses new bonds from the
  /// next link on.
  package mutating func takeStoreChanges(at now: Instant) {
    guard bonds.takeStoreChanges(at: now, &context) else { return }
    takeHostEvents(at: now)
    bonds.acknowledgeChanges()
  }
}
