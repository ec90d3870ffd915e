import AsyncTestSupport
import BluetoothLab
import BluetoothProfiles
import CoreBluetooth
import CoreBluetoothExtras
import CoreBluetoothProfiles
import Testing

@Suite("A client of a phone's notifications") struct NotificationCenterClientTests {
  private typealias Client = NotificationCenterClient

  // MARK: A phone of this package

  /// A phone that offers its notifications, and a watch that is connected to it as the central.
  private struct Stage {
    private static let gate = CBUUID(string: "FF00")
    let world = World(seed: 41)
    let stage: AppStage
    let phone: Device
    let watch: Peripheral

    init(sharing answer: ScriptedPrompts.Answer = .yes) throws {
      stage = AppStage(world)
      var options = DeviceOptions()
      options.policy = .ios
      let user = ScriptedPrompts(.noInputNoOutput, otherwise: .yes)
      user.answer(answer, to: .shareNotifications)
      phone = world.makeDevice(named: "phone", options, prompts: user)
      let local = LocalPeripheral(adapter: phone)
      let central = Central(adapter: world.makeDevice(named: "watch", at: Position(x: 2)))
      let value = LocalCharacteristic(Self.gate, .read, permissions: .readEncryptionRequired, read: { _ in Data([1]) })
      try stage.perform {
        try await local.waitUntilPoweredOn()
        try await local.add(LocalService(Self.gate, [value]))
      }
      _ = stage.start { try await local.advertise(services: [Self.gate]) }
      watch = try stage.perform {
        try await central.waitUntilPoweredOn()
        let peripheral = try await central.scan(for: [Self.gate]).first { _ in true }.orThrow().peripheral
        try await peripheral.connect()
        return peripheral
      }
    }

    /// Reads a value that requires pairing: the phone offers the service to bonded accessories.
    func pair() throws {
      try stage.perform { [watch] in
        let service = try await watch.discoverServices([Self.gate]).first.orThrow()
        _ = try await service.discoverCharacteristics().first.orThrow().read()
      }
      stage.run(for: .seconds(1))
    }

    func client() throws -> Client? { try stage.perform { [watch] in try await Client(watch) } }

    /// Collects the events until the test ends.
    func events(of client: Client) -> Box<[Client.Event]> {
      let events = Box<[Client.Event]>([])
      _ = stage.start { for try await event in client.events { events.append(event) } }
      stage.run(for: .seconds(1))
      return events
    }
  }

  private static func email(_ message: String) -> DeviceNotification {
    var email = DeviceNotification("one", app: "com.example.mail", title: "Mail from Ann", message: message)
    email.category = .email
    email.appName = "Mail"
    email.negativeAction = "Clear"
    return email
  }

  @Test("A client gets the events of a phone, reads a notification, and performs its action")
  func phone() throws {
    let stage = try Stage()
    #expect(try stage.client() == nil, "without a bond")
    try stage.pair()
    let client = try #require(try stage.client())
    let message = String(repeating: "äöü ", count: 200)
    stage.phone.post(Self.email(message))
    let events = stage.events(of: client)
    #expect(
      events.value == [.init(.added, [.preExisting, .negativeAction], category: .email, count: 1, uid: 1)])
    let content = try stage.stage.perform {
      try await client.content(
        of: 1,
        [
          .negativeActionLabel, .positiveActionLabel, .date, .messageSize, .message(), .subtitle(),
          .title(maximumLength: 4), .appIdentifier,
        ])
    }
    #expect(content.appIdentifier == "com.example.mail")
    #expect(content.title == "Mail" && content.subtitle?.isEmpty == true)
    #expect(content.message == message && content.messageSize == 1_400)
    #expect(content.date?.description.hasPrefix("2001-01-01 00:00:") == true)
    #expect(content.negativeActionLabel == "Clear" && content.positiveActionLabel?.isEmpty == true)
    #expect(try stage.stage.perform { try await client.displayName(of: "com.example.mail") } == "Mail")
    let part = try stage.stage.perform { try await client.content(of: 1, [.title(), .title(maximumLength: 2)]) }
    #expect(part.title == "Ma" && part.message == nil && part.messageSize == nil && part.date == nil)

