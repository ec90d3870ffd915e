import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

/// A perfect air: every packet arrives at its end at every device that listened for it at its beginning, unless a test
/// decides differently.
final class PerfectAir {
  /// A packet as it was sent.
  struct Transmission {
    let start: Instant
    let end: Instant
    let device: Int
    let channel: RadioChannel
    let modulation: Modulation
    var power = Decibel(0)
    var packet: AirPacket

    var isAdvertising: Bool { packet.accessAddress == LL.advertisingAccessAddress }
    var advertisingPDU: LL.AdvertisingPDU? {
      isAdvertising ? try? LL.AdvertisingPDU(header: packet.header, payload: packet.payload) : nil
    }
    /// The header of a data PDU; nil on the advertising channels.
    var dataHeader: LL.DataHeader? { isAdvertising ? nil : LL.DataHeader(rawValue: packet.header) }
    var controlPDU: LL.ControlPDU? {
      dataHeader?.llid == .control ? try? LL.ControlPDU(payload: packet.plainPayload ?? packet.payload) : nil
    }
  }

  enum Outcome { case arrives, corrupt, lost }

  /// The parameters of a radio that listens.
  private struct Receiver {
    let channel: RadioChannel
    let phy: RadioPHY
    let accessAddress: UInt32
    let crcInit: UInt32
    let until: Instant?
    /// The beginning of the packet that the radio is receiving.
    var lock: Instant?

    func hears(_ other: Transmission) -> Bool {
      channel == other.channel && phy == other.modulation.phy && accessAddress == other.packet.accessAddress
    }
  }

  /// The next time at which a device has something to do, and its kind. At equal times the end of a packet comes first.
  private struct WakeUp {
    static let transmitted: Int64 = 0
    static let nothingReceived: Int64 = 1
    static let deadline: Int64 = 2
    static let never = WakeUp(.distantFuture, deadline)

    /// A single number, so that finding the first of many is fast even in unoptimized builds.
    let key: Int64

    init(key: Int64) { self.key = key }
    init(_ time: Instant, _ rank: Int64) { key = time == .distantFuture ? .max : time.nanoseconds << 2 | rank }

    var time: Instant { key == .max ? .distantFuture : Instant(nanoseconds: key >> 2) }
    var rank: Int64 { key == .max ? Self.deadline : key & 0b11 }
  }

  /// The `device` of packets that no controller sends.
  static let nobody = -1

  private(set) var now = Instant.zero
  private(set) var log: [Transmission] = []
  var devices: [ControllerHarness] = []
  /// The state of each radio; a radio is idle if both are nil.
  private var sending: [Transmission?] = []
  private var receivers: [Receiver?] = []
  /// The channels of `receivers`, or `deaf` for a radio that does not listen.
  private var listeningChannels: [UInt8] = []
  private static let deaf = UInt8.max
  /// The next wake-up of each device, as keys of `WakeUp`. No device is called before.
  private var wakeUps: [Int64] = []
  /// The beginning of the latest packet.
  private var latestStart: Instant?
  /// The packets that no controller sends, in order. The first `played` have begun, and `strange` contains those on the
  /// air.
  private var script: [Transmission] = []
  private var played = 0
  private var strange: [Transmission] = []
  /// Decides the outcome of a packet, and may change the packet.
  var outcome: (inout Transmission) -> Outcome = { _ in .arrives }

  func add(_ device: ControllerHarness) {
    device.air = self
    device.number = devices.count
    devices.append(device)
    sending.append(nil)
    receivers.append(nil)
    listeningChannels.append(Self.deaf)
    wakeUps.append(WakeUp.never.key)
  }

  /// Adds devices, and then starts their controllers in the same order.
  func start(_ devices: ControllerHarness...) {
    for device in devices { add(device) }
    for device in devices { device.start() }
  }

  func clearLog() { log.removeAll() }

  /// Sends a packet that comes from none of the controllers, beginning at `start`.
  func play(_ packet: AirPacket, at start: Instant, on channel: ChannelIndex, _ modulation: Modulation = .le1M) {
    let transmission = Transmission(
      start: start, end: start + packet.airTime(modulation), device: Self.nobody, channel: channel.radioChannel,
      modulation: modulation, packet: packet)
    let index = script.lastIndex { $0.start <= start }.map { $0 + 1 } ?? 0
    script.insert(transmission, at: max(played, index))
  }

  func run(for span: TimeSpan) {
    let end = now + span
    refreshAll()
    while step(until: end) {}
    now = end
  }

