import BluetoothController
import BluetoothDaemon
import BluetoothDissection
import BluetoothHost
import BluetoothRadio
import BluetoothSimulation
import BluetoothWire

/// The page's own central: a device of the world that connects to other devices over the air, so that viewers can read
/// their attributes, write them and subscribe. Confined to the world.
final class PageCentral: WorldDevice, PageDevice {
  /// The reason why a request failed, in one line.
  struct Failure: Error {
    let reason: String
  }

  typealias Answer = @Sendable (Result<JSONText, Failure>) -> Void

  /// The time for a connection and the discovery of all attributes.
  private static let openingTime = TimeSpan.seconds(20)
  /// Client Characteristic Configuration.
  private static let configuration: BluetoothUUID = 0x2902

  private enum Purpose {
    case services
    case characteristics(GATTService)
    case descriptors(GATTCharacteristic)
    /// A value that is read for the tree.
    case value(AttributeHandle)
    case read(AttributeHandle, Answer)
    case write(Answer)
    case subscribe(AttributeHandle, Bool, Answer)
  }

  // Unchecked: the properties are confined to the world, and no access overlaps another call. See `WorldEngine`.
  @exclusivity(unchecked) private var station: ControllerStation
  @exclusivity(unchecked) private var host: Host
  @exclusivity(unchecked) private var peers: [String: PagePeer] = [:]
  @exclusivity(unchecked) private var requests: [GATTToken: (peer: String, purpose: Purpose)] = [:]
  @exclusivity(unchecked) private var lastToken: GATTToken = 0
  @exclusivity(unchecked) private var values: [JSONText] = []
  @exclusivity(unchecked) private var isOn = false

  /// The maximum number of values between two ticks.
  private static let maximumValues = 256

  init(
    _ configuration: VirtualDeviceConfiguration, radio: RadioID, environment: DeviceEnvironment,
    generator: RandomStream, pool: PacketPool
  ) {
    station = ControllerStation(
      Controller(
        configuration: configuration.controller(random: generator), random: generator.split("controller"), pool: pool),
      StationSettings(of: radio, in: environment, named: configuration.name))
    host = Host(configuration: configuration.host, random: generator.split("host"), pool: pool)
  }

  // MARK: Requests of viewers

  /// Connects to a device and discovers its attributes. The answer is the tree of the attributes.
  func open(_ name: String, _ address: DeviceAddress, at now: Instant, _ answer: @escaping Answer) {
    if let peer = peers[name], peer.isComplete { return answer(.success(peer.pageText(of: name))) }
    if peers[name] == nil {
      peers[name] = PagePeer(address: address, deadline: now + Self.openingTime)
      if isOn { host.connect(to: address, at: now) }
    }
    peers[name]?.waiting.append(answer)
    exchange(at: now)
  }

  func close(_ name: String, at now: Instant, _ answer: Answer) {
    guard let peer = peers[name] else { return answer(.failure(Self.notOpen(name))) }
    end(name, "closed", at: now)
    if let handle = peer.handle {
      host.disconnect(handle, at: now)
    } else {
      host.cancelConnecting(to: peer.address, at: now)
    }
    exchange(at: now)
    answer(.success(.object([])))
  }

  func read(_ handle: AttributeHandle, of name: String, at now: Instant, _ answer: @escaping Answer) {
    request(.read(handle), .read(handle, answer), name, at: now, answer)
  }

  func write(
    _ value: [UInt8], to handle: AttributeHandle, of name: String, withResponse: Bool, at now: Instant,
    _ answer: @escaping Answer
  ) {
    let octets = ByteSlice(value)
    request(
      withResponse ? .write(handle, octets) : .writeWithoutResponse(handle, octets), .write(answer), name, at: now,
      answer)
  }

  func subscribe(
    _ isOn: Bool, to handle: AttributeHandle, of name: String, at now: Instant, _ answer: @escaping Answer
  ) {
    guard let peer = peers[name] else { return answer(.failure(Self.notOpen(name))) }
    guard let characteristic = peer.characteristic(handle),
      let descriptor = peer.descriptors[handle]?.first(where: { $0.uuid == Self.configuration })
    else { return answer(.failure(Failure(reason: "handle: no value that can be subscribed to"))) }
    let bits: UInt8 = characteristic.properties.contains(.notify) ? 1 : 2
    let value = ByteSlice([isOn ? bits : 0, 0])
    request(.write(descriptor.handle, value), .subscribe(handle, isOn, answer), name, at: now, answer)
  }

