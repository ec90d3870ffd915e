import BluetoothWire
import DequeModule

/// A world's radios, devices and time: takes the events of all of them in order.
///
/// A world is confined: one thread at a time works in it, the one that is in `advance`, or the world's own thread in real
/// time. Only `mailbox` may be used from everywhere.
package final class WorldEngine {
  /// The time of the latest event.
  @exclusivity(unchecked) package private(set) var now = Instant.zero {
    didSet { mailbox.now = now }
  }
  /// Where apps' calls are announced.
  package let mailbox = WorldMailbox()
  /// Splits off a generator for each device by name.
  package let generator: SplitGenerator
  /// Where all packets of this world live.
  package let pool = PacketPool()
  /// Told of the transmissions that begin while it is set.
  @exclusivity(unchecked) package var observer: (any AirObserver)? {
    willSet {
      if newValue != nil { runAll() }
      endObservation()
    }
  }
  /// The number of the first transmission that the observer is told of.
  @exclusivity(unchecked) private var firstObserved: UInt64 = 1
  /// Who has transmissions fail although their signals are good; nil: nobody.
  package var airFaults: (any AirFaults)? {
    get { medium.faults }
    set {
      if newValue != nil { runAll() }
      medium.faults = newValue
    }
  }
  /// Whether the engine sends for devices that only send, and does not even that while nobody can notice. Nothing but the time
  /// that a run takes depends on it, and when `step` comes back.
  @exclusivity(unchecked) package var actsForDevices = true {
    didSet { if !actsForDevices { runAll() } }
  }
  /// Somebody wants `step` to come back after each event of any device.
  @exclusivity(unchecked) package var isWatched = false {
    didSet { if isWatched { runAll() } }
  }

  // One thread works in a world at a time, and no access here overlaps a call to a participant: checking that at run time
  // took a sixth of all time.
  @exclusivity(unchecked) var medium: Medium
  @exclusivity(unchecked) var timers = TimerQueue()
  @exclusivity(unchecked) var members: [any Participant] = []
  @exclusivity(unchecked) private var injections = InjectionQueue()
  @exclusivity(unchecked) private var schedule = Schedule()
  /// Members that have callbacks to deliver, in the order in which they got them.
  @exclusivity(unchecked) private var delivering: Deque<Int> = []
  @exclusivity(unchecked) private var isDelivering: [Bool] = []
  @exclusivity(unchecked) private var receptions: [Reception] = []
  @exclusivity(unchecked) private var mail: [WorldMailbox.Mail] = []
  @exclusivity(unchecked) var unheard = UnheardDevices()
  @exclusivity(unchecked) var recitals = Recitals()
  /// Everything that comes before this has happened.
  @exclusivity(unchecked) private(set) var turn = TimerQueue.Entry(.zero, rank: 0, slot: 0)
  private let injectionSlot: Int
  private let scheduleSlot: Int

  /// What becomes of one instant's events, in this order. Each member has a slot of each.
  enum Rank: UInt8, CaseIterable {
    case transmissionEnds, listeningEnds, deadline
  }

  private static let ranks = 3
  /// Slots before those of the first member.
  private static let worldSlots = 2

  static func slot(of member: Int, _ rank: Rank) -> Int {
    worldSlots + member * ranks + Int(rank.rawValue)
  }

  package init(seed: UInt64) {
    generator = SplitGenerator(seed: seed)
    medium = Medium(generator: generator.split("air"))
    injectionSlot = timers.addSlot(rank: Rank.transmissionEnds.rawValue)
    // After everything that devices do at the same instant.
    scheduleSlot = timers.addSlot(rank: .max)
  }

  // MARK: Devices

  /// Adds a device; its radio has the next number.
  func add(_ participant: any Participant, radio: RadioProperties) {
    medium.add(radio, at: now)
    members.append(participant)
    for rank in Rank.allCases { _ = timers.addSlot(rank: rank.rawValue) }
    isDelivering.append(false)
    attend(to: members.count - 1, participant)
  }

  /// How many devices there are.
  var memberCount: Int { members.count }

  /// A callback of an app is being waited for: nothing else happens meanwhile.
  @exclusivity(unchecked) package private(set) var isInCallback = false

  /// The device of this number; nil: there is none (yet).
  package func participant(_ radio: RadioID) -> (any Participant)? {
    guard members.indices.contains(radio.index) else { return nil }
    run(radio.index)
    return members[radio.index]
  }

  /// Has something done to a device, and then what follows from it.
  package func with(_ radio: RadioID, _ body: (any Participant) -> Void) {
    run(radio.index)
    let participant = members[radio.index]
    body(participant)
    attend(to: radio.index, participant)
  }

  /// Has something done to a device at the time of now; `body` returns whether something follows from it.
  func with(_ radio: RadioID, _ body: (any Participant, Instant) -> Bool) {
    run(radio.index)
    let participant = members[radio.index]
    if body(participant, now) { attend(to: radio.index, participant) }
  }

  /// Whether callbacks are to be made with the next `settle`.
  var hasDeliveries: Bool { !delivering.isEmpty }

  // MARK: Time

  /// The next event's instant, but for devices that are not run because nobody could notice them.
  package var nextEvent: Instant? { timers.earliest?.instant }
  /// Whether nothing will happen any more by itself.
  package var isIdle: Bool { timers.earliest == nil && unheard.isEmpty }

  /// Takes in all calls, and makes all callbacks, that belong to the present instant.
  package func settle() {
    while true {
      mailbox.take(into: &mail)
      if !mail.isEmpty {
        for item in mail {
          switch item {
          case .device(let radio):
            run(radio.index)
            let participant = members[radio.index]
            participant.takeMail(at: now)
            attend(to: radio.index, participant)
          case .operation(let operation):
            operation(self)
          }
        }
        mail.removeAll(keepingCapacity: true)
      } else if let index = delivering.first {
        deliver(for: index)
      } else {
        return
      }
    }
  }

  /// Takes the next event if it is not later than `limit`, and everything that follows from it at its instant.
  package func step(until limit: Instant) -> Bool {
    guard let next = timers.earliest, next.instant <= limit else { return false }
    if turn.precedes(next) { turn = next }
    now = max(now, next.instant)
    switch next.slot {
    case injectionSlot: performInjections()
    case scheduleSlot:
      schedule.take(at: now)?(self)
      timers.set(scheduleSlot, to: schedule.next)
    default: memberEvent(slot: next.slot)
    }
    if turn == next { turn = next.successor }
    settle()
    return true
  }

  /// Has `operation` done at `instant`, or now if that is over.
  package func schedule(at instant: Instant, _ operation: @escaping @Sendable (WorldEngine) -> Void) {
    schedule.add(at: max(now, instant), operation)
    timers.set(scheduleSlot, to: schedule.next)
  }

  /// Lets time pass without an event, up to `instant`: `step` has found none up to there.
  package func passTime(to instant: Instant) {
    now = max(now, instant)
    turn = TimerQueue.Entry(now, rank: .max, slot: Int(UInt32.max))
  }

  private func memberEvent(slot: Int) {
    let (index, rank) = (slot - Self.worldSlots).quotientAndRemainder(dividingBy: Self.ranks)
    // What comes of it takes the slot's place in the queue.
    timers.set(slot, to: nil)
    switch rank {
    case Int(Rank.transmissionEnds.rawValue): transmissionEnds(of: RadioID(index: index))
    case Int(Rank.listeningEnds.rawValue): listeningEnds(of: RadioID(index: index))
    default:
      if actsFor(index) { return }
      let participant = members[index]
      participant.timeReached(now)
      attend(to: index, participant)
    }
  }

  // MARK: What follows

  private func deliver(for index: Int) {
    isInCallback = true
    members[index].deliverNext()
    isInCallback = false
    delivering.removeFirst()
    if members[index].hasDelivery {
      delivering.append(index)
    } else {
      isDelivering[index] = false
    }
  }

  /// After something happened to a device: does with its radio what it wants, and notes when it wants to be called again.
  private func attend(to index: Int, _ participant: any Participant) {
    if let command = participant.takeRadioCommand() { obey(command, RadioID(index: index)) }
    timers.set(Self.slot(of: index, .deadline), to: participant.deadline)
    if participant.hasDelivery, !isDelivering[index] {
      isDelivering[index] = true
      delivering.append(index)
    }
  }

  private func obey(_ command: consuming RadioCommand, _ radio: RadioID) {
    if medium.isTransmitting(radio) { abandonTransmission(of: radio) }
    let listeningEnds = Self.slot(of: radio.index, .listeningEnds)
    switch command {
    case .transmit(let packet, let channel, let modulation, let power):
      timers.set(listeningEnds, to: nil)
      transmit(packet, from: radio, on: channel, modulation: modulation, power: power)
    case .receive(let channel, let phy, let accessAddress, let crcInit, let until):
      if !unheard.isEmpty { runAudible(to: radio.index, on: channel, phy, until: until) }
      medium.receive(
        radio, on: channel, phy: phy, accessAddress: accessAddress, crcInit: crcInit, until: until, at: now)
      timers.set(listeningEnds, to: until)
      postponeEnds()
    case .stop:
      medium.stop(radio, at: now)
      timers.set(listeningEnds, to: nil)
    }
  }

  /// A radio begins to send, by its own command or because the engine does it for its device.
  func transmit(
    _ packet: consuming AirPacket, from radio: RadioID, on channel: RadioChannel, modulation: Modulation,
    power: Decibel
  ) {
    let end = medium.transmit(packet, from: radio, on: channel, modulation: modulation, power: power, at: now)
    timers.set(Self.slot(of: radio.index, .transmissionEnds), to: end)
    postponeEnds()
  }

  /// After a packet has begun, or a receiver to listen.
  private func postponeEnds() {
    while let (radio, until) = medium.takeUndecided() {
      timers.set(Self.slot(of: radio.index, .listeningEnds), to: until)
    }
  }

  /// Only a reset interrupts a packet.
  private func abandonTransmission(of radio: RadioID) {
    timers.set(Self.slot(of: radio.index, .transmissionEnds), to: nil)
    free(medium.abandonTransmission(of: radio, at: now))
  }

  private func free(_ receivers: Medium.Freed) {
    for (listener, until) in receivers {
      timers.set(Self.slot(of: listener.index, .listeningEnds), to: until.map { max($0, now) })
    }
  }

  private func listeningEnds(of radio: RadioID) {
    switch medium.listeningTimeIsOver(radio, at: now) {
    case .receiving: break
    case .undecided(let until): timers.set(Self.slot(of: radio.index, .listeningEnds), to: until)
    case .over: tell(.nothingReceived, to: radio)
    }
  }

  private func transmissionEnds(of radio: RadioID) {
    if let number = medium.burst(of: radio) {
      burstEnds(number)
    } else {
      medium.silentTransmissionEnds(of: radio, at: now)
    }
    if recitals.contains(radio.index) { goOnActing(for: radio.index) } else { tell(.transmitted, to: radio) }
  }

  private func burstEnds(_ number: UInt64) {
    // Mostly one: cheaper than to remove all.
    while receptions.popLast() != nil {}
    let isObserved = observer != nil && number >= firstObserved
    guard let record = medium.burstEnds(number, at: now, isObserved: isObserved, receptions: &receptions) else {
      return
    }
    if isObserved { observer?.transmissionEnded(record, receptions: receptions) }
    for reception in receptions where !reception.stillListens {
      timers.set(Self.slot(of: reception.radio.index, .listeningEnds), to: nil)
      let event: RadioEvent =
        reception.outcome == .missed
        ? .nothingReceived
        : .received(
          reception.replacement ?? record.packet, modulation: record.modulation, start: record.start,
          level: medium.reading(of: reception.level, at: reception.radio), isIntact: reception.outcome == .intact)
      tell(event, to: reception.radio)
    }
  }

  private func tell(_ event: RadioEvent, to radio: RadioID) {
    let participant = members[radio.index]
    participant.radio(event, at: now)
    attend(to: radio.index, participant)
  }

  /// Tells the observer of the transmissions that are on the air now, as it will not be there when they end.
  package func endObservation() {
    if let observer {
      for record in medium.recordsOnAir where record.number >= firstObserved {
        observer.observationEnds(during: record)
      }
    }
    firstObserved = medium.bursts.nextNumber
  }

  // MARK: Injections

  /// Has a packet sent at `instant` that comes from no device; at once if that is past.
  package func inject(_ injection: Injection, at instant: Instant) {
    injections.add(injection, at: max(instant, now))
    timers.set(injectionSlot, to: injections.next)
  }

  private func performInjections() {
    while let event = injections.take(at: now) {
      switch event {
      case .ends(let number): burstEnds(number)
      case .begins(let injection):
        let (number, end) = medium.inject(injection, at: now)
        postponeEnds()
        injections.addEnd(of: number, at: end)
      }
    }
    timers.set(injectionSlot, to: injections.next)
  }

  // MARK: What is done to radios

  /// Whether nothing leaves the radio and nothing reaches it.
  package func isMuted(_ radio: RadioID) -> Bool { medium.isMuted(radio) }

  /// A muted radio goes on as before, but nothing leaves it and nothing reaches it: it has vanished without a word.
  package func setMuted(_ isMuted: Bool, _ radio: RadioID) {
    run(radio.index)
    free(medium.setMuted(isMuted, radio, at: now))
  }
}