  /// Runs until `condition` holds, at most for `limit`; returns true if it held.
  @discardableResult
  func run(until condition: () -> Bool, limit: TimeSpan = .seconds(10)) -> Bool {
    let end = now + limit
    refreshAll()
    while !condition() { if !step(until: end) { return false } }
    return true
  }

  private func step(until end: Instant) -> Bool {
    guard let (index, next) = firstWakeUp() else { return false }
    if played < script.count || !strange.isEmpty, playNext(before: next, until: end) { return true }
    let time = next.time
    guard time <= end, time != .distantFuture else { return false }
    if time < now { Issue.record("time runs backwards") }
    now = max(now, time)
    switch next.rank {
    case WakeUp.transmitted:
      guard let transmission = sending[index] else { break }
      sending[index] = nil
      refresh(index)
      ends(transmission)
      tell(index, .transmitted)
    case WakeUp.nothingReceived:
      close(index)
      tell(index, .nothingReceived)
    default:
      devices[index].controller.timeReached(now)
      processOutput(of: index)
    }
    return true
  }

  private func firstWakeUp() -> (index: Int, next: WakeUp)? {
    guard !wakeUps.isEmpty else { return nil }
    return wakeUps.withUnsafeBufferPointer { keys in
      var (first, index) = (0, 1)
      while index < keys.count {
        if keys[index] < keys[first] { first = index }
        index += 1
      }
      return (first, WakeUp(key: keys[first]))
    }
  }

  /// Begins or ends a packet of the script, if that is the next event.
  private func playNext(before next: WakeUp, until end: Instant) -> Bool {
    if let index = strange.indices.min(by: { strange[$0].end < strange[$1].end }), strange[index].end <= end,
      WakeUp(strange[index].end, WakeUp.transmitted).key < next.key,
      strange[index].end <= nextInScript?.start ?? .distantFuture
    {
      now = strange[index].end
      ends(strange.remove(at: index))
      return true
    }
    guard let first = nextInScript, first.start <= end, WakeUp(first.start, 3).key < next.key else { return false }
    now = first.start
    played += 1
    strange.append(first)
    begins(first)
    return true
  }

  private var nextInScript: Transmission? { played < script.count ? script[played] : nil }

  private func refresh(_ index: Int) {
    var key = WakeUp(devices[index].controller.deadline ?? .distantFuture, WakeUp.deadline).key
    if let end = sending[index]?.end {
      key = min(key, WakeUp(end, WakeUp.transmitted).key)
    } else if let receiver = receivers[index], receiver.lock == nil, let until = receiver.until {
      key = min(key, WakeUp(until, WakeUp.nothingReceived).key)
    }
    wakeUps[index] = key
  }

  /// Tests may have changed the devices directly.
  private func refreshAll() {
    for index in devices.indices { refresh(index) }
  }

  private func ends(_ sent: Transmission) {
    var transmission = sent
    log.append(sent)
    let outcome = outcome(&transmission)
    for index in listeners(on: sent.channel) {
      guard let receiver = receivers[index], receiver.lock == sent.start, receiver.hears(sent) else { continue }
      close(index)
      if case .lost = outcome {
        tell(index, .nothingReceived)
      } else {
        let isIntact = outcome == .arrives && receiver.crcInit == sent.packet.crcInit
        tell(
          index,
          .received(
            transmission.packet, modulation: sent.modulation, start: sent.start, level: Decibel(-50), isIntact: isIntact
          ))
      }
    }
  }

  /// Locks every radio that listens for this packet.
  private func begins(_ transmission: Transmission) {
    latestStart = now
    for other in listeners(on: transmission.channel) where other != transmission.device {
      guard let receiver = receivers[other], receiver.lock == nil, receiver.hears(transmission) else { continue }
      receivers[other]?.lock = now
      refresh(other)
    }
  }

  private func close(_ index: Int) {
    receivers[index] = nil
    listeningChannels[index] = Self.deaf
  }

  private func listeners(on channel: RadioChannel) -> [Int] {
    var result: [Int] = []
    listeningChannels.withUnsafeBufferPointer { channels in
      var index = 0
      while index < channels.count {
        if channels[index] == channel.number { result.append(index) }
        index += 1
      }
    }
    return result
  }

  private func tell(_ index: Int, _ event: RadioEvent) {
    devices[index].controller.radio(event, at: now)
    processOutput(of: index)
  }

  /// Carries out the radio commands of the device, and delivers its packets to its host.
  func processOutput(of index: Int) {
    while let command = devices[index].controller.takeRadioCommand() { execute(command, index) }
    devices[index].takePackets(at: now)
    while let command = devices[index].controller.takeRadioCommand() { execute(command, index) }
    refresh(index)
  }

