import BluetoothWire
import Testing

@testable import BluetoothController
@testable import BluetoothHost

@Suite("A random client and a random database over a lossy link")
struct RandomClientTests {
  @Test("A client's requests get the results of a plain model of the database", arguments: UInt64(0)..<12)
  func modelAgrees(seed: UInt64) throws {
    let world = try RandomGATTWorld(seed: seed)
    for step in 0..<40 where world.isRight {
      world.step()
      if !world.isRight { Issue.record("seed \(seed), step \(step): \(world.history.suffix(4))") }
    }
    world.finish()
    #expect(world.isRight, "seed \(seed)")
    #expect(world.comparisons > 20)
  }
}

/// A central and a peripheral on an air that loses packets, with a model of the peripheral's database.
private final class RandomGATTWorld {
  private let air = PerfectAir()
  private let central: HostOnController
  private let peripheral: HostOnController
  private var model = ModelDatabase()
  private var random: RandomStream
  private var link: HCI.ConnectionHandle?
  private var atPeripheral: HCI.ConnectionHandle?
  private var token: GATTToken = 0
  /// True once the client has discovered all services on this link, and so receives changes.
  private var hasDiscovered = false
  /// The values that the app of the peripheral holds.
  private var values: [UInt16: [UInt8]] = [:]
  private(set) var isRight = true
  private(set) var comparisons = 0
  private(set) var history: [String] = []

  init(seed: UInt64) throws {
    random = RandomStream(seed: seed)
    let mtu = [23, 48, 185, 517][Int(random.next() % 4)]
    central = HostOnController("central", seed: seed, on: air) {
      $0.maximumMTU = mtu
      // Requests for protected attributes fail permanently.
      $0.pairing.isPairable = false
      $0.connection = LinkParameters(
        minimumInterval: 12, maximumInterval: 12, latency: 0, supervisionTimeout: 600)
    }
    peripheral = HostOnController("peripheral", seed: seed, on: air)
    peripheral.onEvent = { [unowned self] in serve($0) }
    var airRandom = RandomStream(seed: seed ^ 0xA1)
    air.outcome = { _ in
      switch airRandom.next() % 16 {
      case 0: .lost
      case 1: .corrupt
      default: .arrives
      }
    }
    for _ in 0..<3 { addService() }
    peripheral.perform { $0.startAdvertising(data: [2, 1, 6], scanResponse: [], at: $1) }
    connect()
  }

