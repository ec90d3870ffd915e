import AsyncTestSupport
import BluetoothLab
import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothExtras
import CoreBluetoothProfiles
import Requirements
import Testing

@Suite("Services of a phone over the link that the phone has made") struct SystemServiceTests {
  /// A phone whose system has the services of a telephone, and a watch to which an app of the phone has connected.
  private struct Stage {
    private static let greeting = CBUUID(string: "FFF0")
    private static let hello = CBUUID(string: "FFF1")

    let world = World(seed: 43)
    let stage: AppStage
    let device: Device
    let services: SystemServices<Telephone>
    let app: TestCentral
    let central: Central
    let local: LocalPeripheral
    /// The phone as the watch sees it.
    let phone: Peripheral

    init(_ telephone: Telephone = Telephone(), notifying: NotifyingPhone? = nil) throws {
      stage = AppStage(world)
      device = world.makeDevice(named: "phone", at: Position(x: 1))
      services = device.serve(telephone)
      if let notifying { device.serve(notifying) }
      let watch = world.makeDevice(named: "watch")
      let central = Central(adapter: watch)
      let local = LocalPeripheral(adapter: watch)
      let visitor = Box<UUID?>(nil)
      _ = stage.start {
        try await central.waitUntilPoweredOn()
        try await local.waitUntilPoweredOn()
        let hello = LocalCharacteristic(Self.hello, .write, write: { visitor.value = $0.central.id })
        try await local.add(LocalService(Self.greeting, [hello]))
        try await local.advertise(services: [Self.greeting])
      }
      stage.run(for: .seconds(1))
      app = TestCentral(on: device)
      let accessory = try app.connect(to: .service(Self.greeting))
      try app.discoverAttributes(of: accessory)
      try app.write([1], to: Self.hello.uuidString, of: accessory)
      let identifier = try #require(visitor.value)
      (self.central, self.local) = (central, local)
      // The phone does not advertise, so the watch can only use the link that the phone has made.
      phone = try stage.perform {
        let peer = try central.peripherals(withIdentifiers: [identifier]).first.orThrow()
        try await peer.connect()
        return peer
      }
    }

    /// Returns the client of the watch that `make` creates.
    func client<Client: Sendable>(_ make: @escaping @Sendable (Peripheral) async throws -> Client) throws -> Client {
      let phone = phone
      return try stage.perform { try await make(phone) }
    }

    /// True if each device has had one link.
    var hasOneLink: Bool { world.statistics.devices.allSatisfy { $0.links.count == 1 } }
  }

  @Test("A watch reads the time of the phone that has connected to it, and gets its adjustment", .requirement("L194"))
  func time() throws {
    let scene = try Stage(Telephone(startTime: DateTime(year: 2024, month: 2, day: 29, hours: 12)))
    let stage = scene.stage
    let client = try scene.client { try await TimeClient($0) }
    let before = scene.world.now.components.seconds
    let time = try stage.perform { try await client.currentTime() }.exactTime.dayDateTime
    let after = scene.world.now.components.seconds
    #expect(time.dateTime.day == 29 && time.dateTime.hours == 12 && time.dayOfWeek == .thursday)
    let seconds = Int64(time.dateTime.minutes) * 60 + Int64(time.dateTime.seconds)
    #expect((before...after).contains(seconds))

    let adjustments = Box<[CurrentTime]>([])
    let task = stage.start { for try await time in client.adjustments { adjustments.append(time) } }
    stage.run(for: .seconds(1))
    try stage.perform { try await client.requestReferenceUpdate() }
    // The update takes 2 s.
    stage.run(for: .milliseconds(1_500))
    #expect(adjustments.value.isEmpty)
    stage.run(for: .seconds(1))
    #expect(adjustments.value.map(\.adjustReason) == [.externalReferenceTimeUpdate])
    #expect(scene.hasOneLink)
    task.cancel()
  }