  private func execute(_ command: RadioCommand, _ index: Int) {
    switch command {
    case .stop:
      sending[index] = nil
      close(index)
    case .receive(let channel, let phy, let accessAddress, let crcInit, let until):
      if let until, until < now { Issue.record("listening would have ended before it begins") }
      var receiver = Receiver(channel: channel, phy: phy, accessAddress: accessAddress, crcInit: crcInit, until: until)
      // A packet that begins now is received completely.
      let isBeginning =
        latestStart == now
        && (strange.contains { $0.start == now && receiver.hears($0) }
          || sending.contains { if let other = $0 { other.start == now && receiver.hears(other) } else { false } })
      if isBeginning { receiver.lock = now }
      sending[index] = nil
      receivers[index] = receiver
      listeningChannels[index] = channel.number
    case .transmit(let packet, let channel, let modulation, let power):
      if sending[index] != nil { Issue.record("a packet was broken off") }
      let transmission = Transmission(
        start: now, end: now + packet.airTime(modulation), device: index, channel: channel,
        modulation: modulation, power: power, packet: packet)
      close(index)
      sending[index] = transmission
      begins(transmission)
    }
  }
}

/// A controller, and the packets that its host has received.
final class ControllerHarness {
  var controller: Controller
  let address: DeviceAddress
  let pool = PacketPool()
  private(set) var events: [HCI.Event] = []
  /// The sum of all Number Of Completed Packets events since the last `clear()`.
  private(set) var completedPackets = 0
  private(set) var data: [HCI.ACLData] = []
  /// The reaction of the host to data.
  var onData: ((ControllerHarness, HCI.ACLData) -> Void)?
  /// The reaction of the host to an event.
  var onEvent: ((ControllerHarness, HCI.Event) -> Void)?
  /// Called with every packet from the controller before it is decoded.
  var onPacket: ((HCI.Packet) -> Void)?
  weak var air: PerfectAir?
  var number = 0
  /// The connections that are hidden from the test, with the handlers of their data.
  private var aside: [HCI.ConnectionHandle: (HCI.ACLData) -> Void] = [:]
  /// True if the host reads nothing from its controller.
  var isAsleep = false
  /// True if the host accepts every parameter request of a peer without an event for the test.
  var acceptsParameters = false

  init(_ name: String, address: UInt64, seed: UInt64 = 1, _ change: (inout ControllerConfiguration) -> Void = { _ in })
  {
    self.address = DeviceAddress(address, .public)
    var configuration = ControllerConfiguration(address: self.address, name: name)
    change(&configuration)
    controller = Controller(
      configuration: configuration, random: RandomStream(seed: seed).split(name), pool: pool)
  }

  var now: Instant { air?.now ?? .zero }

  /// Sends a command to the controller, and returns the status of its Command Complete or Command Status.
  @discardableResult
  func send(_ command: HCI.Command) -> HCI.ErrorCode? { complete(command)?.status }

  /// Sends a command to the controller, and returns the return parameters of its Command Complete or Command Status.
  @discardableResult
  func complete(_ command: HCI.Command) -> HCI.ReturnParameters? {
    send(raw: command.packet(in: pool), opcode: command.opcode)
  }

  @discardableResult
  func send(raw packet: HCI.Packet, opcode: HCI.Opcode) -> HCI.ReturnParameters? {
    let before = events.count
    controller.receive(packet, at: now)
    air?.processOutput(of: number)
    for event in events[before...] {
      switch event {
      case .commandComplete(_, opcode, let result): return result
      case .commandStatus(let status, _, opcode): return .status(status)
      default: continue
      }
    }
    return nil
  }

  func send(_ payload: [UInt8], on handle: HCI.ConnectionHandle, boundary: HCI.ACLData.Boundary = .firstNonFlushable) {
    controller.receive(.acl(HCI.ACLData(handle: handle, boundary: boundary, payload: ByteSlice(payload))), at: now)
    air?.processOutput(of: number)
  }

  func takePackets(at now: Instant) {
    while !isAsleep, let packet = controller.takePacket() {
      onPacket?(packet)
      switch packet {
      case .event(let code, let parameters):
        do {
          let event = try HCI.Event(code: code, parameters: parameters)
          if acceptsParameters, accept(event) { continue }
          events.append(event)
          if case .numberOfCompletedPackets(let packets) = event {
            completedPackets = packets.reduce(completedPackets) { $0 + Int($1.count) }
          }
          onEvent?(self, event)
        } catch {
          Issue.record("event \(code): \(error)")
        }
      case .acl(let acl):
        if let take = aside[acl.handle] {
          take(acl)
          continue
        }
        data.append(acl)
        onData?(self, acl)
      case .command: Issue.record("a command from a controller")
      }
    }
  }

