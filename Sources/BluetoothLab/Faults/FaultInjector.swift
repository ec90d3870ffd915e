// Design: faults
//
// Faults are data (`FaultPlan`), and protocols do not know about them. The medium asks the injector for each
// transmission (`AirFaults`), and the wire between a host and its controller for each packet (`HCIFaults`). Packets
// carry their plaintext along, for the injector and for captures that are configured to show it.

import BluetoothDaemon
import BluetoothRadio
import BluetoothSimulation
import BluetoothWire
import NIOConcurrencyHelpers

/// Applies a world's fault plans to transmissions on the air, HCI packets and devices. Confined to the world's
/// executor, except for the lists shared under a lock: device names, fault events and the capture.
final class FaultInjector: @unchecked Sendable {
  /// The outcome for all receivers, decided when a transmission begins.
  private struct Decision {
    var transmission: UInt64
    var outcome: ReceptionOutcome
  }

  /// The period in which a fault affects a device.
  private struct Period {
    var device: RadioID
    var until: Instant

    func includes(_ radio: RadioID, at now: Instant) -> Bool { device == radio && now < until }
  }

  private let logger = PrintableLogger("BluetoothLab")
  private let random: RandomStream
  // Device faults that a packet triggers are posted here, so that they take effect after the current event.
  private let requestQueue: WorldRequestQueue
  private let bound: WorldBound
  private var ruleCount = 0
  /// Increases when all faults are removed, so that scheduled faults of an earlier generation are not triggered.
  private var generation = 0
  private var airRules: [AirRule] = []
  private var hciRules: [HCIRule] = []
  private var airRulesByDevice = RulesByDevice()
  private var hciRulesByDevice = RulesByDevice()
  /// The decisions about transmissions that have not ended.
  private var decisions: [Decision] = []
  /// The periods of mute faults.
  private var muted: [Period] = []
  /// The devices whose radios were switched off by `setRadio`; the end of a mute fault doesn't switch them on.
  private var switchedOff: Set<RadioID> = []
  /// The periods in which devices ignore connection requests.
  private var refusing: [Period] = []
  /// The periods in which hosts receive no ACL data.
  private var silent: [Period] = []
  /// The generator that selects the inverted bits of corrupted HCI packets.
  private var bits: RandomStream

  private struct Shared {
    var names: [String] = []
    var events = FaultLog()
    var plan = FaultPlan()
    var capture: WorldCapture?
  }
  private let shared = NIOLockedValueBox(Shared())

  init(random: RandomStream, requestQueue: WorldRequestQueue, bound: WorldBound) {
    self.random = random
    self.requestQueue = requestQueue
    self.bound = bound
    bits = random.split("bits")
  }

  // MARK: Access from any thread

  var events: [FaultEvent] { shared.withLockedValue { $0.events.latest } }
  var eventCount: Int { shared.withLockedValue { $0.events.count } }

  /// The faults of the whole world that have been added and not removed.
  var plan: FaultPlan { shared.withLockedValue { $0.plan } }

  func setCapture(_ capture: WorldCapture?) { shared.withLockedValue { $0.capture = capture } }

  /// Adds a device's name. Devices must be added in the order of their indices.
  func addDevice(named name: String) { shared.withLockedValue { $0.names.append(name) } }

  /// The names of the devices, in the order of their indices.
  var deviceNames: [String] { shared.withLockedValue { $0.names } }

  /// Returns the name of the device with a radio; `injected` for packets that come from no device.
  func name(of radio: RadioID) -> String {
    guard radio != .none else { return "injected" }
    return shared.withLockedValue { radio.index < $0.names.count ? $0.names[radio.index] : "device \(radio.index)" }
  }

  private func radio(named name: String) -> RadioID? {
    shared.withLockedValue { $0.names.firstIndex(of: name) }.map(RadioID.init(index:))
  }

  private func isNamed(_ radio: RadioID, _ name: String?) -> Bool { name == nil || self.name(of: radio) == name }

  /// Records an event in the list of events and in the log, and a device fault also in the capture.
  func note(_ layer: FaultEvent.Layer, _ device: RadioID, _ text: String, at now: Instant) {
    let event = FaultEvent(
      time: now.sinceZero.duration, layer: layer, device: name(of: device), description: text)
    let capture = shared.withLockedValue { shared in
      shared.events.add(event)
      return shared.capture
    }
    // Packet faults are comments of their packets in the capture.
    if layer == .device { capture?.announce("fault: \(event.device): \(text)") }
    // A plan can affect thousands of packets, so only device faults are logged at notice level.
    func fields() -> KeyValuePairs<String, String> {
      ["device": event.device, "layer": "\(layer)", "time": "\(event.time)"]
    }
    if layer == .device {
      logger.notice("fault: \(text)", fields: fields())
    } else {
      logger.debug("fault: \(text)", fields: fields())
    }
  }

