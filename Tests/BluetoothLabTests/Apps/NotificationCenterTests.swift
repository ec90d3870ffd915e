import BluetoothLab
import CoreBluetooth
import Requirements
import Testing

/// The Apple Notification Center Service that a phone offers, and the permission for it.
@Suite("Notifications for accessories")
struct NotificationCenterTests {
  private static let service = CBUUID(string: "7905F431-B5CE-4E99-A40F-4B1E122D00D0")
  private static let notificationSource = "9FBF120D-6301-42D9-8C58-25E699A21DBD"
  private static let controlPoint = "69D1D8F3-45E1-49A8-9821-9BBDFDAAD9D9"
  private static let dataSource = "22EAC6E9-24D6-4BB5-BE44-B36ACE7C7BFB"

  /// A phone whose app connects to a watch, and the app of the watch, which uses the phone's services over that link.
  private final class Stage {
    let world = World(seed: 41)
    let phone: Device
    let watch: Device
    let user = ScriptedPrompts(.noInputNoOutput, otherwise: .yes)
    let app: TestCentral
    let server: TestPeripheral
    let client: TestCentral
    let accessory: CBPeripheral
    let provider: CBPeripheral

    /// Connects the phone's app to the watch, and the watch's app to the phone.
    init(
      _ policy: PlatformPolicy = .ios, sharing answer: ScriptedPrompts.Answer = .yes, requires: Bool = true
    ) throws {
      var options = DeviceOptions()
      options.policy = policy
      user.answer(answer, to: .shareNotifications)
      phone = world.makeDevice(named: "phone", options, prompts: user)
      watch = world.makeDevice(named: "watch", at: Position(x: 1))
      app = TestCentral(on: phone)
      server = TestPeripheral(on: watch)
      client = TestCentral(on: watch)
      let value = CBMutableCharacteristic(
        type: CBUUID(string: "FF01"), properties: [.read, .notify], value: nil, permissions: .readable)
      try server.publish("FF00", [value], name: "watch")
      accessory = try app.discover("watch")
      accessory.delegate = app.recorder
      app.manager.connect(accessory, options: requires ? [CBConnectPeripheralOptionRequiresANCS: true] : nil)
      let accessory = accessory
      try world.expect("the phone connects") { accessory.state == .connected }
      try app.setNotify(for: "FF01", of: accessory)
      world.run(for: .seconds(3))
      let centrals = server.events.compactMap { event -> UUID? in
        if case .subscribed(let central, to: _) = event { central } else { nil }
      }
      try client.powerOn()
      provider = try #require(client.manager.retrievePeripherals(withIdentifiers: centrals).first)
      try client.connect(to: provider)
    }

    /// The values of a characteristic that the watch has got.
    func values(of uuid: String) -> [[UInt8]] {
      client.events.compactMap { event in
        if case .valueUpdated(_, CBUUID(string: uuid), let value, nil) = event { value } else { nil }
      }
    }

    var events: [[UInt8]] { values(of: NotificationCenterTests.notificationSource) }

    /// Subscribes the watch to both sources.
    func subscribe() throws {
      try client.setNotify(for: NotificationCenterTests.dataSource, of: provider)
      try client.setNotify(for: NotificationCenterTests.notificationSource, of: provider)
      run(1)
    }

    /// Writes a command, and returns the code of the error.
    func perform(_ command: [UInt8]) -> Int? {
      do {
        try client.write(command, to: NotificationCenterTests.controlPoint, of: provider)
        run(1)
        return nil
      } catch {
        return (error as? CBATTError)?.errorCode ?? -1
      }
    }

    /// Writes a command, and returns the response.
    func response(to command: [UInt8]) -> [UInt8] {
      let before = values(of: NotificationCenterTests.dataSource).count
      #expect(perform(command) == nil)
      return values(of: NotificationCenterTests.dataSource).dropFirst(before).flatMap { $0 }
    }

    var permissionChanges: Int {
      app.events.count { if case .ancsAuthorizationUpdated = $0 { true } else { false } }
    }

    func run(_ seconds: Int) { world.run(for: .seconds(seconds)) }
  }

  private static func email(_ identifier: String, message: String = "") -> DeviceNotification {
    var email = DeviceNotification(identifier, app: "com.example.mail", title: "Mail from Ann", message: message)
    email.category = .email
    email.appName = "Mail"
    return email
  }