  /// Accepts the parameter request in `event`; returns false for all unrelated events.
  private func accept(_ event: HCI.Event) -> Bool {
    switch event {
    case .leRemoteConnectionParameterRequest(let handle, let parameters):
      let reply = HCI.Command.leRemoteConnectionParameterRequestReply(
        handle, parameters, HCI.ConnectionEventLength())
      controller.receive(reply.packet(in: pool), at: now)
      return true
    case .commandComplete(_, .leRemoteConnectionParameterRequestReply, _): return true
    default: return false
    }
  }

  /// Diverts the data of this connection from `data` to `take`.
  func setAside(_ handle: HCI.ConnectionHandle, _ take: @escaping (HCI.ACLData) -> Void) { aside[handle] = take }

  /// Removes all traces of this connection, which has ended.
  func forget(_ connection: HCI.ConnectionComplete) {
    aside[connection.handle] = nil
    events.removeAll {
      switch $0 {
      case .leConnectionComplete(connection), .leEnhancedConnectionComplete(connection): true
      case .disconnectionComplete(_, connection.handle, _), .leAdvertisingSetTerminated(_, _, connection.handle, _):
        true
      default: false
      }
    }
  }

  func clear() {
    events.removeAll()
    data.removeAll()
    completedPackets = 0
  }

  /// Sends the initial commands of a host.
  func start() {
    send(.reset)
    send(.setEventMask(HCI.EventMask(rawValue: .max)))
    send(.setEventMaskPage2(.authenticatedPayloadTimeoutExpired))
    send(.leSetEventMask(HCI.LEEventMask(rawValue: .max)))
    clear()
  }

  func advertise(_ type: HCI.AdvertisingType = .connectableScannableUndirected, data: [UInt8] = [2, 1, 6]) {
    #expect(
      send(
        .leSetAdvertisingParameters(
          HCI.AdvertisingParameters(
            minimumInterval: 160, maximumInterval: 160, type: type, ownAddressType: .public))) == .success)
    #expect(send(.leSetAdvertisingData(ByteSlice(data))) == .success)
    #expect(send(.leSetAdvertisingEnable(true)) == .success)
  }

  func scan(isActive: Bool = false, filterDuplicates: Bool = false) {
    #expect(
      send(
        .leSetScanParameters(
          HCI.ScanParameters(isActive: isActive, interval: 48, window: 48, ownAddressType: .public))) == .success)
    #expect(send(.leSetScanEnable(true, filterDuplicates: filterDuplicates)) == .success)
  }

  func connect(to peer: ControllerHarness, interval: UInt16 = 24, latency: UInt16 = 0, timeout: UInt16 = 200) {
    #expect(send(.leCreateConnection(.to(peer, interval: interval, latency: latency, timeout: timeout))) == .success)
  }

  var reports: [HCI.AdvertisingReport] {
    events.flatMap { event -> [HCI.AdvertisingReport] in
      if case .leAdvertisingReport(let reports) = event { Array(reports) } else { [] }
    }
  }

  var connectionCompletes: [HCI.ConnectionComplete] {
    events.compactMap { event in
      switch event {
      case .leConnectionComplete(let complete), .leEnhancedConnectionComplete(let complete): complete
      default: nil
      }
    }
  }

  var disconnections: [HCI.ErrorCode] {
    events.compactMap { if case .disconnectionComplete(_, _, let reason) = $0 { reason } else { nil } }
  }
}

extension HCI.CreateConnection {
  static func to(_ peer: ControllerHarness, interval: UInt16 = 24, latency: UInt16 = 0, timeout: UInt16 = 200) -> Self {
    HCI.CreateConnection(
      scanInterval: 48, scanWindow: 48, usesAcceptList: false, peer: HCI.PeerAddress(peer.address),
      ownAddressType: .public,
      parameters: LinkParameters(
        minimumInterval: interval, maximumInterval: interval, latency: latency, supervisionTimeout: timeout))
  }
}

extension HCI.LEFeatures {
  /// The features that a peer sees: bits 27, 36, 40 and 41 are masked to it · Vol 6, Part B, 4.6.
  static let visible = claimed.subtracting([
    .remotePublicKeyValidation, .periodicAdvertisingADI, .advertisingCodingSelection,
    .advertisingCodingSelectionHostSupport,
  ])
}

extension HCI.ReturnParameters {
  var isSuccess: Bool { status == .success }
}

/// Tests read connections as copies, unlike the controller.
extension ConnectionTable: RandomAccessCollection {
  public var startIndex: Int { indices.lowerBound }
  public var endIndex: Int { indices.upperBound }
}
