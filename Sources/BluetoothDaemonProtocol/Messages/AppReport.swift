import BluetoothDaemon
import BluetoothWire

/// An app of a server, for a list for people.
package struct AppDescription: Hashable, Sendable {
  package var name: String
  /// The name of the adapter.
  package var adapter: String
  package var state: AppRunState
  /// The numbers of its processes.
  package var processes: [UInt32]
  /// The number of its sessions.
  package var sessions: UInt32
  package var access: AppAccess
  /// True if the server has a command that launches the app.
  package var isLaunchable: Bool
  /// The open question for permission: the app's own description of its use, which may be empty; nil: none is open.
  package var question: String?

  package init(
    name: String, adapter: String, state: AppRunState, processes: [UInt32], sessions: UInt32, access: AppAccess,
    isLaunchable: Bool, question: String? = nil
  ) {
    self.name = name
    self.adapter = adapter
    self.state = state
    self.processes = processes
    self.sessions = sessions
    self.access = access
    self.isLaunchable = isLaunchable
    self.question = question
  }
}

/// An alert to the user, for a list for people.
package struct AlertDescription: Hashable, Sendable {
  /// The number of the alert, counted from 1 over all adapters of the server.
  package var number: UInt64
  /// The time in milliseconds since 1970-01-01 00:00:00 UTC.
  package var time: Int64
  package var app: String
  package var text: String

  package init(number: UInt64, time: Int64, app: String, text: String) {
    self.number = number
    self.time = time
    self.app = app
    self.text = text
  }
}

/// An HCI packet of a monitored adapter.
package struct MonitoredPacket: Hashable, Sendable {
  /// The number of packets before this one that the client has missed because it reads too slowly.
  package var missed: UInt32
  /// The time in nanoseconds since 1970-01-01 00:00:00 UTC.
  package var time: Int64
  package var isFromHost: Bool
  /// The packet in H4 form, with zeros in place of keys.
  package var octets: ByteSlice

  package init(missed: UInt32 = 0, time: Int64, isFromHost: Bool, octets: ByteSlice) {
    self.missed = missed
    self.time = time
    self.isFromHost = isFromHost
    self.octets = octets
  }
}

/// A message from a server that belongs to no session: to an app about itself, or to the command line.
package enum AppReport: Hashable, Sendable {
  /// The state of the app has changed.
  case stateChanged(AppRunState)
  /// The app must end. `byUser`: its user has ended it; otherwise the system has stopped it.
  case stop(String, byUser: Bool)
  case apps([AppDescription])
  /// The request has been carried out; otherwise the reason why not.
  case done(failure: String?)
  case alerts([AlertDescription])
  /// The uses of the peers that a question means; empty: no peer is meant.
  case links([PeerUsage])
  /// A packet of the adapter that the client monitors.
  case packet(MonitoredPacket)
}

extension AppReport: MessageGroup {
  struct Rows {
    let stateChanged = MessageRow(0x1300, "stateChanged", "the state of this app", AppReport.stateChanged, "state")
    let stop = MessageRow(
      0x1301, "stop", "the program must end", AppReport.stop, "reason", "the user has ended the app")
    let apps = MessageRow(0x1310, "apps", "the answer to `listApps`", AppReport.apps, "apps")
    let done = MessageRow(
      0x1311, "done", "a request has been carried out", AppReport.done, "the reason why it has not")
    let alerts = MessageRow(0x1312, "alerts", "alerts to the user", AppReport.alerts, "alerts")
    let links = MessageRow(0x1313, "links", "the answer to `explain`; empty: no such peer", AppReport.links, "uses")
    let packet = MessageRow(0x1314, "packet", "a packet of the monitored adapter", AppReport.packet, "packet")
  }

  static let rows = Rows()
  static let table = RowTable<AppReport>(of: rows)