  // MARK: Plans

  func add(_ plan: FaultPlan, to scope: FaultScope, in engine: WorldEngine) {
    bound.check()
    for fault in plan.faults { add(fault, to: scope, in: engine) }
    if scope == .world { shared.withLockedValue { $0.plan.faults += plan.faults } }
    engine.airFaults = airRules.isEmpty && refusing.isEmpty ? nil : self
  }

  private func selector(_ selection: PacketSelection) -> PacketSelector {
    ruleCount += 1
    return PacketSelector(selection, random: random.split("fault \(ruleCount)"))
  }

  private func add(_ fault: Fault, to scope: FaultScope, in engine: WorldEngine) {
    switch fault {
    case .air(let action, let match, let selection):
      add(AirRule(consequence: .packet(action), match: match, scope: scope, selector: selector(selection)))
    case .hci(let action, let match, let selection):
      add(HCIRule(consequence: .packet(action), match: match, scope: scope, selector: selector(selection)))
    case .device(let action, let name, let trigger):
      arm(DeviceRule(action: action, name: name, scope: scope), trigger, in: engine)
    }
  }

  private func add(_ rule: AirRule) {
    airRulesByDevice.add(airRules.count, to: rule.scope)
    airRules.append(rule)
  }

  private func add(_ rule: HCIRule) {
    hciRulesByDevice.add(hciRules.count, to: rule.scope)
    hciRules.append(rule)
  }

  /// Schedules a device fault, or adds the rule that triggers it. The plan's scope limits the affected devices, but a
  /// trigger matches the packets of all devices.
  private func arm(_ rule: DeviceRule, _ trigger: DeviceFault.Trigger, in engine: WorldEngine) {
    switch trigger {
    case .at(let time):
      let generation = generation
      engine.schedule(at: max(engine.now, Instant.zero + TimeSpan(time))) { [weak self] engine in
        if let self, self.generation == generation { triggerFault(rule, in: engine) }
      }
    case .afterAir(let match, let selection):
      add(AirRule(consequence: .device(rule), match: match, scope: .world, selector: selector(selection)))
    case .afterHCI(let match, let selection):
      add(HCIRule(consequence: .device(rule), match: match, scope: .world, selector: selector(selection)))
    }
  }

  /// Ends all active and scheduled faults, except the drift of clocks.
  func removeAll(in engine: WorldEngine) {
    bound.check()
    generation += 1
    shared.withLockedValue { $0.plan = FaultPlan() }
    airRules.removeAll()
    hciRules.removeAll()
    airRulesByDevice.removeAll()
    hciRulesByDevice.removeAll()
    refusing.removeAll()
    silent.removeAll()
    for period in muted where period.until > engine.now { unmute(period.device, in: engine) }
    muted.removeAll()
    engine.airFaults = nil
  }

  /// Switches a device's radio on or off. Switching it on also ends its mute faults.
  func setRadio(isOn: Bool, _ device: RadioID, in engine: WorldEngine) {
    bound.check()
    if isOn {
      switchedOff.remove(device)
      muted.removeAll { $0.device == device }
    } else {
      switchedOff.insert(device)
    }
    engine.setMuted(!isOn, device)
  }

  // MARK: Devices

  private func triggerFault(_ rule: DeviceRule, in engine: WorldEngine) {
    let all = shared.withLockedValue { $0.names.indices.map(RadioID.init(index:)) }
    let devices = all.filter { rule.scope.contains($0) && isNamed($0, rule.name) }
    if devices.isEmpty, let name = rule.name {
      logger.warning("a fault names an unknown device: \(name)")
    }
    for device in devices { triggerFault(device, rule.action, in: engine) }
  }

