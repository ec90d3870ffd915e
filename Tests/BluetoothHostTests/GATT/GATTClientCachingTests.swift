import BluetoothWire
import Testing

@testable import BluetoothHost

@Suite("GATT client: cache of a server's database")
struct GATTClientCachingTests {
  /// Discovers everything, in order. Returns the responses.
  private func discoverAll(_ pair: inout GATTPair) throws -> [GATTResponse] {
    var responses = [try pair.get(.discoverPrimaryServices)]
    guard case .services(let services) = responses[0] else { return [] }
    for service in services {
      responses.append(try pair.get(.findIncludedServices(in: service.range)))
      let characteristics = try pair.get(.discoverCharacteristics(in: service.range))
      responses.append(characteristics)
      guard case .characteristics(let list) = characteristics else { return [] }
      for (index, one) in list.enumerated() {
        let end = list.dropFirst(index + 1).first.map { $0.declaration - 1 } ?? service.range.upperBound
        if one.value < end { responses.append(try pair.get(.discoverDescriptors(in: one.value + 1...end))) }
      }
    }
    return responses
  }

  private func isDiscovery(_ opcode: ATT.Opcode) -> Bool {
    [.findInformationRequest, .findByTypeValueRequest, .readByGroupTypeRequest].contains(opcode)
  }

  private func changes(_ events: [GATTEvent]) -> [ClosedRange<AttributeHandle>] {
    events.compactMap { if case .servicesChanged(let range, _) = $0 { range } else { nil } }
  }

  /// Returns a link on which everything was discovered and that was quiet afterwards.
  private func acquainted(_ database: GATTDatabase) throws -> (pair: GATTPair, found: [GATTResponse]) {
    var pair = GATTPair(database)
    let found = try discoverAll(&pair)
    pair.pass(.seconds(1))
    return (pair, found)
  }

  @Test("On the next link to a server with a hash, one read of the hash replaces all discoveries")
  func nextLink() throws {
    let first = try acquainted(try GATTPairTests.sensor())
    let cache = try #require(first.pair.central.cache)
    var second = GATTPair(first.pair.database, cache: cache)
    let again = try discoverAll(&second)
    #expect(again == first.found)
    #expect(second.sent.filter(isDiscovery).isEmpty)
    #expect(second.sent.prefix(2) == [.exchangeMTURequest, .readByTypeRequest])
    let byUUID = try second.get(.discoverPrimaryService(0x180D))
    #expect(byUUID == .services([GATTService(range: 20...28, uuid: 0x180D)]))
    guard case .success(.characteristics(let some))? = second.perform(.discoverCharacteristic(0x2A38, in: 20...28))
    else {
      Issue.record("no characteristics")
      return
    }
    #expect(some.map(\.value) == [25])
    second.pass(.seconds(1))
    #expect(second.sent.filter(isDiscovery).isEmpty)
    #expect(second.sent.contains(.writeRequest), "the subscription to Service Changed is made anew")
    // The same holds for the link after that.
    var third = GATTPair(second.database, cache: second.central.cache)
    let onceMore = try discoverAll(&third)
    #expect(onceMore == first.found)
    #expect(third.sent.filter(isDiscovery).isEmpty)
  }

  @Test("A link without a discovery leaves the cache unchanged and sends nothing for it")
  func unusedCache() throws {
    let first = try acquainted(try GATTPairTests.sensor())
    var second = GATTPair(first.pair.database, cache: first.pair.central.cache)
    #expect(second.perform(.read(3)) != nil)
    second.pass(.seconds(1))
    #expect(second.sent == [.exchangeMTURequest, .readRequest])
    #expect(second.central.cache == first.pair.central.cache)
  }

  @Test("A change while the client was away is detected before a discovery is answered")
  func changedWhileAway() throws {
    let first = try acquainted(try GATTPairTests.sensor())
    var database = first.pair.database
    _ = database.remove(declaration: 20)
    var second = GATTPair(database, cache: first.pair.central.cache)
    guard case .success(.services(let services))? = second.perform(.discoverPrimaryServices) else {
      Issue.record("no services")
      return
    }
    #expect(!services.contains { $0.uuid == 0x180D })
    second.pass(.seconds(1))
    #expect(changes(second.centralEvents).isEmpty)
    let cache = try #require(second.central.cache)
    #expect(cache != first.pair.central.cache)
    var third = GATTPair(database, cache: cache)
    #expect(third.perform(.discoverPrimaryServices) == .success(.services(services)))
    #expect(third.sent.filter(isDiscovery).isEmpty)
  }

