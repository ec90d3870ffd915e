import AsyncTestSupport
import BluetoothLab
import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothExtras
import CoreBluetoothProfiles
import Requirements
import Testing

@Suite("Clients of alerts, telephones and input devices") struct AlertClientTests {
  @Test("A Find Me client sounds and stops the alarm of a key fob", .requirement("L185"))
  func findMe() throws {
    let scene = ClientScene(KeyFob())
    let client = try scene.client { try await FindMeClient($0) }
    try scene.stage.perform { try await client.alert(.highAlert) }
    scene.stage.run(for: .seconds(1))
    #expect(scene.device.accessory.alert == .highAlert)
    try scene.stage.perform { try await client.alert(.noAlert) }
    scene.stage.run(for: .seconds(1))
    #expect(scene.device.accessory.alert == .noAlert)
  }

  @Test("A proximity client computes the path loss, which grows with the distance, and sets the alert on loss")
  func proximity() throws {
    let scene = ClientScene(KeyFob(transmitPower: 0))
    let client = try scene.client { try await ProximityClient($0) }
    #expect(try scene.stage.perform { try await client.transmitPower() }?.level == 0)
    let near = try #require(try scene.stage.perform { try await client.pathLoss() })
    scene.phone.move(to: Position(x: 10))
    scene.stage.run(for: .seconds(2))
    let far = try #require(try scene.stage.perform { try await client.pathLoss() })
    #expect(near > 20 && far > near + 5, "\(near) dB, \(far) dB")
    try scene.stage.perform { try await client.setLinkLossAlert(.mildAlert) }
    #expect(try scene.stage.perform { try await client.linkLossAlert() } == .mildAlert)
    try scene.stage.perform { try await client.alert(.highAlert) }
    scene.stage.run(for: .seconds(3))
    #expect(scene.device.accessory.alert == .highAlert)
    scene.phone.move(to: Position(x: 10_000))
    scene.stage.run(for: .seconds(30))
    #expect(scene.device.accessory.alert == .mildAlert)
  }

  @Test("A client gets the new and unread alerts of enabled categories, and no command for others")
  func alerts() throws {
    let scene = ClientScene(Telephone())
    let client = try scene.client { try await AlertNotificationClient($0) }
    let stage = scene.stage
    #expect(try stage.perform { try await client.supportedNewAlerts() }.categories.contains(.email))
    #expect(try stage.perform { try await client.supportedUnreadAlerts() }.categories.contains(.email))
    let (new, unread) = (Box<[NewAlert]>([]), Box<[UnreadAlertStatus]>([]))
    let tasks = [
      stage.start { for try await alert in client.newAlerts { new.append(alert) } },
      stage.start { for try await status in client.unreadAlerts { unread.append(status) } },
    ]
    stage.run(for: .seconds(1))
    try stage.perform {
      try await client.perform(.enableNewAlert, for: .email)
      try await client.perform(.enableUnreadStatus)
    }
    scene.device.act { telephone, context in
      telephone.alert(.email, text: "Hello", in: &context)
      telephone.alert(.call, text: "not enabled", in: &context)
      telephone.setUnread(3, of: .sms, in: &context)
    }
    stage.run(for: .seconds(1))
    #expect(new.value == [NewAlert(category: .email, count: 1, text: "Hello")])
    #expect(unread.value == [UnreadAlertStatus(category: .sms, count: 3)])
    let error = failure(ProfileError.self) {
      try stage.perform { try await client.perform(.enableNewAlert, for: .news) }
    }
    #expect(error == .commandNotSupported)
    for task in tasks { task.cancel() }
  }

  @Test("A client silences the ringer of a telephone, and gets the changes")
  func phoneAlert() throws {
    var telephone = Telephone()
    telephone.alertStatus = [.ringer, .vibrate]
    let scene = ClientScene(telephone)
    let client = try scene.client { try await PhoneAlertStatusClient($0) }
    let stage = scene.stage
    #expect(try stage.perform { try await client.alertStatus() } == [.ringer, .vibrate])
    #expect(try stage.perform { try await client.ringerSetting() } == .normal)
    let (status, setting) = (Box<[AlertStatus]>([]), Box<[RingerSetting]>([]))
    let tasks = [
      stage.start { for try await value in client.alertStatusChanges { status.append(value) } },
      stage.start { for try await value in client.ringerSettingChanges { setting.append(value) } },
    ]
    stage.run(for: .seconds(1))
    try stage.perform { try await client.perform(.silentMode) }
    stage.run(for: .seconds(1))
    try stage.perform { try await client.perform(.cancelSilentMode) }
    stage.run(for: .seconds(1))
    #expect(status.value == [[.vibrate]] && setting.value == [.silent, .normal])
    for task in tasks { task.cancel() }
  }