  private func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
  private func octets(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) } }
  private var someLength: Int { [0, 1, 2, 20, 22, 23, 47, 100, 184, 300, 511, 512][below(12)] }
  private func pick<T>(_ list: [T]) -> T? { list.isEmpty ? nil : list[below(list.count)] }

  private func fail(_ what: String) {
    isRight = false
    Issue.record("\(what)")
  }

  private func run(until condition: () -> Bool, _ what: String, limit: TimeSpan = .seconds(20)) {
    if !air.run([central, peripheral], until: condition, limit: limit) { fail("\(what) does not come to an end") }
  }

  private func wait(_ span: TimeSpan) { air.run([central, peripheral], until: { false }, limit: span) }

  // MARK: The app of the peripheral

  private func serve(_ event: HostEvent) -> Bool {
    switch event {
    case .connected(let link): atPeripheral = link.handle
    case .disconnected: atPeripheral = nil
    case .gatt(let link, .readRequested(let request, let handle, let offset)):
      let value = values[handle] ?? []
      let result: Result<ByteSlice, ATT.ErrorCode> =
        offset <= value.count ? .success(ByteSlice(value.dropFirst(offset))) : .failure(.invalidOffset)
      peripheral.host.respond(to: request, on: link, with: result, at: peripheral.now)
    case .gatt(let link, .writeRequested(let request, let parts)):
      for part in parts {
        values[part.handle] = Array((values[part.handle] ?? []).prefix(part.offset)) + part.value.bytes
      }
      if let request {
        peripheral.host.respond(to: request, on: link, with: .success([]), at: peripheral.now)
      }
    default: break
    }
    return true
  }

  // MARK: Links

  private func connect() {
    let address = peripheral.host.address
    central.perform { $0.connect(to: address, at: $1) }
    run(
      until: {
        for case .connected(let made) in central.takeEvents() { link = made.handle }
        return link != nil && atPeripheral != nil
      }, "connecting")
    guard let link else { return }
    run(until: { central.host.mtu(of: link) == central.host.context.configuration.maximumMTU }, "the MTU exchange")
    hasDiscovered = false
    model.forgetClient()
  }

  private func reconnect() {
    guard let link else { return }
    history.append("reconnect")
    // Sometimes after cache validation, sometimes before.
    wait(.milliseconds(Int64(below(3)) * 300))
    central.perform { $0.disconnect(link, at: $1) }
    run(until: { central.takeEvents().contains { if case .disconnected = $0 { true } else { false } } }, "the link")
    self.link = nil
    run(until: { atPeripheral == nil }, "the link")
    if below(2) == 0 { change() }
    connect()
  }

  // MARK: The database

  private func addService() {
    let primaries = model.services.keys.sorted().filter { $0 > 19 }
    var characteristics: [GATTCharacteristicDefinition] = []
    for _ in 0..<below(4) { characteristics.append(someCharacteristic()) }
    let definition = GATTServiceDefinition(
      uuid: someUUID(), isPrimary: below(4) != 0, includes: primaries.filter { _ in below(3) == 0 },
      characteristics: characteristics)
    let result = peripheral.perform { $0.addService(definition, at: $1) }
    guard case .success(let placement) = result else {
      fail("\(result)")
      return
    }
    model.add(definition, at: placement.range.lowerBound)
    if model.services[placement.range.lowerBound]?.range != placement.range { fail("a service stands elsewhere") }
  }

  private func someUUID() -> BluetoothUUID {
    let number = UInt16(0xAA00 + below(6))
    return below(2) == 0 ? BluetoothUUID(number) : BluetoothUUID(high: UInt64(number), low: 0x1234)
  }

  private func someCharacteristic() -> GATTCharacteristicDefinition {
    // All properties except Extended Properties, which the database sets itself.
    let properties = CharacteristicProperties(rawValue: UInt8(truncatingIfNeeded: random.next()) & 0x7F)
    let descriptors = (0..<below(3)).map { _ in
      GATTDescriptorDefinition(uuid: below(2) == 0 ? 0x2901 : someUUID(), value: ByteSlice(octets(someLength)))
    }
    if below(3) == 0 {
      return GATTCharacteristicDefinition(
        uuid: someUUID(), properties: [.read], permissions: .readable, value: ByteSlice(octets(someLength)),
        descriptors: descriptors)
    }
    let permissions: [AttributePermissions] = [
      [], .readable, .writeable, [.readable, .writeable], [.readEncryptionRequired, .writeable],
    ]
    let isSecret = below(5) == 0
    return GATTCharacteristicDefinition(
      uuid: someUUID(), properties: isSecret ? [.read, .write] : properties,
      permissions: isSecret ? permissions[4] : permissions[below(4)], value: nil, descriptors: descriptors)
  }

  /// Adds or removes a random service.
  private func change() {
    if let declaration = pick(model.services.keys.sorted().filter { $0 > 19 }), below(2) == 0 {
      history.append("remove \(declaration)")
      let gone = model.services[declaration]?.range ?? 1...1
      model.remove(declaration)
      values = values.filter { !gone.contains($0.key) }
      peripheral.perform { $0.removeService(declaration: declaration, at: $1) }
    } else {
      history.append("add")
      addService()
    }
  }

  private func changeWhileConnected() {
    _ = central.takeEvents()
    let before = model.primaryServices
    change()
    guard hasDiscovered, before != model.primaryServices else { return wait(.milliseconds(300)) }
    run(
      until: { central.takeEvents().contains { if case .gatt(_, .servicesChanged) = $0 { true } else { false } } },
      "the change", limit: .seconds(3))
  }

  // MARK: Requests

  func step() {
    switch below(12) {
    case 0: reconnect()
    case 1: changeWhileConnected()
    case 2: update()
    case 3: changeDuringDiscovery()
    default: ask((0..<1 + below(4)).map { _ in someRequest() })
    }
  }

  /// Discovers all services once more.
  func finish() {
    guard isRight else { return }
    ask([.discoverPrimaryServices])
    for (declaration, service) in model.services.sorted(by: { $0.key < $1.key }) where declaration > 19 {
      ask([.findIncludedServices(in: service.range), .discoverCharacteristics(in: service.range)])
    }
  }

  private func someRequest() -> GATTRequest {
    let handles = model.attributes.keys.sorted()
    let some = below(8) == 0 ? UInt16(20 + below(300)) : pick(handles) ?? 25
    let service = pick(model.services.filter { $0.key > 19 }.keys.sorted()).flatMap { model.services[$0] }
    let isConfiguration = [0x2902, 0x2903].contains(model.attributes[some]?.type)
    switch below(13) {
    case 0: return .discoverPrimaryServices
    case 1: return .discoverPrimaryService(someUUID())
    case 2: if let service { return .findIncludedServices(in: service.range) }
    case 3: if let service { return .discoverCharacteristics(in: service.range) }
    case 4: if let service { return .discoverCharacteristic(someUUID(), in: service.range) }
    case 5:
      if let service, let (index, one) = pick(Array(service.characteristics.enumerated())) {
        let next = service.characteristics.dropFirst(index + 1).first?.declaration
        let end = next.map { $0 - 1 } ?? service.range.upperBound
        if one.value < end { return .discoverDescriptors(in: one.value + 1...end) }
      }
    case 6: if let configuration = someConfiguration() { return configuration }
    case 7: return .readMultiple((0..<below(4)).map { _ in pick(handles) ?? 25 })
    case 8 where !isConfiguration: return .write(some, ByteSlice(octets(below(20) == 0 ? 513 : someLength)))
    case 9 where !isConfiguration: return .writeWithoutResponse(some, ByteSlice(octets(min(someLength, 60))))
    case 10: return .reliableWrite(someParts())
    case 11: return .readMultipleVariable((0..<below(5)).map { _ in pick(handles) ?? 25 })
    default: break
    }
    return .read(some)
  }

  private func someConfiguration() -> GATTRequest? {
    guard let handle = pick(model.configurations.keys.sorted()), let value = model.configurations[handle] else {
      return nil
    }
    let offers = model.attributes[value]?.offers ?? 0
    let features = below(4) == 0 ? 0 : offers == 3 ? UInt8(1 + below(2)) : offers
    return .write(handle, [features, 0])
  }

  /// Returns whole values for different attributes, up to the size of a queue of prepared writes.
  private func someParts() -> [GATTWritePart] {
    let handles = model.attributes.keys.sorted().filter { ![0x2902, 0x2903].contains(model.attributes[$0]?.type) }
    var parts: [GATTWritePart] = []
    for _ in 0..<below(4) {
      guard let handle = pick(handles), !parts.contains(where: { $0.handle == handle }) else { continue }
      parts.append(GATTWritePart(handle: handle, offset: 0, value: ByteSlice(octets(below(300)))))
    }
    return parts
  }

  private func expected(_ request: GATTRequest, _ mtu: Int) -> Result<GATTResponse, GATTError> {
    switch request {
    case .discoverPrimaryServices: return .success(.services(model.primaryServices))
    case .discoverPrimaryService(let uuid):
      return .success(.services(model.primaryServices.filter { $0.uuid == uuid }))
    case .findIncludedServices(let range): return .success(.includedServices(model.includes(of: range.lowerBound)))
    case .discoverCharacteristics(let range):
      return .success(.characteristics(model.services[range.lowerBound]?.characteristics ?? []))
    case .discoverCharacteristic(let uuid, let range):
      let all = model.services[range.lowerBound]?.characteristics ?? []
      return .success(.characteristics(all.filter { $0.uuid == uuid }))
    case .discoverDescriptors(let range): return .success(.descriptors(model.descriptors(in: range)))
    case .read(let handle): return model.read(handle)
    case .readMultiple(let handles): return model.readMultiple(handles, mtu: mtu)
    case .readMultipleVariable(let handles): return model.readMultipleVariable(handles, mtu: mtu)
    case .write(let handle, let value): return model.write(handle, value.bytes)
    case .writeWithoutResponse(let handle, let value): return model.command(handle, value.bytes, mtu: mtu)
    case .reliableWrite(let parts): return model.writeReliably(parts)
    case .readByType, .signedWriteWithoutResponse: return .failure(.invalidResponse)
    }
  }

  /// Sends all requests at once and compares the results.
  private func ask(_ requests: [GATTRequest]) {
    guard let link else { return }
    _ = central.takeEvents()
    let mtu = central.host.mtu(of: link)
    var open: [(token: GATTToken, result: Result<GATTResponse, GATTError>)] = []
    for request in requests {
      token += 1
      history.append("\(request)".prefix(120).description)
      if case .discoverPrimaryServices = request { hasDiscovered = true }
      open.append((token, expected(request, mtu)))
      central.perform { $0.request(request, token: token, on: link, at: $1) }
    }
    var results: [(token: GATTToken, result: Result<GATTResponse, GATTError>)] = []
    run(
      until: {
        for case .gatt(_, .completed(let token, let result)) in central.takeEvents() { results.append((token, result)) }
        return results.count >= open.count
      }, "\(requests)")
    for (got, wanted) in zip(results, open) {
      comparisons += 1
      if got.token != wanted.token || got.result != wanted.result {
        fail("got \(String(describing: got).prefix(400)), not \(String(describing: wanted).prefix(400))")
      }
    }
  }

  /// The server updates a value, which the client receives if it has subscribed.
  private func update() {
    guard let atPeripheral, let link,
      let value = pick(model.attributes.keys.sorted().filter { model.attributes[$0]?.offers != 0 })
    else { return }
    _ = central.takeEvents()
    let bytes = octets(someLength)
    history.append("update \(value)")
    peripheral.perform { $0.update(value, with: ByteSlice(bytes), on: atPeripheral, at: $1) }
    let wanted: [ByteSlice] =
      model.subscription(to: value) == 0 ? [] : [ByteSlice(bytes.prefix(central.host.mtu(of: link) - 3))]
    var got: [ByteSlice] = []
    air.run(
      [central, peripheral],
      until: {
        for case .gatt(_, .valueReceived(value, let bytes)) in central.takeEvents() { got.append(bytes) }
        return !wanted.isEmpty && got == wanted
      }, limit: wanted.isEmpty ? .milliseconds(200) : .seconds(10))
    comparisons += 1
    if got != wanted { fail("update of \(value): \(got), not \(wanted)") }
  }

  /// Changes the database during a discovery. The client gets one state or the other, or learns that it is out of sync.
  /// A discovery afterwards gives the right result.
  private func changeDuringDiscovery() {
    guard let link else { return }
    _ = central.takeEvents()
    let before = model.primaryServices
    token += 1
    hasDiscovered = true
    central.perform { $0.request(.discoverPrimaryServices, token: token, on: link, at: $1) }
    wait(.milliseconds(Int64(below(60))))
    change()
    var results: [Result<GATTResponse, GATTError>] = []
    run(
      until: {
        for case .gatt(_, .completed(_, let result)) in central.takeEvents() { results.append(result) }
        return !results.isEmpty
      }, "the discovery")
    let allowed: [Result<GATTResponse, GATTError>] = [
      .success(.services(before)), .success(.services(model.primaryServices)), .failure(.att(.databaseOutOfSync)),
    ]
    comparisons += 1
    if let got = results.first, !allowed.contains(got) { fail("got \(got) during a change") }
    // If the link was not yet subscribed to changes, the client detects them once the link is quiet.
    wait(.milliseconds(1500))
    ask([.discoverPrimaryServices])
  }
}