  @Test("The results of a link are not cached if the link was never quiet long enough for cache validation")
  func unproven() throws {
    var pair = GATTPair(try GATTPairTests.sensor())
    _ = try discoverAll(&pair)
    #expect(pair.central.cache == nil)
    pair.pass(.milliseconds(100))
    #expect(pair.central.cache == nil)
    pair.pass(.milliseconds(50))
    #expect(pair.central.cache != nil)
  }

  @Test("On a link that is never quiet, cache validation takes place between the upper layer's requests")
  func busyLink() throws {
    var pair = GATTPair(try GATTPairTests.sensor())
    _ = try discoverAll(&pair)
    for _ in 0..<200 { _ = pair.perform(.read(3)) }
    #expect(pair.central.cache != nil)
    #expect(pair.sent.count < 300)
  }

  @Test("Robust Caching is enabled when the link is quiet, and no feature that was set is cleared")
  func robustCaching() {
    var client = BearerHarness(.central)
    _ = client.request(.discoverPrimaryServices)
    // GATT 1…3: the service declaration, then declaration and value of Client Supported Features.
    _ = client.send("1106 0100 0300 0118")
    #expect(client.send("011004000a") == [hex("0401000300")])
    #expect(client.send("0501 01000028 02000328 0300292b") == [])
    client.pass(.milliseconds(149))
    #expect(client.take() == [])
    client.pass(.milliseconds(1))
    #expect(client.take() == [hex("0a0300")])
    #expect(client.send("0b06") == [hex("12030007")])
  }

  @Test("Requests of the upper layer take precedence over deferrable requests of the client")
  func order() throws {
    var pair = GATTPair(try GATTPairTests.sensor())
    #expect(pair.perform(.discoverPrimaryServices) != nil)
    let before = pair.sent.count
    for _ in 0..<10 { _ = pair.perform(.read(3)) }
    #expect(pair.sent.dropFirst(before).allSatisfy { $0 == .readRequest })
  }

  // MARK: Changes

  @Test("A service removed before the client could subscribe is detected, with a hash or without")
  func changeInTheWindow() throws {
    for isHashed in [true, false] {
      var client = BearerHarness(.central)
      _ = client.request(.discoverPrimaryServices)
      // GATT 1…4 or 1…6, and 180D at 10…20.
      let end = isHashed ? "0600" : "0400"
      #expect(client.send("1106 0100 \(end) 0118 0a00 1400 0d18") == [hex("101500ffff0028")])
      #expect(client.send("011015000a") == [hex("040100" + end)])
      let hash = isHashed ? " 05000328 06002a2b" : ""
      var next = client.send("0501 02000328 0300052a 04000229" + hash)
      if isHashed {
        #expect(next == [hex("080100ffff2a2b")])
        next = client.send(hex("0912 0600") + pattern(16))
      }
      #expect(next == [hex("1204000200")])
      #expect(client.send("13") == [])
      client.pass(.seconds(1))
      #expect(client.take() == [hex("100100ffff0028")])
      // 180D has been removed; 180F is at 21…25.
      #expect(client.send("1106 0100 \(end) 0118 1500 1900 0f18") == [hex("101a00ffff0028")])
      _ = client.send("01101a000a")
      #expect(changes(client.events) == [10...25], "\(isHashed)")
    }
  }

  @Test("A hash that has changed without Service Changed invalidates the whole cache")
  func silentChange() throws {
    var (pair, _) = try acquainted(try GATTPairTests.sensor())
    _ = pair.database.remove(declaration: 20)
    // A new result that needs validation.
    #expect(pair.perform(.discoverDescriptors(in: 1...5)) != nil)
    pair.pass(.seconds(1))
    #expect(changes(pair.centralEvents) == [1...0xFFFF])
    #expect(pair.central.cache == nil)
    guard case .success(.services(let services))? = pair.perform(.discoverPrimaryServices) else {
      Issue.record("no services")
      return
    }
    #expect(!services.contains { $0.uuid == 0x180D })
    pair.pass(.seconds(1))
    #expect(pair.central.cache != nil)
  }

