import BluetoothRadio
import BluetoothWire

/// A Bluetooth LE controller: the device side of HCI and a link layer over one radio · Vol 4, Part E; Vol 6, Part B.
///
/// Receives packets from the host, radio events and the time; returns `deadline`, the next time that it needs, and
/// queues packets for the host until they are taken.
///
/// Functions that only read are `mutating`, too: for a non-mutating call on a value that is being changed, the
/// compiler copies the whole value, 1.5 kB.
package struct Controller: ~Copyable {
  let configuration: ControllerConfiguration
  let pool: PacketPool
  let clock: SleepClock
  var random: RandomStream
  var output: HCIEventQueue
  var host = HostSettings()

  var sets = AdvertisingSets()
  var scanner: Scanner?
  var initiator: Initiator?
  var connections = ConnectionTable()
  var resolvingList = ResolvingList()
  var lastHandle: UInt16 = 0
  /// Reports of the connections that have ended recently.
  var endedLinks: [LinkReport] = []

  /// Auxiliary packets that have been announced and that the controller follows.
  var auxiliaries = AuxiliaryReceptions()
  var listeningPlan = ListeningPlan()
  /// The periodic advertising trains that the controller receives.
  var syncs = PeriodicSyncs()

  var agenda = RadioScheduler()
  var listening = ListeningBudget()
  var radioUse = RadioUse.free
  /// The time at which the activity that has the radio continues.
  var timer: Instant?
  var isTransmitting = false
  /// The time at which listening resumes.
  var windowOpens: Instant?
  private var radioCommand: RadioCommand?

  /// Creates a controller.
  ///
  /// - Parameters:
  ///   - random: the source of all randomness in this controller.
  ///   - pool: the source of the packets' octets; it belongs to the controller's executor.
  package init(configuration: ControllerConfiguration, random: RandomStream, pool: PacketPool) {
    self.configuration = configuration.possible
    self.pool = pool
    self.random = random
    clock = SleepClock(drift: configuration.sleepClockDrift)
    output = HCIEventQueue(features: self.configuration.features, pool: pool)
    host = HostSettings(address: configuration.address)
  }

  /// Processes a packet from the host. Returns true if the packet may have changed anything other than the packets
  /// queued for the host; false if the host only asked for information.
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

  /// Processes an event of the radio.
  package mutating func radio(_ event: RadioEvent, at now: Instant) {
    if case .transmitted = event { isTransmitting = false }
    continueRadioUse(event, at: now)
    settle(at: now)
  }

  /// Runs everything that is due. The owner calls this function when `deadline` has come.
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

  /// The time of the next call of `timeReached`; nil if none is needed before another event.
  package var deadline: Instant? {
    mutating get {
      var result = min(timer ?? .distantFuture, connections.deadline, sets.deadline)
      result = min(result, scanner?.deadline ?? .distantFuture, syncs.deadline)
      if radioUse.isInterruptible { result = min(result, agenda.next) }
      if case .free = radioUse { result = min(result, windowOpens ?? .distantFuture) }
      return result == .distantFuture ? nil : result
    }
  }

  /// Returns the next packet for the host, in order; nil if there is none.
  package mutating func takePacket() -> HCI.Packet? { output.takePacket() }

  /// The number of packets queued for the host. Data and advertising reports stay few, however long the host does not
  /// read; the number of events that peers cause on a link is not bounded.
  package var waitingPackets: Int { mutating get { output.packets.count } }

  /// Stops accepting data from the peers on these links and accepts data on all other links. The peers keep their
  /// data, which is the link layer's flow control · Vol 6, Part B, 4.5.9. The connections stay up, and link layer
  /// procedures continue.
  package mutating func holdLinks(_ links: [HCI.ConnectionHandle]) { output.heldLinks = links }

  /// The number of the host's ACL packets that are not completely acknowledged.
  package var heldPackets: Int { mutating get { connections.heldPackets } }

  /// Returns the radio's next command; nil: the radio continues with the present one.
  package mutating func takeRadioCommand() -> RadioCommand? { radioCommand.take() }

  var hasRadioCommand: Bool { mutating get { radioCommand != nil } }

  /// Sets the radio's next command.
  mutating func order(_ command: RadioCommand) {
    if case .transmit = command { isTransmitting = true } else { isTransmitting = false }
    radioCommand = command
  }

  /// Restores the state after power on, with nothing on the air · Vol 4, Part E, 7.3.2.
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
    listening = ListeningBudget()
    listeningPlan = ListeningPlan()
    auxiliaries.removeAll()
    syncs = PeriodicSyncs()
    radioUse = .free
    timer = nil
    windowOpens = nil
    order(.stop)
  }
}
