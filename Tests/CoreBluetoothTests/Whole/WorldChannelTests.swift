import BluetoothLab
import CoreBluetooth
import Requirements
import Testing

/// L2CAP channels, from app to app over the simulated air · Vol 3, Part A, 4.22.
@Suite struct WorldChannelTests {
  /// Publishes a channel at the sensor. Returns its PSM.
  private func publish(_ air: TwoDeviceFixture, isEncrypted: Bool = false) -> CBL2CAPPSM {
    air.peripheralManager.publishL2CAPChannel(withEncryption: isEncrypted)
    air.expectOfAccessory("published")
    let psm = air.accessory.take().compactMap { $0.split(separator: " ").last.flatMap { CBL2CAPPSM($0) } }.last
    return psm ?? 0
  }

  private struct Ends {
    let peripheral: CBPeripheral
    let psm: CBL2CAPPSM
    let phone: StreamApp
    let sensor: StreamApp
  }

  /// Returns a channel between both apps, whose streams are open in this thread's run loop. Only the recorders retain
  /// the channel.
  private func open(_ air: TwoDeviceFixture, isOpen: Bool = true) throws -> Ends {
    let peripheral = air.connect()
    let psm = publish(air)
    peripheral.openL2CAPChannel(psm)
    air.expect("channel open")
    air.expectOfAccessory("channel open")
    let ends = Ends(
      peripheral: peripheral, psm: psm, phone: StreamApp(try #require(air.app.channels.last)),
      sensor: StreamApp(try #require(air.accessory.channels.last)))
    if isOpen {
      ends.phone.open()
      ends.sensor.open()
    }
    return ends
  }

  /// Runs until the app at one end has got `events`.
  private func expect(
    _ app: StreamApp, _ events: [String], _ air: TwoDeviceFixture, location: SourceLocation = #_sourceLocation
  ) {
    let came = air.world.run(until: { Set(events).isSubset(of: app.events) }, limit: .seconds(10))
    #expect(came, "\(events) did not come, but \(app.events)", sourceLocation: location)
  }

  @Test(
    "5.1 A channel opens on both sides with its peer and its PSM, and its streams are not open yet",
    .requirement("A040", "A043", "A053"),
    .symbol(
      "CBPeripheral.openL2CAPChannel(_:)", "CBL2CAPChannel.peer", "CBL2CAPChannel.psm",
      "CBPeripheralDelegate.peripheral(_:didOpen:error:)",
      "CBPeripheralManagerDelegate.peripheralManager(_:didOpen:error:)"))
  func opening() throws {
    let air = TwoDeviceFixture()
    let ends = try open(air, isOpen: false)
    let (phone, sensor) = (air.app.channels[0], air.accessory.channels[0])
    #expect(phone.peer === ends.peripheral)
    #expect(sensor.peer is CBCentral)
    #expect(0x80...0xFF ~= phone.psm && phone.psm == sensor.psm)
    for app in [ends.phone, ends.sensor] {
      #expect(app.input.streamStatus == .notOpen && app.output.streamStatus == .notOpen)
      #expect(!app.input.hasBytesAvailable && !app.output.hasSpaceAvailable)
      var octet: UInt8 = 7
      #expect(app.input.read(&octet, maxLength: 1) == -1 && app.output.write(&octet, maxLength: 1) == -1)
    }
  }

  @Test(
    "5.1 100 kB arrive complete and in order in both directions, with delegates in a run loop", .requirement("A053"),
    .symbol("CBL2CAPChannel.inputStream", "CBL2CAPChannel.outputStream"))
  func echo() throws {
    let air = TwoDeviceFixture()
    let ends = try open(air)
    ends.sensor.echoes = true
    let data = Data.pattern(100_000)
    ends.phone.send(data)
    #expect(air.world.run(until: { ends.phone.received.count >= data.count }, limit: .seconds(60)))
    #expect(ends.sensor.received == data && ends.phone.received == data)
    #expect(ends.phone.events == ["in open", "out open"] && ends.sensor.events == ["in open", "out open"])
  }

  @Test("5.1 Streams without a run loop send no events and can be polled")
  func polling() throws {
    let air = TwoDeviceFixture()
    let ends = try open(air, isOpen: false)
    ends.phone.open(in: nil)
    ends.sensor.open(in: nil)
    let data = Data.pattern(30_000)
    ends.phone.rest = data
    for _ in 0..<200 where ends.sensor.received.count < data.count {
      ends.phone.give()
      air.world.run(for: .milliseconds(100))
      ends.sensor.take()
    }
    #expect(ends.sensor.received == data)
    #expect(ends.phone.events.isEmpty && ends.sensor.events.isEmpty)
  }

  @Test("5.1 An app that does not read stops the sender, and no data is lost when it reads again", .requirement("A053"))
  func backPressure() throws {
    let air = TwoDeviceFixture()
    let ends = try open(air)
    ends.sensor.reads = false
    let data = Data.pattern(120_000)
    ends.phone.send(data)
    air.world.run(for: .seconds(4))
    let sent = data.count - ends.phone.rest.count
    #expect(sent <= 6 * 16_384, "four times as much waits there as here, and at most as much in the host")
    #expect(!ends.phone.output.hasSpaceAvailable)
    #expect(ends.sensor.events.count { $0 == "bytes" } == 1, "once, until it reads")
    air.world.run(for: .seconds(1))
    #expect(data.count - ends.phone.rest.count == sent)
    ends.sensor.reads = true
    ends.sensor.take()
    #expect(air.world.run(until: { ends.sensor.received.count == data.count }, limit: .seconds(60)))
    #expect(ends.sensor.received == data)
  }

  @Test(
    "5.2 A channel that requires encryption makes the devices pair by themselves, and opens", .requirement("A038"),
    .symbol("CBPeripheralManager.publishL2CAPChannel(withEncryption:)"))
  func encryption() throws {
    let user = ScriptedPrompts(.noInputNoOutput, otherwise: .yes)
    let air = TwoDeviceFixture(phone: user)
    let peripheral = air.connect()
    let psm = publish(air, isEncrypted: true)
    #expect(user.questions.isEmpty)
    peripheral.openL2CAPChannel(psm)
    air.expect("channel open")
    #expect(user.questions.map(\.kind) == [.allowPairing])
  }

  @Test("5.2 If the user refuses pairing, the app gets Insufficient Authentication, and other channels open")
  func refusedPairing() throws {
    let air = TwoDeviceFixture(phone: ScriptedPrompts(.noInputNoOutput, otherwise: .no))
    let peripheral = air.connect()
    let psm = publish(air, isEncrypted: true)
    peripheral.openL2CAPChannel(psm)
    air.expect("channel nil failed")
    #expect(air.app.lastATTError?.code == .insufficientAuthentication)
    peripheral.openL2CAPChannel(publish(air))
    air.expect("channel open")
  }

  @Test("5.1 An unpublished PSM is refused as unknown, and an invalid one is not requested", .requirement("A043"))
  func numbers() {
    let air = TwoDeviceFixture()
    let peripheral = air.connect()
    for (psm, code) in [(0x80, CBError.Code.unknown), (0x2349, .invalidParameters), (0, .invalidParameters)] {
      peripheral.openL2CAPChannel(CBL2CAPPSM(psm))
      air.expect("channel nil failed")
      #expect(air.app.lastError?.code == code)
    }
  }

  @Test("5.1 When one app closes both streams, the other reads all written data, and then both its streams end")
  func closing() throws {
    let air = TwoDeviceFixture()
    let ends = try open(air)
    air.world.run(for: .milliseconds(100))
    let data = Data.pattern(16_000)
    ends.phone.send(data)
    ends.phone.close()
    #expect(ends.phone.input.streamStatus == .closed && ends.phone.output.streamStatus == .closed)
    expect(ends.sensor, ["in end", "out end"], air)
    #expect(ends.sensor.received == data)
    #expect(ends.sensor.input.streamStatus == .atEnd && ends.sensor.output.streamStatus == .atEnd)
    var octet: UInt8 = 7
    #expect(ends.sensor.input.read(&octet, maxLength: 1) == 0)
    #expect(ends.sensor.output.write(&octet, maxLength: 1) == -1)
    #expect(ends.sensor.output.streamStatus == .error && ends.sensor.output.streamError != nil)
    #expect(ends.peripheral.state == .connected)
  }

  @Test("5.1 The end of the output is reported after all received data was read, however small the portions")
  func endAfterInput() throws {
    let air = TwoDeviceFixture()
    let ends = try open(air)
    ends.sensor.portion = 100
    let data = Data.pattern(2_000)
    ends.phone.send(data)
    ends.phone.close()
    expect(ends.sensor, ["out end"], air)
    #expect(ends.sensor.receivedAtEnd == data)
  }

  @Test("5.1 If an app closes only the input, the peer can still write")
  func inputOnly() throws {
    let air = TwoDeviceFixture()
    let ends = try open(air)
    ends.sensor.reads = false
    ends.sensor.input.close()
    ends.phone.send(Data.pattern(120_000))
    #expect(air.world.run(until: { ends.phone.rest.isEmpty }, limit: .seconds(60)))
    let back = Data.pattern(1_000)
    ends.sensor.send(back)
    #expect(air.world.run(until: { ends.phone.received == back }, limit: .seconds(10)))
  }

  @Test(
    "5.1 A channel closes with the last reference to it, on either side", .symbol("CBL2CAPChannel"),
    arguments: [true, false])
  func release(atPhone: Bool) throws {
    let air = TwoDeviceFixture()
    let peripheral = air.connect()
    air.app.keepsChannels = !atPhone
    air.accessory.keepsChannels = atPhone
    peripheral.openL2CAPChannel(publish(air))
    air.expect("channel open")
    air.expectOfAccessory("channel open")
    let kept = StreamApp(try #require(atPhone ? air.accessory.channels.first : air.app.channels.first))
    kept.open()
    expect(kept, ["in end", "out end"], air)
  }

  @Test(
    "5.2 Unpublishing a channel closes open channels and refuses new ones", .requirement("A038"),
    .symbol("CBPeripheralManager.unpublishL2CAPChannel(_:)"))
  func unpublishing() throws {
    let air = TwoDeviceFixture()
    let ends = try open(air)
    air.peripheralManager.unpublishL2CAPChannel(ends.psm)
    air.expectOfAccessory("unpublished \(ends.psm)")
    #expect(air.accessory.lastError == nil)
    expect(ends.sensor, ["in end", "out end"], air)
    expect(ends.phone, ["in end", "out end"], air)
    ends.peripheral.openL2CAPChannel(ends.psm)
    air.expect("channel nil failed")
    air.peripheralManager.unpublishL2CAPChannel(ends.psm)
    air.expectOfAccessory("unpublished \(ends.psm) failed")
    #expect(air.accessory.lastError?.code == .invalidParameters)
  }

  @Test("5.1 A lost link fails both apps' streams with the reason, after the received data was read")
  func linkLoss() throws {
    let air = TwoDeviceFixture()
    let ends = try open(air)
    ends.sensor.reads = false
    ends.phone.send(Data.pattern(1_000))
    expect(ends.sensor, ["bytes"], air)
    air.world.run(for: .seconds(1))
    air.sensor.move(to: Position(x: 5_000))
    expect(ends.phone, ["in error", "out error"], air)
    #expect((ends.phone.input.streamError as? CBError)?.code == .connectionTimeout)
    expect(ends.sensor, ["out error"], air)
    #expect(ends.sensor.input.streamStatus == .open)
    ends.sensor.take()
    #expect(ends.sensor.received == Data.pattern(1_000))
    expect(ends.sensor, ["in error"], air)
    #expect(ends.sensor.input.streamStatus == .error)
  }

  @Test("5.1 When an app cancels the connection, the streams of both end")
  func cancelling() throws {
    let air = TwoDeviceFixture()
    let ends = try open(air)
    air.central.cancelPeripheralConnection(ends.peripheral)
    expect(ends.phone, ["in end", "out end"], air)
    expect(ends.sensor, ["in end", "out end"], air)
  }

  @Test(
    "5.2 Power off fails the own apps' streams, ends the peers' streams and unpublishes channels",
    arguments: [true, false])
  func powerOff(ofPhone: Bool) throws {
    let air = TwoDeviceFixture()
    let ends = try open(air)
    (ofPhone ? air.phone : air.sensor).setPower(false)
    let (near, far) = ofPhone ? (ends.phone, ends.sensor) : (ends.sensor, ends.phone)
    expect(near, ["in error", "out error"], air)
    expect(far, ["in end", "out end"], air)
    guard !ofPhone else { return }
    air.sensor.setPower(true)
    air.world.run(until: { air.peripheralManager.state == .poweredOn })
    #expect(publish(air) == ends.psm, "the number is free again")
  }

  @Test("5.2 Two apps of a device publish separate channels, and each gets its own", .requirement("A038", "K035"))
  func twoApps() throws {
    let air = TwoDeviceFixture()
    let other = PeripheralApp()
    let manager = CBPeripheralManager(
      delegate: other, queue: air.queue, options: [CBManagerOptionAdapterKey: air.sensor])
    let peripheral = air.connect()
    let psm = publish(air)
    manager.publishL2CAPChannel(withEncryption: false)
    #expect(air.world.run(until: { other.events.contains("published \(psm + 1)") }))
    for number in [psm + 1, psm] {
      peripheral.openL2CAPChannel(number)
      air.expect("channel open")
    }
    air.expectOfAccessory("channel open")
    #expect(air.app.channels.map(\.psm) == [psm + 1, psm])
    #expect(other.channels.map(\.psm) == [psm + 1] && air.accessory.channels.map(\.psm) == [psm])
    let (mine, others) = (StreamApp(air.app.channels[0]), StreamApp(other.channels[0]))
    mine.open()
    others.open()
    mine.send(Data("to the other".utf8))
    #expect(air.world.run(until: { others.received == Data("to the other".utf8) }))
    withExtendedLifetime(manager) {}
  }

  @Test(
    "5.3 The PSM is read from the L2CAP PSM characteristic and opens the channel",
    .symbol("CBUUIDL2CAPPSMCharacteristicString"))
  func numberInCharacteristic() throws {
    let air = TwoDeviceFixture()
    air.peripheralManager.publishL2CAPChannel(withEncryption: false)
    air.expectOfAccessory("published 128")
    _ = air.accessory.take()
    air.localService.characteristics = [
      CBMutableCharacteristic(
        type: CBUUID(string: CBUUIDL2CAPPSMCharacteristicString), properties: .read, value: Data([0x80, 0]),
        permissions: .readable)
    ]
    let (peripheral, characteristic) = air.ready()
    peripheral.readValue(for: characteristic)
    air.expect("value")
    let value = try #require(characteristic.value)
    peripheral.openL2CAPChannel(CBL2CAPPSM(value[0]) | CBL2CAPPSM(value[1]) << 8)
    air.expect("channel open")
  }

  @Test("5.1 Streams in the main run loop send their events on the main queue, whichever thread serves it")
  func mainRunLoop() throws {
    let air = TwoDeviceFixture()
    let ends = try open(air, isOpen: false)
    ends.phone.open(in: .main)
    expect(ends.phone, ["in open", "out open"], air)
    ends.sensor.open()
    ends.sensor.send(Data("hello".utf8))
    #expect(air.world.run(until: { ends.phone.received == Data("hello".utf8) }))
  }
}
