import BluetoothController
import BluetoothDissection
import BluetoothLab
import BluetoothRadio
import BluetoothWire

/// The world as the viewers of its page know it, and the texts of what has changed since the last tick.
struct PageModel {
  struct Device {
    var place: AirState.Place
    var state: AirState.Device?
    var statistics: DeviceStatistics?
    var energy: EnergyReport?
    var advertising: SeenAdvertising?
    /// The power of the latest packet.
    var transmitPower: Decibel?
    var isRemoved = false
    /// True if something has changed since `text` was made.
    var isDirty = true
    var text = JSONText.null
    var line = ""
  }

  private struct Link {
    var line: String
    var text: JSONText
    /// The octets that both ends had received, and their throughput, at `since`.
    var octets: (toPeripheral: Int, toCentral: Int)
    var bits: (toPeripheral: Double, toCentral: Double)
    var since: Instant
    /// The reasons of the end, as far as the ends have reported them.
    var endings: [AirState.LinkEnding] = []
  }

  private(set) var names: [String] = []
  var devices: [Device] = []
  private var links: [UInt32: Link] = [:]
  private var order: [UInt32] = []
  private var faults = FaultPlan()
  private var environment: PathLossModel?
  private var interference: [InterferenceSource] = []
  private(set) var time = Instant.zero
  private var speed: Double?
  private(set) var strikeCount = 0
  var log = PacketLog()
  /// The end of the latest packet on each channel.
  var channelEnds = [Instant](repeating: .zero, count: 40)
  /// The content of the latest advertising packet of each radio and type.
  var latestContents: [Int: Int] = [:]
  /// The maximum number of packets in a tick.
  static let packetsPerTick = 64

  func name(of radio: RadioID) -> String {
    names.indices.contains(radio.index) ? names[radio.index] : radio == .none ? "injected" : "device \(radio.index)"
  }

  /// Returns a device and the address at which others reach it; nil: there is no such device, or it has none.
  func place(of name: String) -> (radio: RadioID, address: DeviceAddress)? {
    guard let index = names.firstIndex(of: name), devices.indices.contains(index), !devices[index].isRemoved else {
      return nil
    }
    let device = devices[index]
    return (device.advertising?.address ?? device.state?.address).map { (RadioID(index: index), $0) }
  }

  // MARK: Ticks

  /// Takes over the state of the world. Returns the message of the tick; nil: nothing has changed.
  ///
  /// - Parameters:
  ///   - plan: the faults of the whole world.
  ///   - strikes: the latest faults that have struck.
  ///   - count: the number of all faults that have struck.
  mutating func tick(
    _ state: AirState, _ batch: AirRecorder.Batch, faults plan: FaultPlan, strikes: [FaultEvent], count: Int
  ) -> JSONText? {
    var tick = PageFields()
    tick.add("type", "tick")
    tick.add("time", .time(state.time))
    tick.add("speed", state.speed.map { .number($0, places: 3) })
    tick.add("paused", state.speed == 0)
    let hasMoved = state.time != time || state.speed != speed
    (time, speed) = (state.time, state.speed)
    let before = tick.all.count
    takePlaces(state)
    takeDetails(state)
    addRemovals(state.removed, to: &tick)
    add(packets: batch, to: &tick)
    addDevices(to: &tick)
    addLinks(state, to: &tick)
    if plan != faults {
      faults = plan
      tick.add("faults", faultList)
    }
    addStrikes(strikes, count, to: &tick)
    if !state.values.isEmpty { tick.add("values", .list(state.values)) }
    (environment, interference) = (state.environment ?? environment, state.interference ?? interference)
    return hasMoved || tick.all.count > before ? tick.object : nil
  }

  /// Returns the message that replaces everything that a viewer knows.
  func world(apps: JSONText?) -> JSONText {
    var fields = PageFields()
    fields.add("type", "world")
    fields.add("time", .time(time))
    fields.add("speed", speed.map { .number($0, places: 3) })
    fields.add("paused", speed == 0)
    fields.add("devices", .list(devices.filter { !$0.isRemoved }.map(\.text)))
    fields.add("links", .list(order.compactMap { links[$0]?.text }))
    fields.add("faults", faultList)
    fields.add("interference", .list(interference.map(\.pageText)))
    fields.add("environment", environment?.pageText)
    fields.add("apps", apps)
    return fields.object
  }