  private func request(
    _ request: GATTRequest, _ purpose: Purpose, _ name: String, at now: Instant, _ answer: Answer
  ) {
    guard let handle = peers[name]?.handle, peers[name]?.isComplete ?? false else {
      return answer(.failure(Self.notOpen(name)))
    }
    send(request, purpose, name, on: handle, at: now)
    exchange(at: now)
  }

  private func send(
    _ request: GATTRequest, _ purpose: Purpose, _ name: String, on handle: HCI.ConnectionHandle, at now: Instant
  ) {
    lastToken += 1
    requests[lastToken] = (name, purpose)
    host.request(request, token: lastToken, on: handle, at: now)
  }

  private static func notOpen(_ name: String) -> Failure {
    Failure(reason: "\"\(name.printable)\" is not connected: open it first")
  }

  /// Returns the values that have arrived since the last call.
  func takeValues() -> [JSONText] {
    defer { values = [] }
    return values
  }

  // MARK: Events of the host

  private func handle(_ event: HostEvent, at now: Instant) {
    switch event {
    case .powerChanged(.on):
      isOn = true
      for peer in peers.values where peer.handle == nil { host.connect(to: peer.address, at: now) }
    case .connected(let link):
      guard let name = peers.first(where: { $0.value.handle == nil && $0.value.address == link.peer })?.key else {
        return host.disconnect(link.handle, at: now)
      }
      peers[name]?.handle = link.handle
      peers[name]?.pending = 1
      send(.discoverPrimaryServices, .services, name, on: link.handle, at: now)
    case .connectionFailed(let address, let reason):
      guard let name = peers.first(where: { $0.value.address == address })?.key else { return }
      end(name, "connection failed: \(SpecificationNames.title(of: reason))", at: now)
    case .disconnected(let handle, let reason):
      guard let name = peers.first(where: { $0.value.handle == handle })?.key else { return }
      end(name, "the link has ended: \(SpecificationNames.title(of: reason))", at: now)
    case .gatt(let handle, .valueReceived(let attribute, let value)):
      guard let name = peers.first(where: { $0.value.handle == handle })?.key else { return }
      peers[name]?.values[attribute] = value.bytes
      if values.count < Self.maximumValues, let peer = peers[name] {
        values.append(peer.pageText(of: attribute, named: name, at: now))
      }
    case .gatt(let handle, .completed(let token, let result)):
      if let (name, purpose) = requests.removeValue(forKey: token) {
        complete(purpose, result, name, on: handle, at: now)
      }
    case .security(let handle, .prompt(let prompt)): answer(prompt, on: handle, at: now)
    default: break
    }
  }

  /// Answers like a device without a user: it allows pairing.
  private func answer(_ prompt: PairingPrompt, on link: HCI.ConnectionHandle, at now: Instant) {
    let pairing = Prompt.Pairing(
      identifier: .unknown, name: nil, isLocallyInitiated: host.hasDemand(on: link),
      replacesBond: host.isBonded(link), isProven: host.isProven(link))
    guard let answer = AutomaticPrompts.Policy.accept.answer(to: .pairing(prompt, pairing)) else { return }
    host.answer(answer, on: link, at: now)
  }

  /// Forgets a peer, and fails what waits for it.
  private func end(_ name: String, _ reason: String, at now: Instant) {
    guard let peer = peers.removeValue(forKey: name) else { return }
    let failure = Failure(reason: reason)
    for answer in peer.waiting { answer(.failure(failure)) }
    for (token, request) in requests where request.peer == name {
      requests[token] = nil
      switch request.purpose {
      case .read(_, let answer), .write(let answer), .subscribe(_, _, let answer): answer(.failure(failure))
      case .services, .characteristics, .descriptors, .value: break
      }
    }
  }