  @Test("A time client reads and sets the clock, and requests an update from the reference")
  func time() throws {
    let scene = ClientScene(Telephone(startTime: DateTime(year: 2024, month: 2, day: 29, hours: 12)))
    let client = try scene.client { try await TimeClient($0) }
    let stage = scene.stage
    let now = try stage.perform { try await client.currentTime() }.exactTime.dayDateTime
    #expect(now.dateTime.day == 29 && now.dateTime.hours == 12 && now.dayOfWeek == .thursday)
    #expect(try stage.perform { try await client.localTimeInformation() }?.timeZone.value == 60)
    #expect(try stage.perform { try await client.nextDSTChange() }?.dstOffset == .daylightTime)
    let adjustments = Box<[CurrentTime]>([])
    let watch = stage.start { for try await time in client.adjustments { adjustments.append(time) } }
    stage.run(for: .seconds(1))
    try stage.perform { try await client.requestReferenceUpdate() }
    stage.run(for: .milliseconds(500))
    #expect(try stage.perform { try await client.updateState() }.currentState == .updatePending)
    #expect(stage.run(until: { !adjustments.value.isEmpty }))
    #expect(adjustments.value[0].adjustReason == .externalReferenceTimeUpdate)
    #expect(try stage.perform { try await client.updateState() }.result == .successful)
    #expect(try stage.perform { try await client.referenceTimeInformation() }?.source == .cellularNetwork)
    let date = try #require(DateTime(year: 2025, month: 1, day: 1))
    func clock(_ day: DayOfWeek) -> CurrentTime {
      CurrentTime(exactTime: ExactTime256(dayDateTime: DayDateTime(dateTime: date, dayOfWeek: day)))
    }
    try stage.perform { [time = clock(.wednesday)] in try await client.setCurrentTime(time) }
    let error = failure(ProfileError.self) {
      try stage.perform { [time = clock(.monday)] in try await client.setCurrentTime(time) }
    }
    #expect(error == .dataFieldIgnored)
    #expect(try stage.perform { try await client.currentTime() }.exactTime.dayDateTime.dateTime.year == 2025)
    try stage.perform {
      try await client.requestReferenceUpdate()
      try await client.cancelReferenceUpdate()
    }
    stage.run(for: .milliseconds(500))
    #expect(try stage.perform { try await client.updateState() }.result == .canceled)
    watch.cancel()
  }

  @Test("A telephone without the optional services gives nil, and its update is a missing service")
  func timeAlone() throws {
    let scene = ClientScene(RawSensor(0x1805, [(0x2A2B, [.read, .notify], [])]))
    let client = try scene.client { try await TimeClient($0) }
    #expect(try scene.stage.perform { try await client.localTimeInformation() } == nil)
    #expect(try scene.stage.perform { try await client.nextDSTChange() } == nil)
    let missing = failure(ProfileError.self) { try scene.stage.perform { try await client.updateState() } }
    #expect(missing == .missingService(0x1806))
    let malformed = failure(ProfileError.self) { try scene.stage.perform { try await client.currentTime() } }
    #expect(malformed == .malformedValue(of: 0x2A2B, .tooShort))
  }

  @Test(
    "An input device client gets the reports of a keyboard over an encrypted link, and key events in the boot protocol")
  func keyboard() throws {
    var keyboard = Keyboard()
    keyboard.connection = nil
    let scene = ClientScene(keyboard)
    let client = try scene.client { try await HumanInterfaceDeviceClient($0) }
    let stage = scene.stage
    #expect(client.reports.map(\.reference.type) == [.input, .output])
    #expect(client.information.flags == [.normallyConnectable])
    #expect(try stage.perform { try await client.reportMap() }.descriptor.starts(with: [0x05, 0x01, 0x09, 0x06]))
    let inputs = Box<[HumanInterfaceDeviceClient.Input]>([])
    let reading = stage.start { for try await input in try await client.subscribeToInput() { inputs.append(input) } }
    stage.run(for: .seconds(1))
    scene.device.act { $0.type("aB", in: &$1) }
    stage.run(for: .seconds(1))
    #expect(inputs.value.map(\.reportID) == [1, 1, 1, 1])
    #expect(inputs.value.map { Array($0.octets.prefix(3)) } == [[0, 0, 4], [0, 0, 0], [2, 0, 5], [0, 0, 0]])
    reading.cancel()
    try stage.perform {
      try await client.setLEDs([.capsLock])
      try await client.setProtocolMode(.boot)
    }
    #expect(try stage.perform { try await client.protocolMode() } == .boot)
    #expect(scene.device.accessory.leds == [.capsLock])
    let events = Box<[KeyEvent]>([])
    let keys = try #require(client.keyEvents)
    let typing = stage.start { for try await event in keys { events.append(event) } }
    stage.run(for: .seconds(1))
    scene.device.act { keyboard, context in
      keyboard.press([4], modifiers: .leftShift, in: &context)
      keyboard.press([4, 5], in: &context)
      keyboard.press([4, 5, 6, 7, 8, 9, 10], modifiers: .rightShift, in: &context)
      keyboard.release(in: &context)
    }
    stage.run(for: .seconds(1))
    let expected: [(UInt8, Bool)] = [
      (4, true), (0xE1, true), (0xE1, false), (5, true), (0xE5, true), (4, false), (5, false), (0xE5, false),
    ]
    #expect(events.value == expected.map { KeyEvent(usage: $0, isPressed: $1) })
    typing.cancel()
    try stage.perform { try await client.setSuspended(true) }
    stage.run(for: .seconds(1))
    #expect(scene.device.accessory.isSuspended)
    #expect(scene.phone.bonds.count == 1)
  }

  @Test("The boot reports of a mouse are typed, and a mouse has no keys and no LEDs")
  func mouse() throws {
    var mouse = Mouse()
    mouse.connection = nil
    let scene = ClientScene(mouse)
    let client = try scene.client { try await HumanInterfaceDeviceClient($0) }
    #expect(client.keyEvents == nil)
    let error = failure(ProfileError.self) { try scene.stage.perform { try await client.setLEDs([]) } }
    #expect(error == .missingCharacteristic(0x2A32, of: 0x1812))
    let moves = try #require(client.mouseReports)
    try scene.stage.perform { try await client.setProtocolMode(.boot) }
    let reading = scene.stage.start { try await moves.take(1)[0] }
    scene.stage.run(for: .seconds(1))
    scene.device.act { $0.move(x: 10, y: -5, in: &$1) }
    let move = try scene.stage.value(of: reading)
    #expect(move.x == 10 && move.y == -5)
  }
}