  private func triggerFault(_ device: RadioID, _ action: DeviceFault.Action, in engine: WorldEngine) {
    let now = engine.now
    func period(_ time: Duration?) -> Period {
      Period(device: device, until: time.map { now + TimeSpan($0) } ?? .distantFuture)
    }
    func text(_ what: String, _ time: Duration?) -> String { what + (time.map { " for \($0)" } ?? "") }
    switch action {
    case .mute(let time):
      mute(device, until: period(time).until, in: engine)
      note(.device, device, text("muted", time), at: now)
    case .driftClock(let drift):
      engine.withDevice(device) { $0.setClockDrift(partsPerBillion: drift.partsPerBillion) }
      note(.device, device, "its clock drifts by \(drift) ppm", at: now)
    case .resetController:
      note(.device, device, "its controller was reset", at: now)
      engine.withDevice(device) { $0.failController(at: now) }
    case .refuseConnections(let time):
      refusing.append(period(time))
      note(.device, device, text("refuses connections", time), at: now)
    case .stopAnswering(let time):
      silent.append(period(time))
      note(.device, device, text("stops answering", time), at: now)
    }
    refusing.removeAll { $0.until <= now }
    silent.removeAll { $0.until <= now }
    if !refusing.isEmpty { engine.airFaults = self }
  }

  private func mute(_ device: RadioID, until end: Instant, in engine: WorldEngine) {
    muted.removeAll { $0.until <= engine.now }
    muted.append(Period(device: device, until: end))
    engine.setMuted(true, device)
    guard end < .distantFuture else { return }
    engine.schedule(at: end) { [weak self] engine in
      // Another mute fault of the device may last longer.
      guard let self, !muted.contains(where: { $0.includes(device, at: engine.now) }) else { return }
      unmute(device, in: engine)
    }
  }

  private func unmute(_ device: RadioID, in engine: WorldEngine) {
    if !switchedOff.contains(device) { engine.setMuted(false, device) }
  }

  private func triggerSoon(_ rule: DeviceRule) {
    // Deferred until the current event has been handled, at the same instant.
    requestQueue.perform { [weak self] engine in self?.triggerFault(rule, in: engine) }
  }
}

extension FaultInjector: AirFaults {
  func transmissionBegins(_ record: inout TransmissionRecord) {
    bound.check()
    guard !airRules.isEmpty else { return }
    let content = AirContent(record.packet)
    for index in airRulesByDevice.about(record.radio) {
      let rule = airRules[index]
      guard !rule.isDecidedByReceiver(of: record.radio), content.matches(rule.match.content),
        isNamed(record.radio, rule.match.sender), airRules[index].selector.selectsNext()
      else { continue }
      switch rule.consequence {
      case .device(let rule): triggerSoon(rule)
      case .packet(let action):
        decide(action, &record, content)
        return
      }
    }
  }

  /// Applies a fault at the start of a transmission, with the same outcome for all receivers.
  private func decide(_ action: AirFault.Action, _ record: inout TransmissionRecord, _ content: AirContent) {
    let text: String
    var outcome: ReceptionOutcome?
    switch action {
    case .lose:
      text = "lost: \(content.description)"
      outcome = .missed
    case .corrupt:
      text = "corrupted: \(content.description)"
      outcome = .corrupt
    case .inject(let octets):
      text = "another PDU in place of \(content.description)"
      record.packet = record.packet.carrying(octets)
    }
    note(.air, record.radio, text, at: record.start)
    if case .inject = action { mark(record, text, isReplacement: true) } else { mark(record, text) }
    if let outcome { decisions.append(Decision(transmission: record.number, outcome: outcome)) }
  }

  private func mark(_ record: TransmissionRecord, _ text: String, isReplacement: Bool = false) {
    let capture = shared.withLockedValue { $0.capture }
    capture?.mark(transmission: record.number, "fault: " + text, isReplacement: isReplacement)
  }

  func change(_ reception: inout Reception, of record: TransmissionRecord) {
    if let decision = decisions.first(where: { $0.transmission == record.number }) {
      reception.outcome = decision.outcome
      return
    }
    let receiver = reception.radio
    let content = AirContent(record.packet)
    if content.kind == .advertising(LL.AdvertisingPDUType.connectInd.rawValue),
      refusing.contains(where: { $0.includes(receiver, at: record.end) })
    {
      note(.air, record.radio, "lost: CONNECT_IND to \(name(of: receiver)), which refuses connections", at: record.end)
      mark(record, "refused by \(name(of: receiver))")
      reception.outcome = .missed
      return
    }
    for index in airRulesByDevice.about(record.radio, receiver) {
      let rule = airRules[index]
      guard rule.isDecidedByReceiver(of: record.radio),
        rule.scope.contains(sender: record.radio, receiver: receiver), content.matches(rule.match.content),
        isNamed(record.radio, rule.match.sender), isNamed(receiver, rule.match.receiver),
        airRules[index].selector.selectsNext()
      else { continue }
      switch rule.consequence {
      case .device(let rule): triggerSoon(rule)
      case .packet(let action):
        change(&reception, of: record, by: action, content)
        return
      }
    }
  }