  @Test("A watch pairs with the phone that has connected to it, and reads the notifications that its system serves")
  func notifications() throws {
    let message = String(repeating: "äöü ", count: 100)
    let email = DeviceNotification("one", app: "com.example.mail", title: "Ann", message: message)
    let scene = try Stage(notifying: NotifyingPhone(notifications: [email]))
    let stage = scene.stage
    let client = try scene.client { try await NotificationCenterClient($0).orThrow() }
    #expect(scene.device.bonds.isEmpty)
    let events = Box<[NotificationCenterClient.Event]>([])
    let task = stage.start { for try await event in client.events { events.append(event) } }
    stage.run(for: .seconds(3))
    #expect(scene.device.bonds.count == 1)
    #expect(events.value == [.init(.added, .preExisting, category: .other, count: 1, uid: 1)])
    let content = try stage.perform { try await client.content(of: 1, [.title(), .message()]) }
    #expect(content.title == "Ann" && content.message == message)
    #expect(scene.hasOneLink)
    task.cancel()
  }

  @Test(
    "A watch gets the new alerts of the phone that has connected to it, of the categories that it has enabled",
    .requirement("L181"))
  func alerts() throws {
    var telephone = Telephone()
    telephone.scheduledAlerts = [Telephone.ScheduledAlert(at: .seconds(30), .email, text: "Bob")]
    let scene = try Stage(telephone)
    let stage = scene.stage
    let client = try scene.client { try await AlertNotificationClient($0) }
    let new = Box<[NewAlert]>([])
    let task = stage.start { for try await alert in client.newAlerts { new.append(alert) } }
    stage.run(for: .seconds(1))
    scene.services.act { telephone, context in telephone.alert(.email, text: "too early", in: &context) }
    try stage.perform { try await client.perform(.enableNewAlert, for: .email) }
    #expect(new.value.isEmpty)
    scene.services.act { telephone, context in
      telephone.alert(.call, text: "not enabled", in: &context)
      telephone.alert(.email, text: "Ann", in: &context)
    }
    stage.run(for: .milliseconds(500))
    let ann = NewAlert(category: .email, count: 2, text: "Ann")
    #expect(new.value == [ann])
    stage.run(for: .milliseconds(29_900) - scene.world.now)
    #expect(new.value == [ann])
    stage.run(for: .seconds(1))
    #expect(new.value == [ann, NewAlert(category: .email, count: 3, text: "Bob")])
    #expect(scene.hasOneLink)
    task.cancel()
  }

  @Test("A watch silences the ringer of the phone that has connected to it, and gets the changes", .requirement("L191"))
  func ringer() throws {
    var telephone = Telephone()
    telephone.alertStatus = .vibrate
    let scene = try Stage(telephone)
    let stage = scene.stage
    let client = try scene.client { try await PhoneAlertStatusClient($0) }
    #expect(try stage.perform { try await client.alertStatus() } == .vibrate)
    let (status, setting) = (Box<[AlertStatus]>([]), Box<[RingerSetting]>([]))
    let tasks = [
      stage.start { for try await value in client.alertStatusChanges { status.append(value) } },
      stage.start { for try await value in client.ringerSettingChanges { setting.append(value) } },
    ]
    stage.run(for: .seconds(1))
    scene.services.update { $0.alertStatus.insert(.ringer) }
    stage.run(for: .milliseconds(500))
    #expect(status.value == [[.ringer, .vibrate]] && setting.value.isEmpty)
    try stage.perform { try await client.perform(.muteOnce) }
    stage.run(for: .milliseconds(500))
    #expect(status.value == [[.ringer, .vibrate], .vibrate] && setting.value.isEmpty)
    try stage.perform { try await client.perform(.silentMode) }
    stage.run(for: .milliseconds(500))
    #expect(setting.value == [.silent] && scene.services.accessory.ringer == .silent)
    #expect(scene.hasOneLink)
    for task in tasks { task.cancel() }
  }

  @Test("A phone that has been off serves the same services again, and starts the schedule of alerts again")
  func power() throws {
    let world = World(seed: 44)
    let stage = AppStage(world)
    let device = world.makeDevice(named: "phone")
    var telephone = Telephone()
    telephone.scheduledAlerts = [Telephone.ScheduledAlert(at: .seconds(10), .email, alertStatus: .ringer)]
    let services = device.serve(telephone)
    stage.run(for: .seconds(5))
    device.setPower(false)
    stage.run(for: .seconds(10))
    #expect(services.accessory.alertStatus == [])
    device.setPower(true)
    stage.run(for: .seconds(9))
    #expect(services.accessory.alertStatus == [])
    stage.run(for: .seconds(2))
    #expect(services.accessory.alertStatus == .ringer)
  }
}