  @Test("A server whose hash changes with every read is cached only for the first few discoveries")
  func restlessHash() throws {
    var client = BearerHarness(.central)
    var number: UInt8 = 0
    func answer(_ pdu: ByteSlice) -> ByteSlice {
      switch pdu[0] {
      case 0x10: return pdu[1] == 1 ? hex("1106 0100 0600 0118") : hex("011007000a")
      case 0x04: return hex("0501 01000028 02000328 0300052a 04000229 05000328 06002a2b")
      case 0x08:
        number &+= 1
        return hex("0912 0600") + ByteSlice([UInt8](repeating: number, count: 16))
      default: return [0x13]
      }
    }
    for _ in 0..<20 {
      var next = client.request(.discoverPrimaryServices)
      for _ in 0..<2 {
        while let pdu = next.first { next = client.send(answer(pdu)) }
        client.pass(.seconds(1))
        next = client.take()
      }
      while let pdu = next.first { next = client.send(answer(pdu)) }
    }
    #expect(changes(client.events).count <= 4)
    #expect(client.bearer.cache == nil)
    #expect(client.bearer.deadline == nil)
  }

  @Test("Database Out Of Sync clears the cache and fails requests by handle; the hash is read and a discovery goes on")
  func outOfSync() throws {
    let known = try #require(try acquainted(try GATTPairTests.sensor()).pair.central.cache)
    var client = BearerHarness(.central)
    client.bearer.offer(known)
    _ = client.request(.read(3), token: 1)
    _ = client.request(.write(5, [1]), token: 2)
    _ = client.request(.writeWithoutResponse(5, [1]), token: 3)
    _ = client.request(.discoverCharacteristics(in: 20...28), token: 4)
    _ = client.request(.discoverPrimaryServices, token: 5)
    #expect(client.send("010a030012") == [hex("080100ffff2a2b")])
    let failed = Result<GATTResponse, GATTError>.failure(.att(.databaseOutOfSync))
    #expect(
      client.events == [
        .servicesChanged(1...0xFFFF, services: []), .completed(2, failed), .completed(3, failed), .completed(4, failed),
        .completed(1, failed),
      ])
    #expect(client.send(hex("0912 0600") + pattern(16)) == [hex("100100ffff0028")])
    #expect(client.send("0110010012") == [hex("100100ffff0028")])
    #expect(client.events.last == .servicesChanged(1...0xFFFF, services: []))
    // The client reads the hash of the current database.
    #expect(client.send("011001000a") == [hex("080100ffff2a2b")])
  }

  @Test("A server that answers every request with Database Out Of Sync gets only a few requests")
  func alwaysOutOfSync() {
    var client = BearerHarness(.central)
    var next = client.request(.discoverPrimaryServices)
    var requests = 0
    while let pdu = next.first, requests < 100 {
      requests += 1
      next = client.send(ByteSlice([0x01, pdu[0], 0, 0, 0x12]))
    }
    #expect(requests < 10)
    #expect(client.events.last == .completed(1, .failure(.att(.databaseOutOfSync))))
  }

  @Test("Service Changed cancels only pending requests for handles in its range")
  func changeStopsRequests() throws {
    var (pair, _) = try acquainted(try GATTPairTests.sensor())
    pair.centralEvents = []
    let requests: [GATTRequest] = [
      .read(3), .read(25), .write(41, [1]), .readMultiple([3, 22]), .discoverDescriptors(in: 26...30),
      .reliableWrite([GATTWritePart(handle: 3, offset: 0, value: []), GATTWritePart(handle: 28, offset: 0, value: [])]),
      .discoverPrimaryServices, .readMultipleVariable([3, 22]),
    ]
    for (token, request) in requests.enumerated() {
      pair.central.request(request, token: GATTToken(token), at: pair.now)
    }
    let value = try #require(pair.serviceChangedValue)
    pair.central.receive(
      ByteSlice([0x1D] + value.octets + [20, 0, 28, 0]), database: &pair.centralDatabase, at: pair.now)
    while let event = pair.central.takeEvent() { pair.centralEvents.append(event) }
    let failed = Result<GATTResponse, GATTError>.failure(.att(.databaseOutOfSync))
    #expect(
      pair.centralEvents == [
        .servicesChanged(20...28, services: [20...28]), .completed(1, failed), .completed(3, failed),
        .completed(4, failed), .completed(5, failed), .completed(7, failed),
      ])
    pair.run()
    #expect(pair.centralEvents.count == 9)
  }

  @Test("A discovery of services restarts when services change during it; a discovery within a changed range fails")
  func changeDuringDiscovery() throws {
    var client = BearerHarness(.central)
    _ = client.request(.discoverPrimaryServices)
    _ = client.send("1106 0100 0400 0118")
    _ = client.send("011005000a")
    _ = client.send("0501 01000028 02000328 0300052a 04000229")
    _ = client.send("13")
    client.events = []
    _ = client.request(.discoverPrimaryServices, token: 2)
    _ = client.send("1106 0100 0400 0118 0a00 1400 0d18")
    #expect(client.send("1d0300 0a001400") == [hex("1e")])
    #expect(client.send("1106 1500 1900 0f18") == [hex("100100ffff0028")])
    #expect(client.send("1106 0100 0400 0118 1500 ffff 0f18") == [])
    let services = [GATTService(range: 1...4, uuid: 0x1801), GATTService(range: 21...0xFFFF, uuid: 0x180F)]
    #expect(
      client.events == [.servicesChanged(10...20, services: []), .completed(2, .success(.services(services)))])

    client.events = []
    _ = client.request(.discoverCharacteristics(in: 21...30), token: 3)
    _ = client.send("1d0300 1500ffff")
    _ = client.send("0907 1600 02 1700 372a")
    #expect(
      client.events == [
        .servicesChanged(21...0xFFFF, services: [21...0xFFFF]),
        .completed(3, .failure(.att(.databaseOutOfSync))),
      ])
  }

  @Test("Several changes before the next discovery of services are all reported")
  func changesInARow() {
    var client = BearerHarness(.central)
    _ = client.request(.discoverPrimaryServices)
    _ = client.send("1106 0100 0400 0118")
    _ = client.send("011005000a")
    _ = client.send("0501 01000028 02000328 0300052a 04000229")
    _ = client.send("13")
    for _ in 0..<3 { #expect(client.send("1d0300 0100ffff") == [hex("1e")]) }
    #expect(changes(client.events) == [1...0xFFFF, 1...0xFFFF, 1...0xFFFF])
  }

  @Test("A cached handle that the server rejects ends the trust in its hash")
  func lyingHash() throws {
    let first = try acquainted(try GATTPairTests.sensor())
    var second = GATTPair(first.pair.database, cache: first.pair.central.cache)
    #expect(second.perform(.discoverPrimaryServices) != nil)
    second.central.request(.read(22), token: 1, at: second.now)
    while second.central.takePDU(at: second.now) != nil {}
    second.central.receive(hex("010a160001"), database: &second.centralDatabase, at: second.now)
    second.run()
    #expect(second.central.cache == nil)
    let before = second.sent.count
    #expect(second.perform(.discoverPrimaryServices) != nil)
    #expect(second.sent.dropFirst(before).contains(where: isDiscovery))
  }

  // MARK: Bounds

  @Test("The cache of one server holds at most 1,024 entries")
  func boundedCache() {
    var cache = GATTCache(hash: pattern(16), attributes: GATTServiceAttributes())
    let many = (1...600).map { GATTDescriptor(handle: $0, uuid: 0x2901) }
    cache.add(.descriptors(many), to: .descriptors(in: 1...600))
    cache.add(.descriptors(many), to: .descriptors(in: 1...600))
    #expect(cache.count == 601)
    cache.add(.descriptors(many), to: .descriptors(in: 1...601))
    #expect(cache.count == 601)
    #expect(cache.responses[.descriptors(in: 1...601)] == nil)
    for handle in AttributeHandle(1)...2000 { cache.add(.descriptors([]), to: .descriptors(in: handle...handle)) }
    #expect(cache.count == GATTCache.maximumCount)
  }

  @Test("The cache holds the 64 servers seen last, and none with a private address")
  func boundedStore() {
    var store = GATTCacheStore()
    let cache = GATTCache(hash: pattern(16), attributes: GATTServiceAttributes())
    func address(_ number: UInt64) -> DeviceAddress { DeviceAddress(0xC000_0000_0000 + number, .random) }
    for number in 0..<UInt64(70) {
      store.keep(cache, of: address(number), isBonded: false)
      store.keep(cache, of: address(0), isBonded: false)
    }
    #expect(store[address(0)] != nil)
    #expect((1..<70).filter { store[address(UInt64($0))] != nil } == Array(7..<70))
    store.keep(nil, of: address(69), isBonded: false)
    #expect(store[address(69)] == nil)
    for number in [0x4000_0000_0001, 0x0000_0000_0001] as [UInt64] {
      store.keep(cache, of: DeviceAddress(number, .random), isBonded: false)
      #expect(store[DeviceAddress(number, .random)] == nil)
    }
  }
}

extension GATTPair {
  /// The handle of the server's Service Changed value.
  fileprivate var serviceChangedValue: AttributeHandle? {
    database.attributes.first { $0.type == GATTType.serviceChanged }?.handle
  }
}