  @Test("An accessory gets an event for each notification: earlier, added, modified and removed, with the count")
  func events() throws {
    let stage = try Stage()
    stage.phone.post(Self.email("one"))
    stage.run(1)
    try stage.subscribe()
    #expect(stage.events == [[0, 0b00100, 6, 1, 1, 0, 0, 0]])
    var call = DeviceNotification("call", app: "phone", title: "Ben")
    call.category = .incomingCall
    call.positiveAction = "Answer"
    call.negativeAction = "Decline"
    call.isImportant = true
    stage.phone.post(call)
    stage.phone.post(Self.email("two"))
    stage.phone.post(Self.email("one", message: "more"))
    stage.phone.removeNotification("one")
    stage.phone.removeNotification("unknown")
    stage.run(1)
    #expect(
      stage.events.dropFirst() == [
        [0, 0b11010, 1, 1, 2, 0, 0, 0], [0, 0, 6, 2, 3, 0, 0, 0], [1, 0, 6, 2, 1, 0, 0, 0], [2, 0, 6, 1, 1, 0, 0, 0],
      ])
    #expect(stage.phone.notifications.map(\.identifier) == ["call", "two"])
    // Without a subscription there are no events.
    try stage.client.setNotify(false, for: Self.notificationSource, of: stage.provider)
    stage.phone.removeNotification("two")
    stage.run(1)
    #expect(stage.events.count == 5)
  }

  @Test("An accessory reads attributes of notifications and apps, in parts if they are long")
  func attributes() throws {
    let stage = try Stage()
    try stage.subscribe()
    let message = String(repeating: "äöü ", count: 200)
    var email = Self.email("one", message: message)
    email.negativeAction = "Clear"
    stage.phone.post(email)
    stage.run(1)
    let short = stage.response(to: [0, 1, 0, 0, 0, 0, 1, 4, 0, 2, 9, 0, 3, 4, 0, 4, 6, 7])
    let app = Array("com.example.mail".utf8)
    let texts: [(UInt8, [UInt8])] = [
      (0, app), (1, Array("Mail".utf8)), (2, []),
      // Four octets would end within a character.
      (3, Array("äö".utf8)), (4, Array("1400".utf8)), (6, []), (7, Array("Clear".utf8)),
    ]
    var expected: [UInt8] = [0, 1, 0, 0, 0]
    for (attribute, text) in texts { expected += [attribute, UInt8(text.count), 0] + text }
    #expect(short == expected)
    let date = stage.response(to: [0, 1, 0, 0, 0, 5])
    #expect(String(decoding: date.dropFirst(8), as: UTF8.self).hasPrefix("20010101T0000"))
    #expect(date.count == 8 + 15)

    let before = stage.values(of: Self.dataSource).count
    let long = stage.response(to: [0, 1, 0, 0, 0, 3, 0xFF, 0xFF])
    let header: [UInt8] = [0, 1, 0, 0, 0, 3, 0x78, 0x05]
    #expect(long == header + Array(message.utf8))
    let parts = stage.values(of: Self.dataSource).dropFirst(before)
    #expect(parts.count > 2 && parts.dropLast().allSatisfy { $0.count == parts.first?.count })

    let request: [UInt8] = [1] + app + [0, 0]
    let response: [UInt8] = [1] + app + [0, 0, 4, 0] + Array("Mail".utf8)
    #expect(stage.response(to: request) == response)
  }

  @Test("The errors of Control Point are those of Apple's specification")
  func errors() throws {
    let stage = try Stage()
    try stage.subscribe()
    stage.phone.post(Self.email("one"))
    stage.run(1)
    let commands: [([UInt8], Int)] = [
      ([3], 0xA0), ([0, 1, 0], 0xA1), ([0, 1, 0, 0, 0], 0xA1), ([0, 1, 0, 0, 0, 1, 5], 0xA1),
      ([0, 9, 0, 0, 0, 0], 0xA2), ([0, 1, 0, 0, 0, 8], 0xA2), ([1, 65, 66], 0xA1), ([1, 65, 0, 0], 0xA2),
      ([2, 1, 0, 0, 0], 0xA1), ([2, 1, 0, 0, 0, 2], 0xA2), ([2, 9, 0, 0, 0, 0], 0xA2),
      // The notification has no positive action.
      ([2, 1, 0, 0, 0, 0], 0xA3),
    ]
    for (command, code) in commands { #expect(stage.perform(command) == code, "\(command)") }
    #expect(stage.values(of: Self.dataSource).isEmpty)
  }

  @Test("An accessory performs an action, which ends the notification")
  func actions() throws {
    let stage = try Stage()
    try stage.subscribe()
    var call = DeviceNotification("call", app: "phone", title: "Ben")
    call.positiveAction = "Answer"
    stage.phone.post(call)
    stage.run(1)
    #expect(stage.perform([2, 1, 0, 0, 0, 0]) == nil)
    let watch = try #require(stage.phone.bonds.first).identifier
    #expect(
      stage.phone.notificationActions == [
        DeviceNotificationAction(notification: "call", isPositive: true, accessory: watch)
      ])
    #expect(stage.phone.notifications.isEmpty)
    #expect(stage.events.last?.first == 2)
  }

  @Test(
    "A033 The user's permission is ancsAuthorized, and each change of it calls didUpdateANCSAuthorization",
    .requirement("A033"),
    .symbol("CBPeripheral.ancsAuthorized", "CBCentralManagerDelegate.centralManager(_:didUpdateANCSAuthorizationFor:)"))
  func permission() throws {
    let stage = try Stage(sharing: .no)
    #expect(stage.user.questions.count { $0.kind == .shareNotifications } == 1)
    #expect(stage.user.questions.last?.peer == "watch")
    #expect(!stage.accessory.ancsAuthorized && stage.permissionChanges == 0)
    stage.phone.post(Self.email("one"))
    try stage.subscribe()
    #expect(stage.events.isEmpty)
    #expect(stage.perform([0, 1, 0, 0, 0, 0]) == CBATTError.insufficientAuthorization.rawValue)
    #expect(stage.user.questions.count { $0.kind == .shareNotifications } == 1, "the user has answered")

    let watch = try #require(stage.phone.bonds.first).identifier
    stage.phone.setNotificationSharing(true, with: watch)
    stage.run(1)
    #expect(stage.accessory.ancsAuthorized && stage.permissionChanges == 1)
    #expect(stage.events.count == 1, "the earlier notification")
    #expect(stage.perform([0, 1, 0, 0, 0, 0]) == nil)

    stage.phone.setNotificationSharing(false, with: watch)
    stage.phone.post(Self.email("two"))
    stage.run(1)
    #expect(!stage.accessory.ancsAuthorized && stage.permissionChanges == 2)
    #expect(stage.events.count == 1)
  }

  @Test(
    "CBConnectPeripheralOptionRequiresANCS pairs and asks the user; without it, the app is told nothing",
    .symbol("CBConnectPeripheralOptionRequiresANCS"))
  func required() throws {
    let required = try Stage()
    #expect(required.phone.bonds.count == 1)
    #expect(required.accessory.ancsAuthorized && required.permissionChanges == 1)
    #expect(required.user.questions.map(\.kind) == [.allowPairing, .shareNotifications])

    let plain = try Stage(requires: false)
    #expect(plain.phone.bonds.isEmpty && plain.user.questions.isEmpty)
    #expect(!plain.accessory.ancsAuthorized && plain.permissionChanges == 0)
  }

  @Test("A bonded accessory that connects again gets notifications again, without another question")
  func reconnection() throws {
    let stage = try Stage()
    try stage.subscribe()
    stage.watch.move(to: Position(x: 5_000))
    stage.run(10)
    let accessory = stage.accessory
    #expect(accessory.state == .disconnected && stage.provider.state == .disconnected)
    stage.phone.post(Self.email("earlier"))
    stage.watch.move(to: Position(x: 1))
    stage.app.manager.connect(accessory)
    try stage.world.expect("the phone connects again") { accessory.state == .connected }
    try stage.client.connect(to: stage.provider)
    try stage.subscribe()
    #expect(stage.events.last == [0, 0b00100, 6, 1, 1, 0, 0, 0])
    stage.phone.post(Self.email("later"))
    stage.run(1)
    #expect(stage.events.last == [0, 0, 6, 2, 2, 0, 0, 0])
    #expect(stage.response(to: [0, 2, 0, 0, 0, 4]).count > 5)
    #expect(accessory.ancsAuthorized)
    #expect(stage.user.questions.count { $0.kind == .shareNotifications } == 1)
  }

  @Test("The service needs an encrypted link, and exists only once the phone has a bond")
  func encryption() throws {
    let stage = try Stage()
    let gate = TestPeripheral(on: stage.phone)
    try gate.publish("FF10", [], name: "phone")
    let refusing = ScriptedPrompts(.noInputNoOutput)
    let stranger = TestCentral(on: stage.world.makeDevice(named: "stranger", DeviceOptions(), prompts: refusing))
    let phone = try stranger.connect(to: .service(CBUUID(string: "FF10")))
    #expect(throws: CBATTError.self) { try stranger.setNotify(for: Self.notificationSource, of: phone) }
    #expect(throws: CBATTError.self) { try stranger.write([0, 1, 0, 0, 0, 0], to: Self.controlPoint, of: phone) }

    let plain = try Stage(requires: false)
    try plain.client.discoverAttributes(of: plain.provider)
    #expect(plain.provider.services?.contains { $0.uuid == Self.service } == false)
  }

  @Test("A system without the service has no notifications, and the option has no effect")
  func otherSystems() throws {
    let stage = try Stage(.macos)
    stage.phone.post(Self.email("one"))
    stage.run(1)
    #expect(stage.phone.notifications.isEmpty)
    #expect(stage.phone.bonds.isEmpty && stage.user.questions.isEmpty && !stage.accessory.ancsAuthorized)
  }

  @Test("Alerts about suspended apps are notifications of the device")
  func alerts() throws {
    var plan = BeltApp.Plan()
    plan.connectOptions = [CBConnectPeripheralOptionNotifyOnDisconnectionKey: true]
    let stage = AppLifeTests.Stage(manifest: .described(), plan)
    stage.launchAndSubscribe()
    stage.app.enterBackground()
    stage.run(1)
    stage.app.suspend()
    stage.run(1)
    stage.belt.move(to: Position(x: 5_000))
    stage.run(10)
    let notification = try #require(stage.phone.notifications.first)
    #expect(stage.phone.notifications.count == 1)
    #expect(notification.app == "com.example.belt" && notification.title == "belt")
    #expect(notification.message == "belt is disconnected" && notification.negativeAction == "Clear")
  }
}
