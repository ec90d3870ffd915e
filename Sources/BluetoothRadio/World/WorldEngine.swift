// Overview
//
// Devices of a simulation share one radio band and one time. BluetoothRadio is both: the simulated 2.4 GHz band decides
// which device receives which packet, and the world's event queue decides what happens next.
//
// The idea: a world is a discrete simulation. `WorldEngine` takes the earliest event of all devices, moves the time to
// it and tells the device: the time, the events of its radio, or that requests have arrived. The device returns the
// next command for its radio, its deadline, and whether it has a callback to deliver (`SimulatedDevice`). A radio does
// one thing at a time, starting now: transmit a packet with a modulation (1M, 2M, Coded S=8 or S=2), or listen on a
// channel for a PHY. The link layer chooses each packet at the instant of its transmission, so a host that answers in
// zero time answers within T_IFS.
//
// Callers: a runner drives the engine. BluetoothLab's `VirtualRunner` does it in virtual time, on the thread that
// called `run`; `RealTimeRunner` does it in real time, on a `WorldExecutor`, which sleeps between events and is a
// dispatch queue or the event loop of an air's sockets. BluetoothController implements the device's side above the
// radio. The module knows no state of the link layer.
//
// Invariants:
// - One thread at a time uses the engine. All other threads reach it through the `WorldRequestQueue`: devices that have
//   requests, operations such as a move, new devices.
// - The same seed and the same inputs give the same receptions on every machine: levels and powers are whole numbers,
//   and randomness on the air is a hash, so a further device changes nothing for the others (`Medium.swift`).
// - Skipping work is invisible: devices that only advertise are run by the engine or not at all, with the same results
//   as if each ran by itself (`RepeatedAdvertising.swift`, `CulledTransmitters.swift`).
// - The event queue is an indexed heap with a slot for the deadline, the transmission and the listening time of each
//   device (`TimerQueue.swift`).
//
// Where to begin: `step` in this file, then `Medium.swift` and `MediumReception.swift`; `PathLossModel.swift` and
// `Propagation.swift` for levels; `RealTimeRunner.swift` for time.
//
// Specification: Vol 6, Part A (the physical layer). Path loss and interference are models; Documentation/Fidelity.md
// lists them.

import BluetoothWire
import DequeModule

