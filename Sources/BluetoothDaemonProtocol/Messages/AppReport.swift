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

  var type: AppReportType {
    switch self {
    case .stateChanged: .stateChanged
    case .stop: .stop
    case .apps: .apps
    case .done: .done
    case .alerts: .alerts
    case .links: .links
    case .packet: .packet
    }
  }

  func encode(into writer: inout MessageWriter) {
    switch self {
    case .stateChanged(let state): writer.append(state)
    case .stop(let reason, let byUser):
      writer.append(reason)
      writer.append(byUser)
    case .apps(let apps): writer.append(list: apps) { $0.append($1) }
    case .done(let failure): writer.append(optional: failure) { $0.append($1) }
    case .alerts(let alerts): writer.append(list: alerts) { $0.append($1) }
    case .links(let links): writer.append(list: links) { $0.append($1) }
    case .packet(let packet):
      writer.append(packet.missed)
      writer.append(packet.time)
      writer.append(packet.isFromHost)
      writer.append(packet.octets)
    }
  }

  init(_ type: AppReportType, from reader: inout MessageReader) throws(DecodingError) {
    switch type {
    case .stateChanged: self = .stateChanged(try reader.runState())
    case .stop:
      let reason = try reader.text()
      self = .stop(reason, byUser: try reader.bool())
    case .apps: self = .apps(try reader.list { (reader) throws(DecodingError) in try reader.appDescription() })
    case .done: self = .done(failure: try reader.name())
    case .alerts: self = .alerts(try reader.list { (reader) throws(DecodingError) in try reader.alertDescription() })
    case .links: self = .links(try reader.list { (reader) throws(DecodingError) in try reader.peerUsage() })
    case .packet:
      let missed = try reader.uint32()
      let time = try reader.int64()
      let isFromHost = try reader.bool()
      self = .packet(
        MonitoredPacket(
          missed: missed, time: time, isFromHost: isFromHost,
          octets: try reader.slice(atMost: DaemonProtocol.maximumPacketLength)))
    }
  }
}

/// The numbers of the cases of `AppRunState`.
private enum RunStateNumber: UInt8 { case foreground, background, suspended, terminated }

/// The numbers of the cases of `PeerUsage.Phase`.
private enum PhaseNumber: UInt8 { case delayed, connecting, connected, disconnecting }

/// The numbers of the cases of `PeerUsage.Pending.Procedure`.
private enum ProcedureNumber: UInt8 { case read, write, writeWithoutResponse, discovery }

extension MessageWriter {
  fileprivate mutating func append(_ state: AppRunState) {
    switch state {
    case .foreground: put(RunStateNumber.foreground)
    case .background: put(RunStateNumber.background)
    case .suspended: put(RunStateNumber.suspended)
    case .terminated: put(RunStateNumber.terminated)
    }
  }

  fileprivate mutating func append(_ app: AppDescription) {
    append(app.name)
    append(app.adapter)
    append(app.state)
    append(list: app.processes) { $0.append($1) }
    append(app.sessions)
    append(app.access)
    append(app.isLaunchable)
    append(optional: app.question) { $0.append($1) }
  }

  fileprivate mutating func append(_ alert: AlertDescription) {
    append(alert.number)
    append(alert.time)
    append(alert.app)
    append(alert.text)
  }

  fileprivate mutating func append(_ report: PeerUsage) {
    append(report.identifier)
    append(report.address)
    append(optional: report.name) { $0.append($1) }
    append(report.isLinked)
    append(report.isEnding)
    append(list: report.users) { writer, user in
      writer.append(optional: user.app) { $0.append($1) }
      switch user.phase {
      case .delayed: writer.put(PhaseNumber.delayed)
      case .connecting: writer.put(PhaseNumber.connecting)
      case .connected: writer.put(PhaseNumber.connected)
      case .disconnecting: writer.put(PhaseNumber.disconnecting)
      }
      writer.append(user.isPreserved)
      writer.append(user.reconnects)
      writer.append(user.isBlocked)
      writer.append(list: user.pending) { $0.append($1) }
    }
    append(list: report.served) { writer, served in
      writer.append(optional: served.app) { $0.append($1) }
      writer.append(list: served.subscriptions) { $0.append($1) }
      writer.append(list: served.pending) { $0.append($1) }
    }
  }