  private func complete(
    _ purpose: Purpose, _ result: Result<GATTResponse, GATTError>, _ name: String, on handle: HCI.ConnectionHandle,
    at now: Instant
  ) {
    switch (purpose, result) {
    case (.services, .success(.services(let services))):
      peers[name]?.services = services
      for service in services { discover(.discoverCharacteristics(in: service.range), .characteristics(service)) }
      finishDiscovery()
    case (.characteristics(let service), .success(.characteristics(let all))):
      peers[name]?.characteristics[service.range.lowerBound] = all
      for characteristic in all {
        let range = host.remoteDatabase(on: handle).descriptorRange(ofValue: characteristic.value)
        if let range { discover(.discoverDescriptors(in: range), .descriptors(characteristic)) }
        if characteristic.properties.contains(.read) {
          discover(.read(characteristic.value), .value(characteristic.value))
        }
      }
      finishDiscovery()
    case (.descriptors(let characteristic), .success(.descriptors(let all))):
      peers[name]?.descriptors[characteristic.value] = all
      finishDiscovery()
    case (.value(let attribute), .success(.value(let octets))):
      peers[name]?.values[attribute] = octets.bytes
      finishDiscovery()
    // A part of the tree that can't be read is missing in it.
    case (.services, _), (.characteristics, _), (.descriptors, _), (.value, _): finishDiscovery()
    case (.read(let attribute, let answer), .success(.value(let octets))):
      peers[name]?.values[attribute] = octets.bytes
      answer(.success(peers[name]?.pageText(of: attribute, named: name, at: now) ?? .object([])))
    case (.write(let answer), .success): answer(.success(.object([])))
    case (.subscribe(let attribute, let isOn, let answer), .success):
      if isOn { peers[name]?.subscribed.insert(attribute) } else { peers[name]?.subscribed.remove(attribute) }
      answer(.success(.object([])))
    case (.read(_, let answer), _), (.write(let answer), .failure), (.subscribe(_, _, let answer), .failure):
      let reason =
        switch result {
        case .failure(.att(let code)): SpecificationNames.title(of: code)
        case .failure(let error): "\(error)"
        case .success: "no value"
        }
      answer(.failure(Failure(reason: "the device answered: \(reason)")))
    }

    func discover(_ request: GATTRequest, _ purpose: Purpose) {
      peers[name]?.pending += 1
      send(request, purpose, name, on: handle, at: now)
    }

    func finishDiscovery() {
      peers[name]?.pending -= 1
      guard let peer = peers[name], peer.pending == 0, !peer.isComplete else { return }
      peers[name]?.isComplete = true
      peers[name]?.deadline = nil
      peers[name]?.waiting = []
      for answer in peer.waiting { answer(.success(peer.pageText(of: name))) }
    }
  }

  // MARK: SimulatedDevice

  @exclusivity(unchecked) private(set) var deadline: Instant?

  func timeReached(_ now: Instant) {
    station.timeReached(now) { host.receive($0, at: now) }
    if let deadline = host.deadline, deadline <= now { host.timeReached(now) }
    for (name, peer) in peers {
      guard let deadline = peer.deadline, deadline <= now else { continue }
      end(name, "no connection within \(Self.openingTime.nanoseconds / 1_000_000_000) s", at: now)
      if let handle = peer.handle {
        host.disconnect(handle, at: now)
      } else {
        host.cancelConnecting(to: peer.address, at: now)
      }
    }
    exchange(at: now)
  }

  func radio(_ event: RadioEvent, at now: Instant) {
    station.radio(event, at: now)
    exchange(at: now)
  }

  func takeRadioCommand() -> RadioCommand? { station.takeRadioCommand() }

  private func exchange(at now: Instant) {
    while true {
      while let event = host.takeEvent() { handle(event, at: now) }
      while let packet = host.takePacket() { station.receive(packet, at: now) }
      guard station.sendPacket(at: now, toHost: { host.receive($0, at: now) }) else { break }
    }
    deadline = earliest(station.deadline, host.deadline)
    for peer in peers.values { deadline = earliest(deadline, peer.deadline) }
  }

  // MARK: WorldDevice

  var identityAddress: DeviceAddress? { host.ownIdentity }
  var isPowered: Bool? { isOn }
  var links: [LinkReport] { station.controller.links }
  var attempts: [AttemptReport] { station.controller.attempts }

  func setPower(_ on: Bool, at now: Instant) {
    if !on { isOn = false }
    host.setPower(on, at: now)
    exchange(at: now)
  }

  func withHost(at now: Instant, _ body: (inout Host) -> Void) -> Bool {
    body(&host)
    exchange(at: now)
    return true
  }

  func forgetBonds(at now: Instant) {
    for bond in host.bonds { host.removeBond(bond.identity, at: now) }
    exchange(at: now)
  }

  func setCapture(_ capture: DeviceCapture?) { station.setCapture(capture) }
  func hasAddress(_ address: DeviceAddress) -> Bool { host.hasAddress(address) }
  func uses(at now: Instant) -> RadioTimeAccount { station.uses(at: now) }

  func setClockDrift(partsPerBillion: Int64) {
    station.controller.setSleepClockDrift(partsPerBillion: partsPerBillion)
  }

  func failController(at now: Instant) {
    station.controller.fail(at: now)
    exchange(at: now)
  }
}
