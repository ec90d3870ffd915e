import BluetoothRadio
import BluetoothWire

/// A Bluetooth LE controller: the device side of HCI and a link layer over one radio · Vol 4, Part E; Vol 6, Part B.
///
/// It is told what happens and when, says when it wants to be told the time, and holds what it has to say until it is taken.
///
/// What only reads is `mutating`, too: of a value that is being changed, the compiler copies all of it, 1.5 kB, for what is not.
package struct Controller: ~Copyable {
  let configuration: ControllerConfiguration
  let pool: PacketPool
  let clock: SleepClock
  var random: SplitGenerator
  var output: HostOutput
  var host = HostSettings()

  var sets = AdvertisingSets()
  var scanner: Scanner?
  var initiator: Initiator?
  var connections = ConnectionTable()
  var resolvingList = ResolvingList()
  var lastHandle: UInt16 = 0
  /// The connections that have ended lately, and what had happened on them.
  var endedLinks: [LinkReport] = []

  /// What was announced and is followed.
  var auxiliaries = AuxiliaryReceptions()
  var listeningPlan = ListeningPlan()
  /// The trains that are received.
  var syncs = PeriodicSyncs()

  var agenda = RadioAgenda()
  var listening = ListeningShare()
  var radioUse = RadioUse.free
  /// When the activity that has the radio goes on.
  var timer: Instant?
  var isTransmitting = false
  /// When listening begins again.
  var windowOpens: Instant?
  private var radioCommand: RadioCommand?

  /// - Parameters:
  ///   - random: all chance of this controller.
  ///   - pool: where its packets' octets come from; it belongs to the controller's executor.
  package init(configuration: ControllerConfiguration, random: SplitGenerator, pool: PacketPool) {
    self.configuration = configuration.possible
    self.pool = pool
    self.random = random
    clock = SleepClock(drift: configuration.sleepClockDrift)
    output = HostOutput(features: self.configuration.features, pool: pool)
    host = HostSettings(address: configuration.address)
  }

  /// Takes a packet from the host. The result says whether it may have changed anything but what there is for the host: false
  /// where it was only asked something.
  @discardableResult
  package mutating func receive(_ packet: HCI.Packet, at now: Instant) -> Bool {
    switch packet {
    case .command(let opcode, let parameters): if !command(opcode, parameters, at: now) { return false }
    case .acl(let data): sendData(data, at: now)
    // Only controllers send events.
    case .event: return false
    }
    settle(at: now)
    return true
  }

  /// Takes what the radio tells.
  package mutating func radio(_ event: RadioEvent, at now: Instant) {
    if case .transmitted = event { isTransmitting = false }
    continueRadioUse(event, at: now)
    settle(at: now)
  }

  /// To be called when `deadline` has come.
  package mutating func timeReached(_ now: Instant) {
    if let timer, timer <= now {
      self.timer = nil
      timerEnded(at: now)
    }
    connections.checkDeadlines(at: now, into: &output)
    checkAdvertisingDeadlines(at: now)
    if let deadline = scanner?.deadline, deadline <= now { checkScanner(at: now) }
    checkSyncs(at: now)
    settle(at: now)
  }

  /// When `timeReached` is to be called; nil: not before something else has happened.
  package var deadline: Instant? {
    mutating get {
      var result = min(timer ?? .distantFuture, connections.deadline, sets.deadline)
      result = min(result, scanner?.deadline ?? .distantFuture, syncs.deadline)
      if radioUse.isInterruptible { result = min(result, agenda.next) }
      if case .free = radioUse { result = min(result, windowOpens ?? .distantFuture) }
      return result == .distantFuture ? nil : result
    }
  }

  /// The next packet for the host, in order; nil: there is none.
  package mutating func takePacket() -> HCI.Packet? { output.takePacket() }

  /// How many packets wait for the host. Data and reports of advertising are few, however long it takes nothing; what peers
  /// have a link tell of is not.
  package var waitingPackets: Int { mutating get { output.packets.count } }

  /// Takes no more data from the peers on these links, and takes it again on all others: the peers keep their data, which is
  /// the link layer's flow control · Vol 6, Part B, 4.5.9. Connections last, and procedures of the link layer go on.
  package mutating func holdLinks(_ links: [HCI.ConnectionHandle]) { output.heldLinks = links }

  /// How many of the host's ACL packets are not wholly acknowledged.
  package var heldPackets: Int { mutating get { connections.heldPackets } }

  /// What the radio is to do from now on; nil: go on.
  package mutating func takeRadioCommand() -> RadioCommand? { radioCommand.take() }

  var hasRadioCommand: Bool { mutating get { radioCommand != nil } }

  /// Tells the radio what to do.
  mutating func order(_ command: RadioCommand) {
    if case .transmit = command { isTransmitting = true } else { isTransmitting = false }
    radioCommand = command
  }

  /// Everything as it was after power on, and nothing on the air · Vol 4, Part E, 7.3.2.
  mutating func reset() {
    output.reset()
    host = HostSettings(address: configuration.address)
    sets.removeAll()
    scanner = nil
    initiator = nil
    for index in connections.indices { noteEnd(ofConnection: index) }
    connections.removeAll()
    resolvingList = ResolvingList()
    agenda.removeAll()
    listening = ListeningShare()
    listeningPlan = ListeningPlan()
    auxiliaries.removeAll()
    syncs = PeriodicSyncs()
    radioUse = .free
    timer = nil
    windowOpens = nil
    order(.stop)
  }
}