    #expect(failure { try stage.stage.perform { try await client.content(of: 2, [.date]) } } == .invalidParameter)
    #expect(failure { try stage.stage.perform { try await client.perform(.positive, on: 1) } } == .actionFailed)
    try stage.stage.perform { try await client.perform(.negative, on: 1) }
    stage.stage.run(for: .seconds(1))
    #expect(stage.phone.notificationActions.map(\.isPositive) == [false])
    #expect(events.value.last == .init(.removed, .negativeAction, category: .email, count: 0, uid: 1))
  }

  @Test("Without the permission of the phone's user there are no events, and commands throw an ATT error")
  func permission() throws {
    let stage = try Stage(sharing: .no)
    try stage.pair()
    let client = try #require(try stage.client())
    stage.phone.post(Self.email("Hello"))
    #expect(stage.events(of: client).value.isEmpty)
    let error = #expect(throws: CBATTError.self) {
      try stage.stage.perform { try await client.content(of: 1, [.title()]) }
    }
    #expect(error?.code == .insufficientAuthorization)
  }

  @Test("A client reads the notifications of a phone of the lab, to which its device connects and with which it pairs")
  func notifyingPhone() throws {
    var phone = NotifyingPhone(notifications: [Self.email("Lunch?")])
    phone.scheduledNotifications[0].date = DateTime(year: 2024, month: 2, day: 29, hours: 8, minutes: 30)
    let scene = ClientScene(phone)
    let client = try scene.client { [limit = scene.limit] in try await Client($0, commandLimit: limit).orThrow() }
    #expect(scene.phone.bonds.isEmpty)
    let events = Box<[Client.Event]>([])
    let task = scene.stage.start { for try await event in client.events { events.append(event) } }
    scene.stage.run(for: .seconds(1))
    #expect(scene.phone.bonds.count == 1)
    #expect(events.value == [.init(.added, [.preExisting, .negativeAction], category: .email, count: 1, uid: 1)])
    let content = try scene.stage.perform {
      try await client.content(of: 1, [.appIdentifier, .title(), .message(), .date])
    }
    #expect(content.appIdentifier == "com.example.mail" && content.title == "Mail from Ann")
    #expect(content.message == "Lunch?" && content.date?.description == "2024-02-29 08:30:00")
    #expect(try scene.stage.perform { try await client.displayName(of: "com.example.mail") } == "Mail")
    #expect(failure { try scene.stage.perform { try await client.perform(.positive, on: 1) } } == .actionFailed)
    try scene.stage.perform { try await client.perform(.negative, on: 1) }
    scene.stage.run(for: .seconds(1))
    #expect(events.value.last == .init(.removed, .negativeAction, category: .email, count: 0, uid: 1))
    #expect(scene.device.accessory.actions.map(\.isPositive) == [false])
    #expect(failure { try scene.stage.perform { try await client.content(of: 1, [.date]) } } == .invalidParameter)
    task.cancel()
  }

  // MARK: Other phones

  /// A phone that answers each command with arbitrary octets.
  private struct RawPhone: Accessory {
    static let service: BluetoothUUID = "7905F431-B5CE-4E99-A40F-4B1E122D00D0"
    static let source = CharacteristicPath("9FBF120D-6301-42D9-8C58-25E699A21DBD", of: service)
    static let control = CharacteristicPath("69D1D8F3-45E1-49A8-9821-9BBDFDAAD9D9", of: service)
    static let data = CharacteristicPath("22EAC6E9-24D6-4BB5-BE44-B36ACE7C7BFB", of: service)

    var takesCommands = true
    /// The parts of the response to the next command.
    var parts: [[UInt8]] = []
    /// The error that answers commands.
    var error: ATTErrorCode?
    var event: [UInt8] = []
    var commands: [[UInt8]] = []
    private var part: [UInt8] = []

    init(_ parts: [[UInt8]] = []) { self.parts = parts }

    var advertising: Advertising { Advertising(AdvertisingPayload(fitting: [.flags(), .name("Raw")])) }

    var services: [AccessoryService<Self>] {
      let source = AccessoryCharacteristic<Self>(octetsOf: Self.source, .notify, read: { $0.event })
      guard takesCommands else { return [AccessoryService(Self.service, [source])] }
      let control = AccessoryCharacteristic<Self>(
        octetsOf: Self.control, .write,
        write: { (phone, octets, context) throws(ATTErrorCode) in
          phone.commands.append(octets)
          if let error = phone.error { throw error }
          if !phone.parts.isEmpty { context.wake(after: .milliseconds(1)) }
        })
      let data = AccessoryCharacteristic<Self>(octetsOf: Self.data, .notify, read: { $0.part })
      return [AccessoryService(Self.service, [source, control, data])]
    }

    /// Sends the next part.
    mutating func timeReached(in context: inout AccessoryContext) {
      guard !parts.isEmpty else { return }
      part = parts.removeFirst()
      context.notify(Self.data)
      if !parts.isEmpty { context.wake(after: .milliseconds(100)) }
    }
  }

  private func meet(_ phone: RawPhone) throws -> (scene: ClientScene<RawPhone>, client: Client) {
    let scene = ClientScene(phone)
    return (
      scene,
      try scene.client { [limit = scene.limit] in try await Client($0, commandLimit: limit).orThrow() }
    )
  }

  private func failure(_ body: () throws -> some Any) -> NotificationCenterError? {
    CoreBluetoothProfilesTests.failure(NotificationCenterError.self, body)
  }

  @Test("A response may be cut anywhere, and have its attributes in any order")
  func parts() throws {
    let texts: [(UInt8, String)] = [(5, "20240229T235958"), (3, "äöü"), (2, ""), (4, "6")]
    var response: [UInt8] = [0, 4, 3, 2, 1]
    for (attribute, text) in texts { response += [attribute, UInt8(text.utf8.count), 0] + Array(text.utf8) }
    let requests: [Client.Attribute] = [.message(maximumLength: 300), .subtitle(), .messageSize, .date]
    for length in [1, 3, 4, 7, response.count] {
      let parts = stride(from: 0, to: response.count, by: length).map { Array(response[$0...].prefix(length)) }
      let (scene, client) = try meet(RawPhone(parts))
      let content = try scene.stage.perform { try await client.content(of: 0x0102_0304, requests) }
      #expect(content.date == DateTime(year: 2024, month: 2, day: 29, hours: 23, minutes: 59, seconds: 58))
      #expect(content.message == "äöü" && content.subtitle?.isEmpty == true && content.messageSize == 6)
      #expect(content.title == nil && content.appIdentifier == nil)
      #expect(scene.device.accessory.commands == [[0, 4, 3, 2, 1, 2, 0xFF, 0xFF, 3, 44, 1, 4, 5]])
    }
    let name: [[UInt8]] = [[1], [65, 66], [0, 0], [3, 0, 67], [68, 69]]
    let (scene, client) = try meet(RawPhone(name))
    #expect(try scene.stage.perform { try await client.displayName(of: "AB") } == "CDE")
    #expect(scene.device.accessory.commands == [[1, 65, 66, 0, 0]])
  }

  @Test("A malformed response is a typed error, and the next command succeeds")
  func malformed() throws {
    let head: [UInt8] = [0, 7, 0, 0, 0]
    let cases: [([UInt8], ValueError)] = [
      ([1], .outOfRange(field: "Command")), ([0, 8], .outOfRange(field: "Command")),
      (head + [9, 0, 0], .outOfRange(field: "Attribute")),
      (head + [4, 1, 0, 65, 5, 0, 0], .outOfRange(field: "Message Size")),
      (head + [4, 0, 0, 4, 0, 0], .outOfRange(field: "Attribute")),
      (head + [4, 1, 0, 49, 5, 0, 0, 0], .tooLong),
      (head + [4, 1, 0, 49, 5, 1, 0, 49], .outOfRange(field: "Date")),
      (head + [4, 1, 0, 49, 5, 15, 0] + Array("20241329T235958".utf8), .outOfRange(field: "Date")),
      (head + [4, 1, 0, 49, 5, 15, 0] + Array("2024+229T235958".utf8), .outOfRange(field: "Date")),
    ]
    let (scene, client) = try meet(RawPhone())
    for (response, error) in cases {
      scene.device.update { $0.parts = [response] }
      let failure = failure { try scene.stage.perform { try await client.content(of: 7, [.messageSize, .date]) } }
      #expect(failure == .malformedValue(error), "\(response)")
    }
    scene.device.update { $0.parts = [head + [5, 0, 0, 4, 1, 0, 49]] }
    let content = try scene.stage.perform { try await client.content(of: 7, [.messageSize, .date]) }
    #expect(content.messageSize == 1 && content.date == nil)
  }

  @Test("Each error of Control Point is a typed error; a phone without Control Point takes no commands")
  func errors() throws {
    let (scene, client) = try meet(RawPhone())
    let errors: [(UInt8, NotificationCenterError?)] = [
      (0xA0, .unknownCommand), (0xA1, .invalidCommand), (0xA2, .invalidParameter), (0xA3, .actionFailed), (0xA4, nil),
    ]
    for (code, error) in errors {
      scene.device.update { $0.error = ATTErrorCode(rawValue: code) }
      #expect(failure { try scene.stage.perform { try await client.content(of: 7, [.title()]) } } == error)
      #expect(failure { try scene.stage.perform { try await client.displayName(of: "app") } } == error)
      #expect(failure { try scene.stage.perform { try await client.perform(.negative, on: 7) } } == error)
    }
    #expect(scene.device.accessory.commands.last == [2, 7, 0, 0, 0, 1])
    #expect(throws: CBATTError.self) { try scene.stage.perform { try await client.perform(.positive, on: 7) } }

    var silent = RawPhone()
    silent.takesCommands = false
    let (other, listener) = try meet(silent)
    #expect(failure { try other.stage.perform { try await listener.content(of: 7, [.title()]) } } == .notOffered)
    #expect(failure { try other.stage.perform { try await listener.perform(.positive, on: 7) } } == .notOffered)
  }

  @Test("One command runs at a time; a cancelled one makes room; one without a response ends all later ones")
  func oneAtATime() throws {
    let (scene, client) = try meet(RawPhone())
    let first = scene.stage.start { try await client.displayName(of: "app") }
    scene.stage.run(for: .seconds(1))
    #expect(failure { try scene.stage.perform { try await client.displayName(of: "app") } } == .commandInProgress)
    first.cancel()
    scene.stage.run(for: .seconds(1))
    #expect(first.error is CancellationError)
    scene.device.update { $0.parts = [[1, 65, 0, 0, 1, 0, 66]] }
    #expect(try scene.stage.perform { try await client.displayName(of: "A") } == "B")

    let start = scene.world.now
    #expect(failure { try scene.stage.perform { try await client.displayName(of: "app") } } == .timedOut)
    #expect((.seconds(30) ... .seconds(31)).contains(scene.world.now - start))
    #expect(failure { try scene.stage.perform { try await client.content(of: 1, [.title()]) } } == .timedOut)
    #expect(scene.device.accessory.commands.count == 3)
  }

  @Test("Reserved kinds and categories are events; malformed octets end the events with a typed error")
  func malformedEvents() throws {
    let (scene, client) = try meet(RawPhone())
    let events = Box<[String]>([])
    let task = scene.stage.start { for try await event in client.events { events.append("\(event)") } }
    for octets in [[1, 0b11, 4, 2, 9, 0, 0, 0], [3, 0, 12, 0, 0, 0, 0, 1], [0, 0, 0, 0, 1, 0, 0]] as [[UInt8]] {
      scene.stage.run(for: .seconds(1))
      scene.device.act { phone, context in
        phone.event = octets
        context.notify(RawPhone.source)
      }
    }
    scene.stage.run(for: .seconds(1))
    #expect(
      events.value == [
        "modified 9, category social, 2 in the category, flags silent, important",
        "reserved (3) 16777216, category reserved (12), 0 in the category, flags none",
      ])
    #expect(task.error as? NotificationCenterError == .malformedValue(.tooShort))
  }
}
