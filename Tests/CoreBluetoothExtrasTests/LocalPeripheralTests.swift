import AsyncTestSupport
import BluetoothLab
import CoreBluetooth
import CoreBluetoothExtras
import Testing

@Suite struct LocalPeripheralTests {
  // MARK: Requests

  @Test("Handlers answer reads and writes in the order of the requests, and their errors reject them")
  func handlers() throws {
    let meeting = LocalMeeting()
    let stored = Box(Data([1]))
    let characteristic = LocalCharacteristic(
      LocalMeeting.value, [.read, .write, .writeWithoutResponse],
      read: { _ in
        if stored.value.isEmpty { throw CBATTError(.insufficientResources) }
        return stored.value
      },
      write: { request in
        if request.value == Data([9]) { throw CBATTError(.writeNotPermitted) }
        if request.value == Data([8]) { throw IsMissing() }
        stored.value = request.value
      })
    let advertising = try meeting.publish(characteristic)
    let (stage, remote) = (meeting.stage, try meeting.find())
    let long = Data((0..<600).map { UInt8($0 & 0xFF) }).prefix(512)
    let results = try stage.perform { () -> [Outcome] in
      [
        await asyncOutcome { if try await remote.read() != Data([1]) { throw IsMissing() } },
        await asyncOutcome { try await remote.write(Data([9])) },
        await asyncOutcome { try await remote.write(Data([8])) },
        await asyncOutcome { try await remote.write(Data()) },
        await asyncOutcome { _ = try await remote.read() },
        await asyncOutcome { try await remote.writeWithoutResponse(Data([5])) },
        await asyncOutcome { if try await remote.read() != Data([5]) { throw IsMissing() } },
        // A long value arrives in parts, and is read in parts.
        await asyncOutcome { try await remote.write(Data(long)) },
        await asyncOutcome { if try await remote.read() != Data(long) { throw IsMissing() } },
      ]
    }
    #expect(
      results == [
        .success, .att(.writeNotPermitted), .att(.unlikelyError), .success, .att(.insufficientResources), .success,
        .success, .success, .success,
      ])
    advertising.cancel()
    #expect(outcome { try stage.value(of: advertising) } == .cancelled)
  }

  @Test("Each request without a handler is answered once: by its first answer, or by its release")
  func requests() throws {
    let meeting = LocalMeeting()
    let characteristic = LocalCharacteristic(LocalMeeting.value, [.read, .write])
    _ = try meeting.publish(characteristic)
    let (stage, remote) = (meeting.stage, try meeting.find())
    // No iteration: the request is released.
    #expect(outcome { _ = try stage.perform { try await remote.read() } } == .att(.unlikelyError))
    let answers = Box<[Bool]>([])
    let serving = stage.start { [local = meeting.local] in
      for await request in local.requests {
        switch request {
        case .read(let read):
          answers.append(read.respond(with: Data([7])))
          answers.append(read.respond(with: Data([8])))
          answers.append(read.reject(.readNotPermitted))
        case .write(let write):
          // The request is released without an answer, except for one value.
          if write.value == Data([3]) {
            answers.append(write.reject(.insufficientAuthorization))
            answers.append(write.accept())
          }
        }
      }
    }
    stage.run(for: .milliseconds(1))
    #expect(try stage.perform { try await remote.read() } == Data([7]))
    #expect(outcome { try stage.perform { try await remote.write(Data([3])) } } == .att(.insufficientAuthorization))
    #expect(outcome { try stage.perform { try await remote.write(Data([4])) } } == .att(.unlikelyError))
    #expect(answers.value == [true, false, false, true, false])
    meeting.local.close()
    try stage.value(of: serving)
    #expect(meeting.local.pendingCount == 0)
  }

  @Test("A request can be answered later, and not after the end of its link")
  func laterAnswer() throws {
    let meeting = LocalMeeting()
    let characteristic = LocalCharacteristic(LocalMeeting.value, [.read])
    _ = try meeting.publish(characteristic)
    let (stage, remote) = (meeting.stage, try meeting.find())
    let kept = Box<[ReadRequest]>([])
    let serving = stage.start { [local = meeting.local] in
      for await request in local.requests { if case .read(let read) = request { kept.append(read) } }
    }
    stage.run(for: .milliseconds(1))
    let call = stage.start { try await remote.read() }
    stage.run(for: .seconds(5))
    #expect(call.result == nil)
    #expect(kept.value[0].respond(with: Data([2])) && kept.value[0].central.maximumUpdateLength > 20)
    #expect(try stage.value(of: call) == Data([2]))
    let second = stage.start { try await remote.read() }
    stage.run(for: .seconds(1))
    meeting.phone.setPower(false)
    #expect(outcome { try stage.value(of: second) } == .core(.operationCancelled))
    stage.run(for: .seconds(1))
    // The first answer, without effect.
    #expect(kept.value[1].respond(with: Data([3])))
    serving.cancel()
    try stage.value(of: serving)
  }

  @Test("A static value is read without the app, with its description")
  func staticValue() throws {
    let meeting = LocalMeeting()
    let characteristic = LocalCharacteristic(
      LocalMeeting.value, value: Data([1, 2]),
      descriptors: [.userDescription("Level"), .presentationFormat(Data([4, 0, 0xAD, 0x27, 1, 0, 0]))])
    _ = try meeting.publish(characteristic)
    let (stage, remote) = (meeting.stage, try meeting.find())
    #expect(try stage.perform { try await remote.read() } == Data([1, 2]))
    let descriptors = try stage.perform { try await remote.discoverDescriptors() }
    #expect(descriptors.map(\.uuid.uuidString).sorted() == ["2901", "2904"])
  }

  // MARK: Subscriptions

  @Test("Subscribers are reported, first the present ones, and get all values in their order with back-pressure")
  func updates() throws {
    let meeting = LocalMeeting()
    let characteristic = LocalCharacteristic(LocalMeeting.value, [.notify])
    _ = try meeting.publish(characteristic)
    let (stage, local, remote) = (meeting.stage, meeting.local, try meeting.find())
    let counts = Box<[Int]>([])
    let watch = stage.start { for await list in characteristic.subscriptions { counts.append(list.count) } }
    // Without a subscriber, there is nothing to wait for.
    try stage.perform { try await local.update(characteristic, to: Data([0])) }
    let received = Box<[UInt8]>([])
    let reading = stage.start {
      for try await value in remote.notifications {
        received.append(value[0])
        if value[0] == 99 { break }
      }
    }
    let sending = stage.start {
      _ = await characteristic.subscriptions.first { !$0.isEmpty }
      for number: UInt8 in 0..<100 { try await local.update(characteristic, to: Data([number])) }
    }
    // There is no room for all values at once.
    #expect(stage.run(until: { local.pendingCount == 2 }))
    try stage.value(of: sending)
    try stage.value(of: reading)
    #expect(received.value == Array(0..<100))
    stage.run(for: .seconds(1))
    #expect(counts.value == [0, 1, 0] && characteristic.subscribers.isEmpty)
    watch.cancel()
    try stage.value(of: watch)
  }

  @Test("A value can be sent to one of two centrals")
  func oneCentral() throws {
    let meeting = LocalMeeting()
    let characteristic = LocalCharacteristic(LocalMeeting.value, [.notify])
    _ = try meeting.publish(characteristic)
    let (stage, local) = (meeting.stage, meeting.local)
    let other = Central(adapter: meeting.world.makeDevice(named: "tablet", at: Position(x: 3)))
    let received = Box<[String]>([])
    var readers: [AppTask<Void>] = []
    for (name, central) in [("phone", meeting.central), ("tablet", other)] {
      let remote = try stage.perform { try await central.findLocal() }
      readers.append(
        stage.start { for try await value in remote.notifications { received.append("\(name) \(value[0])") } })
      let expected = readers.count
      #expect(stage.run(until: { characteristic.subscribers.count == expected }))
    }
    let (first, second) = (characteristic.subscribers[0], characteristic.subscribers[1])
    #expect(first.id != second.id && first != second)
    try stage.perform {
      try await local.update(characteristic, to: Data([1]), for: [second])
      try await local.update(characteristic, to: Data([2]))
      try await local.update(characteristic, to: Data([3]), for: [])
    }
    stage.run(for: .seconds(1))
    #expect(received.value.sorted() == ["phone 2", "tablet 1", "tablet 2"])
    for reader in readers { reader.cancel() }
  }

  // MARK: Advertising

  @Test("Advertising lasts as long as its task or its body, and a second one is refused meanwhile")
  func advertising() throws {
    let meeting = LocalMeeting()
    let (stage, local, central) = (meeting.stage, meeting.local, meeting.central)
    try stage.perform {
      try await local.waitUntilPoweredOn()
      try await central.waitUntilPoweredOn()
    }
    let first = stage.start { try await local.advertise(localName: "First", services: [LocalMeeting.service]) }
    let name = try stage.perform {
      try await central.scan(for: [LocalMeeting.service]).first { _ in true }?.advertisement.localName
    }
    #expect(name == "First" && local.isAdvertising)
    #expect(outcome { try stage.perform { try await local.advertise() } } == .core(.alreadyAdvertising))
    #expect(local.isAdvertising)
    first.cancel()
    #expect(outcome { try stage.value(of: first) } == .cancelled)
    #expect(!local.isAdvertising && local.pendingCount == 0)
    let value = try stage.perform { try await local.withAdvertising(localName: "Second") { local.isAdvertising } }
    #expect(value && !local.isAdvertising)
    // A call that is cancelled before the controller has started leaves nothing behind.
    let third = stage.start { try await local.advertise() }
    stage.run(until: { local.pendingCount > 0 })
    third.cancel()
    #expect(outcome { try stage.value(of: third) } == .cancelled)
    stage.run(for: .seconds(1))
    #expect(!local.isAdvertising && local.pendingCount == 0)
    let fourth = stage.start { try await local.advertise() }
    stage.run(for: .seconds(1))
    meeting.device.setPower(false)
    #expect(outcome { try stage.value(of: fourth) } == .core(.operationCancelled))
    #expect(outcome { try stage.perform { try await local.advertise() } } == .core(.operationCancelled))
  }

  // MARK: Services

  @Test("A service that can't be published is refused, and one whose call was cancelled is removed")
  func services() throws {
    let meeting = LocalMeeting()
    let (stage, local) = (meeting.stage, meeting.local)
    let characteristic = LocalCharacteristic(LocalMeeting.value, [.read, .notify]) { _ in Data([1]) }
    let service = LocalService(LocalMeeting.service, [characteristic])
    #expect(outcome { try stage.perform { try await local.add(service) } } == .core(.operationCancelled))
    try stage.perform { try await local.waitUntilPoweredOn() }
    // Only published characteristics are updated.
    #expect(
      outcome { try stage.perform { try await local.update(characteristic, to: Data()) } } == .core(.invalidParameters))
    let cancelled = stage.start { try await local.add(service) }
    stage.run(until: { local.pendingCount == 1 })
    cancelled.cancel()
    #expect(outcome { try stage.value(of: cancelled) } == .cancelled)
    stage.run(for: .milliseconds(1))
    #expect(local.pendingCount == 0)
    let missing = LocalService(CBUUID(string: "FF09"), includes: [service], [])
    #expect(outcome { try stage.perform { try await local.add(missing) } } == .core(.invalidParameters))
    try stage.perform { try await local.add(service) }
    let advertising = stage.start { try await local.advertise(services: [LocalMeeting.service]) }
    let remote = try meeting.find()
    #expect(try stage.perform { try await remote.read() } == Data([1]))
    local.remove(service)
    stage.run(for: .seconds(1))
    #expect(outcome { _ = try stage.perform { try await remote.read() } } == .core(.uuidNotAllowed))
    // After a power cycle, services are published again.
    meeting.device.setPower(false)
    #expect(outcome { try stage.value(of: advertising) } == .core(.operationCancelled))
    meeting.device.setPower(true)
    try stage.perform {
      try await local.waitUntilPoweredOn()
      try await local.add(service)
    }
    let again = stage.start { try await local.advertise(services: [LocalMeeting.service]) }
    let found = try meeting.find()
    #expect(try stage.perform { try await found.read() } == Data([1]))
    local.close()
    #expect(outcome { try stage.value(of: again) } == .core(.operationCancelled))
  }

  @Test("The states of a peripheral begin with the present one, and end when it is closed")
  func states() throws {
    let meeting = LocalMeeting()
    let seen = Box<[CBManagerState]>([])
    let watch = meeting.stage.start { [local = meeting.local] in for await state in local.states { seen.append(state) }
    }
    meeting.stage.run(for: .seconds(1))
    meeting.device.setPower(false)
    meeting.stage.run(for: .seconds(1))
    let waiting = meeting.stage.start { [local = meeting.local] in try await local.waitUntilPoweredOn() }
    meeting.stage.run(for: .seconds(1))
    meeting.local.close()
    #expect(outcome { try meeting.stage.value(of: waiting) } == .core(.operationCancelled))
    try meeting.stage.value(of: watch)
    #expect(seen.value == [.unknown, .poweredOn, .poweredOff])
    #expect(meeting.local.state == .unsupported && meeting.local.pendingCount == 0)
  }

  @Test("After a peripheral was closed, its calls throw operationCancelled")
  func closed() throws {
    let meeting = LocalMeeting()
    let (stage, local) = (meeting.stage, meeting.local)
    try stage.perform { try await local.waitUntilPoweredOn() }
    local.close()
    let service = LocalService(LocalMeeting.service, [LocalCharacteristic(LocalMeeting.value, [.read])])
    let outcomes = try stage.perform { () -> [Outcome] in
      [
        await asyncOutcome { try await local.waitUntilPoweredOn() },
        await asyncOutcome { try await local.add(service) },
        await asyncOutcome { try await local.advertise() },
        await asyncOutcome { _ = try await local.publishL2CAPChannel() },
        await asyncOutcome { _ = try await local.startAdvertisingSet(AdvertisingParameters([.name("Set")])) },
      ]
    }
    #expect(outcomes == Array(repeating: .core(.operationCancelled), count: 5))
  }

  // MARK: Channels

  @Test("A listener gets the channels that centrals open, and closes them when it is released")
  func channels() throws {
    let meeting = LocalMeeting()
    let characteristic = LocalCharacteristic(LocalMeeting.value, [.read])
    _ = try meeting.publish(characteristic)
    let (stage, local) = (meeting.stage, meeting.local)
    let peripheral = try meeting.find().service.peripheral
    let psm = Box<CBL2CAPPSM?>(nil)
    let serving = stage.start {
      let listener = try await local.publishL2CAPChannel()
      psm.value = listener.psm
      for try await channel in listener.channels {
        while let octets = try await channel.read() { try await channel.write(octets) }
      }
    }
    #expect(stage.run(until: { psm.value != nil }))
    let open = try psm.value.orThrow()
    let echoed = try stage.perform {
      let channel = try await peripheral.openL2CAPChannel(open)
      try await channel.write(Data([1, 2, 3]))
      return try await channel.read()
    }
    #expect(echoed == Data([1, 2, 3]))
    serving.cancel()
    #expect(outcome { try stage.value(of: serving) } == .cancelled)
    stage.run(for: .seconds(1))
    #expect(local.pendingCount == 1)
    // The PSM is free again.
    #expect(outcome { _ = try stage.perform { try await peripheral.openL2CAPChannel(open) } } != .success)
  }

  @Test("A listener keeps channels for a later iteration, and ends with Bluetooth")
  func laterIteration() throws {
    let meeting = LocalMeeting()
    _ = try meeting.publish(LocalCharacteristic(LocalMeeting.value, [.read]))
    let (stage, local) = (meeting.stage, meeting.local)
    let peripheral = try meeting.find().service.peripheral
    let cancelled = stage.start { try await local.publishL2CAPChannel() }
    stage.run(until: { local.pendingCount == 2 })
    cancelled.cancel()
    #expect(outcome { _ = try stage.value(of: cancelled) } == .cancelled)
    let listener = try stage.perform { try await local.publishL2CAPChannel(requiresEncryption: false) }
    _ = try stage.perform { try await peripheral.openL2CAPChannel(listener.psm) }
    let reading = stage.start { for try await channel in listener.channels { channel.close() } }
    stage.run(for: .seconds(1))
    meeting.device.setPower(false)
    #expect(outcome { try stage.value(of: reading) } == .core(.operationCancelled))
    #expect(local.pendingCount == 0)
    let again = stage.start { try await listener.channels.first { _ in true } }
    #expect(outcome { try stage.value(of: again) } == .core(.operationCancelled))
    listener.close()
  }

  @Test("A listener gets channels after a wait that was cancelled, and after one whose time limit has ended")
  func cancelledWaits() throws {
    let meeting = LocalMeeting()
    _ = try meeting.publish(LocalCharacteristic(LocalMeeting.value, [.read]))
    let (stage, local, clock) = (meeting.stage, meeting.local, meeting.world.clock)
    let peripheral = try meeting.find().service.peripheral
    let listener = try stage.perform { try await local.publishL2CAPChannel() }
    let cancelled = stage.start { try await listener.channels.first { _ in true } }
    stage.run(for: .seconds(1))
    cancelled.cancel()
    #expect(outcome { try stage.value(of: cancelled) } == .cancelled)
    let limited = stage.start {
      try await withTimeLimit(TimeLimit(.seconds(1), on: clock)) { try await listener.channels.first { _ in true } }
    }
    #expect(outcome { try stage.value(of: limited) } == .timeLimit)
    // One channel is opened between two iterations, the other one during an iteration.
    let first = try stage.perform { try await peripheral.openL2CAPChannel(listener.psm) }
    let waiting = stage.start {
      for try await channel in listener.channels {
        while let octets = try await channel.read() { try await channel.write(octets) }
      }
    }
    try stage.perform { try await first.write(Data([1])) }
    #expect(try stage.perform { try await first.read() } == Data([1]))
    first.close()
    let second = try stage.perform { try await peripheral.openL2CAPChannel(listener.psm) }
    try stage.perform { try await second.write(Data([2])) }
    #expect(try stage.perform { try await second.read() } == Data([2]))
    second.close()
    stage.run(for: .seconds(1))
    listener.close()
    try stage.value(of: waiting)
    #expect(try stage.perform { try await listener.channels.first { _ in true } } == nil)
  }

  @Test("A channel that a wait has taken is its result, even if its task is cancelled before it is resumed")
  func cancelledWithChannel() throws {
    let meeting = LocalMeeting()
    _ = try meeting.publish(LocalCharacteristic(LocalMeeting.value, [.read]))
    let (stage, local) = (meeting.stage, meeting.local)
    let peripheral = try meeting.find().service.peripheral
    let listener = try stage.perform { try await local.publishL2CAPChannel() }
    let waiting = stage.start { try await listener.channels.first { _ in true } }
    stage.run(for: .seconds(1))
    let opening = stage.start { try await peripheral.openL2CAPChannel(listener.psm) }
    #expect(stage.run(until: { peripheral.pendingCount == 1 }))
    // No task runs meanwhile.
    meeting.world.run(for: .seconds(1))
    waiting.cancel()
    #expect(try stage.value(of: waiting) != nil)
    _ = try stage.value(of: opening)
  }

  @Test("A listener keeps 16 channels for a later iteration, and closes further ones")
  func channelLimit() throws {
    let meeting = LocalMeeting()
    _ = try meeting.publish(LocalCharacteristic(LocalMeeting.value, [.read]))
    let (stage, local) = (meeting.stage, meeting.local)
    let peripheral = try meeting.find().service.peripheral
    let listener = try stage.perform { try await local.publishL2CAPChannel() }
    let opened = try stage.perform {
      var opened: [L2CAPChannel] = []
      for _ in 0..<17 { opened.append(try await peripheral.openL2CAPChannel(listener.psm)) }
      return opened
    }
    #expect(try stage.perform { try await opened[16].read() } == nil)
    let count = Box(0)
    let counting = stage.start {
      for try await channel in listener.channels {
        try await channel.write(Data([7]))
        count.value += 1
      }
    }
    stage.run(for: .seconds(2))
    #expect(count.value == 16)
    counting.cancel()
    #expect(outcome { try stage.value(of: counting) } == .cancelled)
    listener.close()
  }
}