  fileprivate mutating func append(_ pending: PeerUsage.Pending) {
    switch pending.procedure {
    case .read: put(ProcedureNumber.read)
    case .write: put(ProcedureNumber.write)
    case .writeWithoutResponse: put(ProcedureNumber.writeWithoutResponse)
    case .discovery: put(ProcedureNumber.discovery)
    }
    append(optional: pending.attribute) { $0.append($1) }
    append(pending.milliseconds)
  }
}

extension MessageReader {
  fileprivate mutating func runState() throws(DecodingError) -> AppRunState {
    switch try value(RunStateNumber.self) {
    case .foreground: .foreground
    case .background: .background
    case .suspended: .suspended
    case .terminated: .terminated
    }
  }

  fileprivate mutating func appDescription() throws(DecodingError) -> AppDescription {
    let name = try text()
    let adapter = try text()
    let state = try runState()
    let processes = try list { (reader) throws(DecodingError) in try reader.uint32() }
    let sessions = try uint32()
    let access = try access()
    let isLaunchable = try bool()
    return AppDescription(
      name: name, adapter: adapter, state: state, processes: processes, sessions: sessions, access: access,
      isLaunchable: isLaunchable, question: try self.name())
  }

  fileprivate mutating func alertDescription() throws(DecodingError) -> AlertDescription {
    let number = try uint64()
    let time = try int64()
    let app = try text()
    return AlertDescription(number: number, time: time, app: app, text: try text())
  }

  fileprivate mutating func peerUsage() throws(DecodingError) -> PeerUsage {
    let identifier = try identifier()
    let address = try address()
    let name = try name()
    let isLinked = try bool()
    let isEnding = try bool()
    let users = try list { (reader) throws(DecodingError) in try reader.peerUser() }
    var usage = PeerUsage(
      identifier: identifier, address: address, name: name, isLinked: isLinked, isEnding: isEnding, users: users)
    usage.served = try list { (reader) throws(DecodingError) in try reader.servedApp() }
    return usage
  }

  private mutating func servedApp() throws(DecodingError) -> PeerUsage.Served {
    let app = try name()
    let subscriptions = try list { (reader) throws(DecodingError) in try reader.uuid() }
    let pending = try list { (reader) throws(DecodingError) in try reader.pendingProcedure() }
    return PeerUsage.Served(app: app, subscriptions: subscriptions, pending: pending)
  }

  private mutating func pendingProcedure() throws(DecodingError) -> PeerUsage.Pending {
    let procedure: PeerUsage.Pending.Procedure =
      switch try value(ProcedureNumber.self) {
      case .read: .read
      case .write: .write
      case .writeWithoutResponse: .writeWithoutResponse
      case .discovery: .discovery
      }
    let attribute = try optional { (reader) throws(DecodingError) in try reader.uuid() }
    return PeerUsage.Pending(procedure, of: attribute, milliseconds: try uint32())
  }

  private mutating func peerUser() throws(DecodingError) -> PeerUsage.User {
    let app = try name()
    let phase: PeerUsage.Phase =
      switch try value(PhaseNumber.self) {
      case .delayed: .delayed
      case .connecting: .connecting
      case .connected: .connected
      case .disconnecting: .disconnecting
      }
    let isPreserved = try bool()
    let reconnects = try bool()
    var user = PeerUsage.User(
      app: app, phase: phase, isPreserved: isPreserved, reconnects: reconnects, isBlocked: try bool())
    user.pending = try list { (reader) throws(DecodingError) in try reader.pendingProcedure() }
    return user
  }
}