/// A discrete-event simulation of a world: its clock, its radios and its devices. `step` processes the events of all
/// devices in order of time.
///
/// A world is confined: one thread at a time uses it. In virtual time that is the caller of `step`; in real time it is
/// the thread of `RealTimeRunner`'s executor. Only `requestQueue` may be used from any thread. `bound` checks it.
package final class WorldEngine {
  /// The time of the latest event.
  @exclusivity(unchecked) package private(set) var now = Instant.zero {
    didSet { requestQueue.now = now }
  }
  /// The queue of requests from other threads, such as apps' calls.
  package let requestQueue = WorldRequestQueue()
  /// The confinement of the world to one thread.
  package let bound = WorldBound()
  /// The random generator from which each device's generator is derived by name.
  package let generator: RandomStream
  /// The memory pool of all packets of this world.
  package let pool = PacketPool()
  /// The observer of transmissions; nil: none. It gets only transmissions that begin after it has been set.
  @exclusivity(unchecked) package var observer: (any AirObserver)? {
    willSet {
      if newValue != nil { runAll() }
      endObservation()
    }
  }
  /// The recorder of transmissions, beside the observer; nil: none. It gets each transmission that ends while it is set.
  @exclusivity(unchecked) package var recorder: (any AirObserver)? {
    willSet { if newValue != nil { runAll() } }
  }
  /// The number of the first transmission reported to the observer.
  @exclusivity(unchecked) private var firstObserved: UInt64 = 1
  /// The fault injector, which makes transmissions fail although their signals are good; nil: none.
  package var airFaults: (any AirFaults)? {
    get { medium.faults }
    set {
      if newValue != nil { runAll() }
      medium.faults = newValue
    }
  }
  /// True if the engine advertises on behalf of devices (see `RepeatedAdvertising`), and culls devices whose packets
  /// can affect no receiver (see `CulledTransmitters`). The results are the same either way: only the computing time
  /// and the number of `step` calls differ.
  @exclusivity(unchecked) package var advertisesForDevices = true {
    didSet { if !advertisesForDevices { runAll() } }
  }
  /// True if `step` must return after every event of every device, because the caller checks a condition after each
  /// event. Devices are then not culled.
  @exclusivity(unchecked) package var isWatched = false {
    didSet { if isWatched { runAll() } }
  }

  // Unchecked: one thread at a time uses a world, and no access here overlaps a call to a device. The run-time
  // exclusivity checks took a sixth of the total time.
  @exclusivity(unchecked) var medium: Medium
  @exclusivity(unchecked) var timers = TimerQueue()
  @exclusivity(unchecked) var devices: [any SimulatedDevice] = []
  @exclusivity(unchecked) private var injections = InjectionQueue()
  @exclusivity(unchecked) private var schedule = Schedule()
  /// The indices of devices with callbacks to deliver. A device is appended when its first callback is pending, and
  /// again after each delivery while more are pending, so that devices take turns.
  @exclusivity(unchecked) private var delivering: Deque<Int> = []
  @exclusivity(unchecked) private var isDelivering: [Bool] = []
  @exclusivity(unchecked) private var receptions: [Reception] = []
  @exclusivity(unchecked) private var requests: [WorldRequestQueue.Request] = []
  @exclusivity(unchecked) var unheard = CulledTransmitters()
  @exclusivity(unchecked) var scheduledAdvertisers = ScheduledAdvertisers()
  /// The position in the order of events (instant, rank, slot): every event before it has been processed. A culled
  /// device catches up to this position.
  @exclusivity(unchecked) private(set) var eventPosition = TimerQueue.Entry(.zero, rank: 0, slot: 0)
  private let injectionSlot: Int
  private let scheduleSlot: Int

  /// The kinds of timers of a device, in the order in which they fire at the same instant. Each device has one timer
  /// slot of each kind.
  enum Rank: UInt8, CaseIterable {
    case transmissionEnds, listeningEnds, deadline
  }

  private static let ranks = 3
  /// The number of timer slots before those of the first device.
  private static let worldSlots = 2

  static func slot(of member: Int, _ rank: Rank) -> Int {
    worldSlots + member * ranks + Int(rank.rawValue)
  }

  package init(seed: UInt64) {
    generator = RandomStream(seed: seed)
    medium = Medium(generator: generator.split("air"))
    injectionSlot = timers.addSlot(rank: Rank.transmissionEnds.rawValue)
    // The schedule runs after all device events of the same instant.
    scheduleSlot = timers.addSlot(rank: .max)
  }

  // MARK: Devices

  /// Adds a device. Its index, and its radio's number, is the number of devices added before.
  func add(_ device: any SimulatedDevice, radio: RadioProperties) {
    bound.check()
    medium.add(radio, at: now)
    devices.append(device)
    for rank in Rank.allCases { _ = timers.addSlot(rank: rank.rawValue) }
    isDelivering.append(false)
    processOutput(of: devices.count - 1, device)
  }

  /// The number of devices.
  var deviceCount: Int { devices.count }

  /// True while an app's callback runs. The engine waits until the callback returns.
  @exclusivity(unchecked) package private(set) var isInCallback = false

  /// Returns the device with this number, resumed if it was culled; nil if there is no such device yet.
  package func device(_ radio: RadioID) -> (any SimulatedDevice)? {
    guard devices.indices.contains(radio.index) else { return nil }
    run(radio.index)
    return devices[radio.index]
  }

  /// Calls `body` with a device, and then executes the device's radio command and updates its deadline.
  package func with(_ radio: RadioID, _ body: (any SimulatedDevice) -> Void) {
    bound.enter()
    defer { bound.leave() }
    run(radio.index)
    let device = devices[radio.index]
    body(device)
    processOutput(of: radio.index, device)
  }

  /// Calls `body` with a device and the current time. `body` returns true if the device's radio command, deadline or
  /// callbacks may have changed.
  func with(_ radio: RadioID, _ body: (any SimulatedDevice, Instant) -> Bool) {
    bound.enter()
    defer { bound.leave() }
    run(radio.index)
    let device = devices[radio.index]
    if body(device, now) { processOutput(of: radio.index, device) }
  }

  /// The number of callbacks that have been delivered.
  @exclusivity(unchecked) package private(set) var deliveryCount = 0

  /// True if callbacks are pending, which the next `settle` delivers.
  package var hasDeliveries: Bool { !delivering.isEmpty }

  /// True if requests are pending, which the next `settle` processes.
  package var hasRequests: Bool { requestQueue.isPending }

  // MARK: Time

  /// The instant of the next event, not counting the events of culled devices (see `CulledTransmitters`); nil if there
  /// is none.
  package var nextEvent: Instant? { timers.earliest?.instant }
  /// True if no event is pending, not even of a culled device: the state changes only by a call from outside.
  package var isIdle: Bool { timers.earliest == nil && unheard.isEmpty }

  /// Processes all requests in `requestQueue` and delivers all pending callbacks, until there are no more, at the
  /// current instant.
  package func settle() {
    bound.enter()
    defer { bound.leave() }
    while true {
      requestQueue.take(into: &requests)
      if !requests.isEmpty {
        for request in requests {
          switch request {
          case .device(let radio):
            run(radio.index)
            let device = devices[radio.index]
            device.processRequests(at: now)
            processOutput(of: radio.index, device)
          case .operation(let operation):
            operation(self)
          }
        }
        requests.removeAll(keepingCapacity: true)
      } else if let index = delivering.first {
        deliver(for: index)
      } else {
        return
      }
    }
  }

  /// Processes the next event if it is not later than `limit`, and then calls `settle`. Returns false if there is no
  /// such event.
  package func step(until limit: Instant) -> Bool {
    guard let next = timers.earliest, next.instant <= limit else { return false }
    bound.enter()
    defer { bound.leave() }
    if eventPosition.precedes(next) { eventPosition = next }
    now = max(now, next.instant)
    switch next.slot {
    case injectionSlot: performInjections()
    case scheduleSlot:
      schedule.take(at: now)?(self)
      timers.set(scheduleSlot, to: schedule.next)
    default: deviceEvent(slot: next.slot)
    }
    if eventPosition == next { eventPosition = next.successor }
    settle()
    return true
  }

  /// Schedules `operation` at `instant`, or at the current time if `instant` is in the past.
  @discardableResult
  package func schedule(
    at instant: Instant, _ operation: @escaping @Sendable (WorldEngine) -> Void
  ) -> ScheduledOperation {
    bound.check()
    let scheduled = schedule.add(at: max(now, instant), operation)
    timers.set(scheduleSlot, to: schedule.next)
    return scheduled
  }

  /// Removes a scheduled operation. Has no effect after the operation has run.
  package func cancel(_ operation: ScheduledOperation) {
    schedule.remove(operation)
    timers.set(scheduleSlot, to: schedule.next)
  }

  /// Advances the time to `instant`. No event may be pending before `instant`.
  package func passTime(to instant: Instant) {
    bound.check()
    now = max(now, instant)
    eventPosition = TimerQueue.Entry(now, rank: .max, slot: Int(UInt32.max))
  }

  private func deviceEvent(slot: Int) {
    let (index, rank) = (slot - Self.worldSlots).quotientAndRemainder(dividingBy: Self.ranks)
    // The device usually sets another timer next, which takes the gap that this leaves in the heap (see `TimerHeap`).
    timers.set(slot, to: nil)
    switch rank {
    case Int(Rank.transmissionEnds.rawValue): transmissionEnds(of: RadioID(index: index))
    case Int(Rank.listeningEnds.rawValue): listeningEnds(of: RadioID(index: index))
    default:
      if advertiseOnBehalf(index) { return }
      let device = devices[index]
      device.timeReached(now)
      processOutput(of: index, device)
    }
  }

  // MARK: Consequences of events

  private func deliver(for index: Int) {
    deliveryCount &+= 1
    isInCallback = true
    // The engine waits for the callback, so calls from any thread are in time.
    let isObserving = requestQueue.isObservingCalls
    if isObserving { requestQueue.isObservingCalls = false }
    let uses = bound.pause()
    devices[index].deliverNext()
    bound.resume(uses)
    if isObserving { requestQueue.isObservingCalls = true }
    isInCallback = false
    delivering.removeFirst()
    if devices[index].hasDelivery {
      delivering.append(index)
    } else {
      isDelivering[index] = false
    }
  }

  /// Executes the device's radio command, sets its deadline timer, and notes whether it has callbacks. Called after
  /// every change to a device.
  private func processOutput(of index: Int, _ device: any SimulatedDevice) {
    if let command = device.takeRadioCommand() { execute(command, RadioID(index: index)) }
    timers.set(Self.slot(of: index, .deadline), to: device.deadline)
    if device.hasDelivery, !isDelivering[index] {
      isDelivering[index] = true
      delivering.append(index)
    }
  }

  private func execute(_ command: consuming RadioCommand, _ radio: RadioID) {
    if medium.isTransmitting(radio) { abandonTransmission(of: radio) }
    switch command {
    case .transmit(let packet, let channel, let modulation, let power):
      timers.set(Self.slot(of: radio.index, .listeningEnds), to: nil)
      transmit(packet, from: radio, on: channel, modulation: modulation, power: power)
    case .receive(let channel, let phy, let accessAddress, let crcInit, let until):
      listen(radio, on: channel, phy, accessAddress: accessAddress, crcInit: crcInit, until: until)
    case .stop:
      medium.stop(radio, at: now)
      timers.set(Self.slot(of: radio.index, .listeningEnds), to: nil)
    }
  }

  /// Makes a radio listen until `until` (nil: without limit), on command of its device or on behalf of its device.
  func listen(
    _ radio: RadioID, on channel: RadioChannel, _ phy: RadioPHY, accessAddress: UInt32, crcInit: UInt32, until: Instant?
  ) {
    if !unheard.isEmpty { resumeAudible(to: radio.index, on: channel, phy, until: until) }
    medium.receive(
      radio, on: channel, phy: phy, accessAddress: accessAddress, crcInit: crcInit, until: until, at: now)
    timers.set(Self.slot(of: radio.index, .listeningEnds), to: until)
    postponeEnds()
  }

  /// Starts a transmission of a radio, on command of its device or on behalf of its device.
  func transmit(
    _ packet: consuming AirPacket, from radio: RadioID, on channel: RadioChannel, modulation: Modulation,
    power: Decibel
  ) {
    let end = medium.transmit(packet, from: radio, on: channel, modulation: modulation, power: power, at: now)
    timers.set(Self.slot(of: radio.index, .transmissionEnds), to: end)
    postponeEnds()
  }

  /// Postpones the end of each listening time that ends while an access address arrives, to the end of that access
  /// address. Called after a transmission or a listening time has begun.
  private func postponeEnds() {
    while let (radio, until) = medium.takeUndecided() {
      timers.set(Self.slot(of: radio.index, .listeningEnds), to: until)
    }
  }

  /// Aborts the radio's transmission. Only a controller reset requests this.
  private func abandonTransmission(of radio: RadioID) {
    timers.set(Self.slot(of: radio.index, .transmissionEnds), to: nil)
    free(medium.abandonTransmission(of: radio, at: now))
  }

  /// Restarts the listening timers of receivers that have lost their lock.
  private func free(_ receivers: Medium.ReleasedReceivers) {
    for (listener, until) in receivers {
      timers.set(Self.slot(of: listener.index, .listeningEnds), to: until.map { max($0, now) })
    }
  }

  private func listeningEnds(of radio: RadioID) {
    switch medium.listeningTimeIsOver(radio, at: now) {
    case .receiving: break
    case .undecided(let until): timers.set(Self.slot(of: radio.index, .listeningEnds), to: until)
    case .over:
      if scheduledAdvertisers.contains(radio.index) {
        requestWindowEnded(for: radio.index)
      } else {
        tell(.nothingReceived, to: radio)
      }
    }
  }

  private func transmissionEnds(of radio: RadioID) {
    if let number = medium.transmission(of: radio) {
      burstEnds(number)
    } else {
      medium.silentTransmissionEnds(of: radio, at: now)
    }
    if scheduledAdvertisers.contains(radio.index) {
      packetEnded(for: radio.index)
    } else {
      tell(.transmitted, to: radio)
    }
  }

  private func burstEnds(_ number: UInt64) {
    // Usually there is one entry, for which this loop is cheaper than `removeAll`.
    while receptions.popLast() != nil {}
    let isObserved = observer != nil && number >= firstObserved
    let needsRecord = isObserved || recorder != nil
    guard let record = medium.burstEnds(number, at: now, isObserved: needsRecord, receptions: &receptions) else {
      return
    }
    if isObserved { observer?.transmissionEnded(record, receptions: receptions) }
    recorder?.transmissionEnded(record, receptions: receptions)
    for reception in receptions where !reception.stillListens {
      let index = reception.radio.index
      timers.set(Self.slot(of: index, .listeningEnds), to: nil)
      if scheduledAdvertisers.contains(index) {
        guard reception.outcome == .intact, scheduledAdvertisers.isRequest(record.packet, to: index) else {
          requestWindowEnded(for: index)
          continue
        }
        run(index)
      }
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
    let device = devices[radio.index]
    device.radio(event, at: now)
    processOutput(of: radio.index, device)
  }

  /// Reports to the observer the transmissions that are still on the air. Called before the observer is removed.
  package func endObservation() {
    if let observer {
      for record in medium.recordsOnAir where record.number >= firstObserved {
        observer.observationEnds(during: record)
      }
    }
    firstObserved = medium.transmissions.nextNumber
  }

  // MARK: Injections

  /// Transmits a packet without a sending device, at `instant` or, if `instant` is in the past, at the current time.
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

  // MARK: Muting

  /// Returns true if the radio is muted: it transmits nothing and receives nothing.
  package func isMuted(_ radio: RadioID) -> Bool { medium.isMuted(radio) }

  /// Mutes or unmutes a radio. A muted radio executes commands as usual, but transmits nothing and receives nothing, as
  /// if the device had moved out of range.
  package func setMuted(_ isMuted: Bool, _ radio: RadioID) {
    run(radio.index)
    free(medium.setMuted(isMuted, radio, at: now))
  }

  // MARK: Removal

  /// Removes a device: its radio falls silent at once, also in the middle of a packet, and no call reaches the device
  /// from then on. Its number and its radio's counts stay.
  package func remove(_ radio: RadioID) {
    bound.check()
    run(radio.index)
    execute(.stop, radio)
    setMuted(true, radio)
    timers.set(Self.slot(of: radio.index, .deadline), to: nil)
    devices[radio.index] = RemovedDevice()
  }
}

/// The place of a device that has been removed.
private final class RemovedDevice: SimulatedDevice {
  var deadline: Instant? { nil }
  func timeReached(_ now: Instant) {}
  func radio(_ event: RadioEvent, at now: Instant) {}
  func takeRadioCommand() -> RadioCommand? { nil }
}