  func encode(into writer: inout MessageWriter) {
    let rows = Self.rows
    switch self {
    case .stateChanged(let state): rows.stateChanged.encode(state, into: &writer)
    case .stop(let reason, let byUser): rows.stop.encode(reason, byUser, into: &writer)
    case .apps(let apps): rows.apps.encode(apps, into: &writer)
    case .done(let failure): rows.done.encode(failure, into: &writer)
    case .alerts(let alerts): rows.alerts.encode(alerts, into: &writer)
    case .links(let links): rows.links.encode(links, into: &writer)
    case .packet(let packet): rows.packet.encode(packet, into: &writer)
    }
  }
}

// MARK: Structures

extension AppDescription: MessageStructure {
  static var blank: AppDescription {
    AppDescription(
      name: "", adapter: "", state: .terminated, processes: [], sessions: 0, access: .undetermined, isLaunchable: false)
  }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("name", &name)
    try visitor.field("adapter", &adapter)
    try visitor.field("state", &state)
    try visitor.field("numbers of its processes", &processes)
    try visitor.field("number of its sessions", &sessions)
    try visitor.field("permission", &access)
    try visitor.field("an event can launch it", &isLaunchable)
    try visitor.field("open question for permission", &question)
  }
}

extension AlertDescription: MessageStructure {
  static var blank: AlertDescription { AlertDescription(number: 0, time: 0, app: "", text: "") }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("number", &number)
    try visitor.field("milliseconds since 1970", &time)
    try visitor.field("app", &app)
    try visitor.field("text", &text)
  }
}

extension MonitoredPacket: MessageStructure {
  static var blank: MonitoredPacket { MonitoredPacket(time: 0, isFromHost: false, octets: ByteSlice()) }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("packets that the client has missed before it", &missed)
    try visitor.field("nanoseconds since 1970", &time)
    try visitor.field("from the host", &isFromHost)
    try visitor.field("packet in H4 form, with zeros in place of keys", &octets, as: PacketOctets.self)
  }
}

extension PeerUsage: MessageStructure {
  static var blank: PeerUsage {
    PeerUsage(
      identifier: .blank, address: DeviceAddress(0, .public), name: nil, isLinked: false, isEnding: false, users: [])
  }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("identifier", &identifier)
    try visitor.field("address", &address)
    try visitor.field("name", &name)
    try visitor.field("there is a link", &isLinked)
    try visitor.field("the link is ending", &isEnding)
    try visitor.field("apps that use the peer", &users)
    try visitor.field("apps that the peer uses", &served)
  }
}

extension PeerUsage.User: MessageStructure {
  static var blank: PeerUsage.User {
    PeerUsage.User(app: nil, phase: .delayed, isPreserved: false, reconnects: false, isBlocked: false)
  }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("app", &app)
    try visitor.field("phase", &phase)
    try visitor.field("preserved", &isPreserved)
    try visitor.field("re-establishes a lost link", &reconnects)
    try visitor.field("blocked", &isBlocked)
    try visitor.field("pending procedures", &pending)
  }
}

extension PeerUsage.Served: MessageStructure {
  static var blank: PeerUsage.Served { PeerUsage.Served(app: nil, subscriptions: [], pending: []) }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("app", &app)
    try visitor.field("subscriptions", &subscriptions)
    try visitor.field("pending requests", &pending)
  }
}

extension PeerUsage.Pending: MessageStructure {
  static var blank: PeerUsage.Pending { PeerUsage.Pending(.read, of: nil, milliseconds: 0) }

  mutating func visit<Visitor: FieldVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
    try visitor.field("procedure", &procedure)
    try visitor.field("attribute", &attribute)
    try visitor.field("milliseconds", &milliseconds)
  }
}

extension PeerUsage.Phase: MessageEnumeration {
  static var cases: [PeerUsage.Phase] { [.delayed, .connecting, .connected, .disconnecting] }

  var number: UInt8 {
    switch self {
    case .delayed: 0
    case .connecting: 1
    case .connected: 2
    case .disconnecting: 3
    }
  }
}

extension PeerUsage.Pending.Procedure: MessageEnumeration {
  static var cases: [PeerUsage.Pending.Procedure] { [.read, .write, .writeWithoutResponse, .discovery] }

  var number: UInt8 {
    switch self {
    case .read: 0
    case .write: 1
    case .writeWithoutResponse: 2
    case .discovery: 3
    }
  }
}