  /// Applies a fault to the reception by one receiver.
  private func change(
    _ reception: inout Reception, of record: TransmissionRecord, by action: AirFault.Action, _ content: AirContent
  ) {
    let receiver = name(of: reception.radio)
    let what: String
    switch action {
    case .lose:
      what = "lost for \(receiver): \(content.description)"
      reception.outcome = .missed
    case .corrupt:
      what = "corrupted for \(receiver): \(content.description)"
      reception.outcome = .corrupt
    case .inject(let octets):
      what = "another PDU for \(receiver) in place of \(content.description): \(octets.hexadecimalText)"
      reception.replacement = record.packet.carrying(octets)
      // The injected PDU comes from a stronger transmitter, so interference with the original does not corrupt it.
      if reception.outcome == .corrupt { reception.outcome = .intact }
    }
    note(.air, record.radio, what, at: record.end)
    mark(record, what)
  }

  func transmissionEnded(_ record: TransmissionRecord) {
    if !decisions.isEmpty { decisions.removeAll { $0.transmission == record.number } }
  }
}

extension FaultInjector: HCIFaults {
  func decision(
    for packet: HCI.Packet, isFromHost: Bool, on device: RadioID, at now: Instant
  ) -> (decision: HCIFaultDecision, comment: String)? {
    if case .acl = packet, !isFromHost, silent.contains(where: { $0.includes(device, at: now) }) {
      // The event was recorded when the device fault began.
      return (.lose, "fault: the host does not answer")
    }
    let content = HCIContent(packet)
    for index in hciRulesByDevice.about(device) {
      let (match, consequence) = (hciRules[index].match, hciRules[index].consequence)
      guard content.matches(match.content),
        match.direction.map({ ($0 == .toController) == isFromHost }) ?? true, isNamed(device, match.device),
        hciRules[index].selector.selectsNext()
      else { continue }
      switch consequence {
      case .device(let rule): triggerSoon(rule)
      case .packet(let action):
        let (decision, what) = decision(action, packet)
        let text = "\(what): \(content.description) to its \(isFromHost ? "controller" : "host")"
        note(.hci, device, text, at: now)
        return (decision, "fault: " + text)
      }
    }
    return nil
  }

  private func decision(_ action: HCIFault.Action, _ packet: HCI.Packet) -> (HCIFaultDecision, String) {
    switch action {
    case .lose: (.lose, "lost")
    case .delay(let time): (.delay(TimeSpan(time)), "delayed by \(time)")
    case .duplicate: (.duplicate, "duplicated")
    case .corrupt: (.replace(packet.withOneBitChanged(using: &bits)), "corrupted")
    }
  }
}

extension AirRule {
  /// True if the fault depends on the receiver; false if it is decided for all receivers when the transmission
  /// begins.
  func isDecidedByReceiver(of sender: RadioID) -> Bool {
    switch scope {
    case .world: match.receiver != nil
    case .device(let device): match.receiver != nil || device != sender
    case .link: true
    }
  }
}

extension AirPacket {
  /// Returns the packet with another payload. The result keeps `plainPayload`, by which later rules match encrypted
  /// packets.
  fileprivate func carrying(_ octets: [UInt8]) -> AirPacket {
    var result = self
    result.payload = ByteSlice(octets.prefix(255))
    result.header = header & 0x00FF | UInt16(result.payload.count) << 8
    return result
  }
}

extension HCI.Packet {
  /// Returns the packet with one random bit of its parameters or data inverted.
  fileprivate func withOneBitChanged(using random: inout RandomStream) -> HCI.Packet {
    func changed(_ octets: ByteSlice) -> ByteSlice {
      guard !octets.isEmpty else { return octets }
      var bytes = octets.bytes
      let bit = Int(random.next() % UInt64(8 * bytes.count))
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      return ByteSlice(bytes)
    }
    switch self {
    case .command(let opcode, let parameters): return .command(opcode: opcode, parameters: changed(parameters))
    case .event(let code, let parameters): return .event(code: code, parameters: changed(parameters))
    case .acl(var data):
      data.payload = changed(data.payload)
      return .acl(data)
    }
  }
}