  private var faultList: JSONText { .list(faults.faults.map { JSONText(encoding: $0) }) }

  // MARK: Devices

  private mutating func takePlaces(_ state: AirState) {
    names = state.names
    for (index, place) in state.places.enumerated() {
      if index == devices.count {
        devices.append(Device(place: place))
      } else if devices[index].place != place {
        devices[index].place = place
        devices[index].isDirty = true
      }
    }
  }

  private mutating func takeDetails(_ state: AirState) {
    for (index, device) in (state.devices ?? []).enumerated() where devices[index].state != device {
      devices[index].state = device
      devices[index].isDirty = true
    }
    for (index, statistics) in (state.statistics?.devices ?? []).enumerated() where index < devices.count {
      devices[index].statistics = statistics
      devices[index].energy = statistics.energy()
      devices[index].isDirty = true
    }
    for index in devices.indices {
      guard let advertising = devices[index].advertising else { continue }
      if state.time - advertising.latest > SeenAdvertising.lifetime {
        devices[index].advertising = nil
        devices[index].isDirty = true
      }
    }
  }

  private mutating func addRemovals(_ removed: Set<RadioID>, to tick: inout PageFields) {
    let new = removed.map(\.index).filter { devices.indices.contains($0) && !devices[$0].isRemoved }.sorted()
    guard !new.isEmpty else { return }
    for index in new { devices[index].isRemoved = true }
    tick.add("removed", .list(new.map { .text(names[$0]) }))
  }

  private mutating func addDevices(to tick: inout PageFields) {
    var changed: [JSONText] = []
    for index in devices.indices where devices[index].isDirty && !devices[index].isRemoved {
      devices[index].isDirty = false
      let text = text(of: index)
      let line = text.line
      guard line != devices[index].line else { continue }
      (devices[index].text, devices[index].line) = (text, line)
      changed.append(text)
    }
    if !changed.isEmpty { tick.add("devices", .list(changed)) }
  }

  private func text(of index: Int) -> JSONText {
    let device = devices[index]
    var fields = PageFields()
    fields.add("name", names[index])
    if let state = device.state {
      fields.add("kind", state.kind)
      fields.add("role", state.role.rawValue)
      fields.add("address", state.address?.octetsText)
      fields.add("addressKind", state.address.map { $0.kind == .random ? "random" : "public" })
      fields.add("power", state.isPowered)
      fields.add("joined", state.isJoined)
      fields.add("sensitivity", .level(state.sensitivity))
    }
    fields.add("transmitPower", device.transmitPower.map { .level($0) })
    fields.add("position", .position(device.place.position))
    fields.add("radio", !device.place.isMuted)
    if let statistics = device.statistics {
      fields.add(
        "counts",
        .object([
          ("sent", .whole(statistics.transmitted.packets)), ("received", .whole(statistics.receivedPackets)),
          ("crcErrors", .whole(statistics.crcErrors)), ("missed", .whole(statistics.missedPackets)),
          ("transmitting", .number(statistics.transmitting.seconds, places: 6)),
          ("receiving", .number(statistics.receiving.seconds, places: 6)),
          ("attemptsFailed", .whole(statistics.failedAttempts)),
        ]))
    }
    if let energy = device.energy {
      var report = PageFields()
      report.add("averageMilliamperes", .number(energy.averageMilliamperes, places: 6))
      if energy.batteryLifeInDays.isFinite { report.add("batteryDays", .number(energy.batteryLifeInDays, places: 1)) }
      report.add("warning", energy.warning)
      fields.add("energy", report.object)
    }
    fields.add("advertising", device.advertising?.pageText)
    return fields.object
  }

  // MARK: Links

