import AsyncTestSupport
import BluetoothLab
import CoreBluetooth
import CoreBluetoothExtras
import Testing

@Suite struct AdapterTests {
  @Test("The known adapters contain the simulated one, which a central accepts")
  func known() throws {
    let adapters = Adapter.known
    let simulated = try #require(adapters.first { $0.kind == .simulated })
    #expect(simulated.specifier == "virtual" && simulated.id == "virtual" && "\(simulated)" == "virtual")
    #expect(Set(adapters).count == adapters.count)
    // An invalid adapter would leave the central unsupported at once.
    let central = Central(adapter: simulated)
    #expect(central.state != .unsupported)
    central.close()
  }

  @Test("Two centrals on two adapters of one program use one peripheral, and each ends alone")
  func twoAdapters() throws {
    let meeting = Meeting()
    let (stage, tablet) = (meeting.stage, meeting.world.makeDevice(named: "tablet", at: Position(x: 3)))
    let other = Central(adapter: tablet)
    let first = try meeting.connect()
    let second = try stage.perform {
      try await other.waitUntilPoweredOn()
      let peripheral = try await other.scan(for: [Sensor.service]).first { _ in true }.orThrow().peripheral
      try await peripheral.connect()
      return peripheral
    }
    // One device with one address; each adapter has its own identifier for it.
    #expect(first !== second && first.id != second.id && first.address == second.address)
    let (one, two) = try stage.perform {
      (try await first.characteristic(), try await second.characteristic())
    }
    let received = Box<[String]>([])
    let readers = [("phone", one), ("tablet", two)].map { name, characteristic in
      stage.start { for try await value in characteristic.notifications { received.append("\(name) \(value[0])") } }
    }
    stage.run(for: .seconds(1))
    meeting.sensor.update(Data([7]))
    stage.run(for: .seconds(1))
    #expect(received.value.contains("phone 7") && received.value.contains("tablet 7"))
    meeting.phone.setPower(false)
    #expect(outcome { try stage.value(of: readers[0]) } == .core(.operationCancelled))
    stage.run(for: .seconds(3))
    #expect(first.state == .disconnected && second.state == .connected)
    meeting.sensor.update(Data([8]))
    stage.run(for: .seconds(1))
    #expect(received.value.last == "tablet 8")
    other.close()
    #expect(outcome { try stage.value(of: readers[1]) } == .core(.operationCancelled))
  }

  @Test("A program is central on one adapter and peripheral on another, at the same time")
  func twoRoles() throws {
    let meeting = LocalMeeting()
    _ = try meeting.publish(LocalCharacteristic(LocalMeeting.value, [.read]) { _ in Data([3]) })
    // The device is also the central of the phone's peripheral.
    let (stage, phone) = (meeting.stage, LocalPeripheral(adapter: meeting.phone))
    let other = Central(adapter: meeting.device)
    try stage.perform {
      try await phone.waitUntilPoweredOn()
      let characteristic = LocalCharacteristic(LocalMeeting.value, [.read]) { _ in Data([4]) }
      try await phone.add(LocalService(LocalMeeting.service, [characteristic]))
    }
    let advertising = stage.start { try await phone.advertise(services: [LocalMeeting.service]) }
    let (there, back) = (try meeting.find(), try stage.perform { try await other.findLocal() })
    let values = try stage.perform {
      async let first = there.read()
      async let second = back.read()
      return try await [first, second]
    }
    #expect(values == [Data([3]), Data([4])])
    advertising.cancel()
    #expect(outcome { try stage.value(of: advertising) } == .cancelled)
  }
}