  private mutating func addLinks(_ state: AirState, to tick: inout PageFields) {
    guard let current = state.links else { return }
    var changed: [JSONText] = []
    var numbers: [UInt32] = []
    for link in current {
      numbers.append(link.number)
      let before = links[link.number]
      let received = { (end: AirState.LinkEnd?) in end?.report.statistics.received.octets }
      let sent = { (end: AirState.LinkEnd?) in end?.report.statistics.sent.octets }
      let octets = (
        toPeripheral: received(link.peripheral) ?? sent(link.central) ?? 0,
        toCentral: received(link.central) ?? sent(link.peripheral) ?? 0
      )
      var (bits, counted, since) = (before?.bits ?? (0, 0), before?.octets ?? octets, before?.since ?? state.time)
      let elapsed = Double((state.time - since).nanoseconds) / 1e9
      if elapsed >= 1 {
        bits = (
          Double(8 * (octets.toPeripheral - counted.toPeripheral)) / elapsed,
          Double(8 * (octets.toCentral - counted.toCentral)) / elapsed
        )
        (counted, since) = (octets, state.time)
      }
      let text = text(of: link, bits)
      let line = text.line
      if line != before?.line { changed.append(text) }
      links[link.number] = Link(
        line: line, text: text, octets: counted, bits: bits, since: since, endings: before?.endings ?? [])
    }
    for ending in state.endings { links[ending.number]?.endings.append(ending) }
    let present = Set(numbers)
    let ended = order.filter { !present.contains($0) }
    if !changed.isEmpty { tick.add("links", .list(changed)) }
    if !ended.isEmpty {
      tick.add("ended", .list(ended.map { ending(of: $0) }))
    }
    for number in ended { links[number] = nil }
    order = numbers
  }

  /// Returns the end of a link, with the reason that each end has reported to its host.
  private func ending(of number: UInt32) -> JSONText {
    let reasons = (links[number]?.endings ?? []).map { ending -> JSONText in
      .object([
        ("device", .text(name(of: ending.radio))), ("code", .whole(ending.reason.rawValue)),
        ("text", .text(SpecificationNames.title(of: ending.reason))),
      ])
    }
    return .object([("id", .text(number.linkText)), ("reasons", .list(reasons))])
  }

  private func text(of link: AirState.Link, _ bits: (toPeripheral: Double, toCentral: Double)) -> JSONText {
    var fields = PageFields()
    fields.add("id", link.number.linkText)
    // An end that is no device of the world is known by the address that the other end has for it.
    fields.add(
      "central", link.central.map { name(of: $0.radio) } ?? link.peripheral?.report.peer.octetsText)
    fields.add(
      "peripheral", link.peripheral.map { name(of: $0.radio) } ?? link.central?.report.peer.octetsText)
    guard let report = (link.central ?? link.peripheral)?.report else { return fields.object }
    fields.add("interval", .number(Double(report.values.interval) * 1.25, places: 2))
    fields.add("latency", .whole(report.values.latency))
    fields.add("timeout", .whole(Int(report.values.supervisionTimeout) * 10))
    fields.add("phyToPeripheral", (link.central == nil ? report.receivePHY : report.transmitPHY).short)
    fields.add("phyToCentral", (link.central == nil ? report.transmitPHY : report.receivePHY).short)
    fields.add("mtu", (link.central?.mtu ?? link.peripheral?.mtu).map { .whole($0) })
    fields.add("encrypted", report.isEncrypted)
    fields.add("rssiAtCentral", link.central?.report.statistics.lastLevel.map { .level($0) })
    fields.add("rssiAtPeripheral", link.peripheral?.report.statistics.lastLevel.map { .level($0) })
    fields.add("bitsToPeripheral", .number(bits.toPeripheral, places: 0))
    fields.add("bitsToCentral", .number(bits.toCentral, places: 0))
    let ends = [link.central, link.peripheral].compactMap { $0?.report.statistics }
    fields.add("retransmissions", .whole(ends.reduce(0) { $0 + $1.retransmissions }))
    fields.add("crcErrors", .whole(ends.reduce(0) { $0 + $1.crcErrors }))
    fields.add("missedEvents", .whole(ends.reduce(0) { $0 + $1.missedEvents }))
    fields.add("timeouts", .whole(ends.reduce(0) { $0 + $1.receiveTimeouts }))
    return fields.object
  }

  // MARK: Faults

  private mutating func addStrikes(_ strikes: [FaultEvent], _ count: Int, to tick: inout PageFields) {
    let new = min(max(0, count - strikeCount), strikes.count, Self.packetsPerTick)
    strikeCount = count
    guard new > 0 else { return }
    tick.add(
      "strikes",
      .list(
        strikes.suffix(new).map { event in
          .object([
            ("time", .number(event.time.seconds, places: 9)), ("layer", .text(event.layer.rawValue)),
            ("device", .text(event.device)), ("text", .text(event.description)),
          ])
        }))
  }
}
