import BluetoothDissection
import BluetoothProfiles
import BluetoothWire

/// A device of a capture whose values change at the offsets of the capture.
struct ReplayedDevice: Accessory {
  /// A characteristic with its present value.
  private struct Attribute: Sendable {
    let path: CharacteristicPath
    let initial: [UInt8]
    var value: [UInt8]
  }

  /// A new value of a characteristic.
  private struct Change: Sendable {
    /// The time since the beginning of the capture.
    let offset: Duration
    /// The index of the characteristic.
    let attribute: Int
    let value: [UInt8]
    /// True if the value was notified or indicated; false if a client has read it.
    let isSent: Bool
  }

  /// Advertising data, from an offset in the capture on.
  private struct Frame: Sendable {
    let offset: Duration
    let advertising: Advertising
  }

  /// The most characteristics, as in a world file: with their descriptors, they have room in a database.
  private static let maximumCharacteristics = 1_000
  /// The most descriptors of a characteristic besides those that the database adds.
  private static let maximumDescriptors = 32

  let appearance: Appearance
  /// The parts of the device that are not replayed, one line for each kind.
  let notes: [String]
  /// The name that the device advertises if the capture has none of its advertising.
  var name = ""
  var start = DeviceRecording.Start.powerOn

  private let definitions: [AccessoryService<Self>]
  private var attributes: [Attribute] = []
  /// The changes by their offsets.
  private let changes: [Change]
  /// The advertising data by their offsets; empty: the capture has none.
  private let frames: [Frame]
  /// The offset of the first subscription.
  private let subscriptionOffset: Duration

  /// The world's time that stands for the beginning of the capture; nil: the device was not turned on, or waits for a
  /// subscription.
  private var origin: Duration?
  /// The number of changes that have taken place.
  private var changed = 0
  private var frame = 0
  private var subscribers = 0

  /// Creates the device.
  ///
  /// - Parameter beginning: the time of the first packet of the capture in nanoseconds.
  init(_ device: CapturedDevices.Device, from beginning: Int64) {
    func offset(_ time: Int64) -> Duration { .nanoseconds(max(0, time - beginning)) }
    var notes: [String] = []
    let server = Content(device.server.content, offset)
    attributes = server.attributes
    definitions = server.services
    changes = server.changes
    appearance = Appearance(rawValue: device.server.appearance ?? 0)
    let firstSent = changes.first { $0.isSent }?.offset
    subscriptionOffset = device.server.subscriptionTime.map(offset) ?? firstSent ?? .zero
    frames = Self.frames(of: device.advertising, from: .nanoseconds(beginning))
    if server.hasLongValues {
      notes.append("values of more than \(ATT.maximumValueLength) octets are replayed with the first ones")
    }
    if server.isIncomplete { notes.append("the device has more than \(Self.maximumCharacteristics) characteristics") }
    if frames.isEmpty {
      notes.append("the capture has no advertising of \(device.title): it advertises with its name only")
    }
    if device.advertising.isExtended {
      notes.append(
        "the device uses extended advertising: it is replayed with the first 31 octets, as legacy advertising")
    }
    if device.advertising.isConnectable, !device.server.hasServices {
      notes.append("the capture shows no services of \(device.title)")
    }
    if device.encryptedPackets > 0 {
      notes.append(
        "\(device.encryptedPackets) packets of its links are encrypted: ble capture decrypt makes them readable")
    }
    self.notes = notes
  }

  private static func frames(of recorded: RecordedAdvertising, from beginning: Duration) -> [Frame] {
    guard let kind = recorded.kind else { return [] }
    var advertising = Advertising()
    advertising.kind =
      switch kind {
      case .connectable: .connectable
      case .scannable: .scannable
      case .broadcast: .broadcast
      case .directed: .directed
      }
    advertising.schedule = [.every(.seconds(recorded.interval ?? 0.1))]
    var offset = (recorded.start ?? beginning) - beginning
    return recorded.timeline.map { frame in
      defer { offset += frame.duration }
      advertising.payload = AdvertisingPayload(fitting: frame.payload)
      advertising.scanResponse = AdvertisingPayload(fitting: frame.scanResponse)
      return Frame(offset: offset, advertising: advertising)
    }
  }

  /// The services of a capture in the form of an accessory.
  private struct Content {
    var services: [AccessoryService<ReplayedDevice>] = []
    var attributes: [Attribute] = []
    var changes: [Change] = []
    /// True if there were too many characteristics.
    var isIncomplete = false
    /// True if there were values that an attribute can't have.
    var hasLongValues = false

    init(_ captured: [CapturedServer.Service], _ offset: (Int64) -> Duration) {
      /// The numbers of characteristics with the same UUIDs of characteristic and service.
      var instances: [CharacteristicPath: Int] = [:]
      for service in captured {
        var made = AccessoryService<ReplayedDevice>(service.uuid, [])
        made.isPrimary = service.isPrimary
        made.includes = service.includes
        for characteristic in service.characteristics {
          guard attributes.count < ReplayedDevice.maximumCharacteristics else {
            isIncomplete = true
            break
          }
          let first = CharacteristicPath(characteristic.uuid, of: service.uuid)
          let path = CharacteristicPath(characteristic.uuid, of: service.uuid, instance: instances[first, default: 0])
          instances[first, default: 0] += 1
          made.characteristics.append(
            ReplayedDevice.definition(of: characteristic, path, at: attributes.count))
          add(characteristic, path, offset)
        }
        services.append(made)
      }
      // A sort that keeps the order of changes at one time.
      changes = changes.enumerated().sorted { ($0.element.offset, $0.offset) < ($1.element.offset, $1.offset) }
        .map(\.element)
    }

    private mutating func add(
      _ characteristic: CapturedServer.Characteristic, _ path: CharacteristicPath, _ offset: (Int64) -> Duration
    ) {
      let index = attributes.count
      let reads = characteristic.reads.map { ($0, isSent: false) }
      let updates = characteristic.updates.map { ($0, isSent: true) }
      let events = (reads + updates).enumerated()
        .sorted { ($0.element.0.time, $0.offset) < ($1.element.0.time, $1.offset) }.map(\.element)
      if events.contains(where: { $0.0.octets.count > ATT.maximumValueLength }) { hasLongValues = true }
      var value = Self.octets(events.first?.0)
      attributes.append(Attribute(path: path, initial: value, value: value))
      var before: Int64?
      for (event, isSent) in events {
        let octets = Self.octets(event)
        if isSent {
          changes.append(Change(offset: offset(event.time), attribute: index, value: octets, isSent: true))
        } else if octets != value, let before {
          // The device had this value after the event before, and at the latest when it was read.
          changes.append(Change(offset: offset(before), attribute: index, value: octets, isSent: false))
        }
        value = octets
        before = event.time
      }
    }

    private static func octets(_ value: CapturedServer.Value?) -> [UInt8] {
      Array((value?.octets ?? []).prefix(ATT.maximumValueLength))
    }
  }

  private static func definition(
    of captured: CapturedServer.Characteristic, _ path: CharacteristicPath, at index: Int
  ) -> AccessoryCharacteristic<Self> {
    var result = AccessoryCharacteristic<Self>(
      octetsOf: path, captured.properties.subtracting([.extendedProperties, .authenticatedSignedWrites]),
      read: { $0.attributes[index].value },
      write: { (device, octets, _) throws(ATTErrorCode) in
        guard octets.count <= ATT.maximumValueLength else { throw .invalidAttributeValueLength }
        device.attributes[index].value = octets
      })
    if captured.needsEncryption { result.protection = .encrypted }
    for descriptor in captured.descriptors.prefix(maximumDescriptors) {
      guard let value = descriptor.value, value.count <= ATT.maximumValueLength else { continue }
      switch descriptor.uuid.shortValue {
      case 0x2900?: result.hasReliableWrite = value.first.map { $0 & 1 != 0 } ?? false
      case 0x2901?:
        result.descriptors.append(
          .userDescription(String(validating: value, as: UTF8.self) ?? String(received: value)))
      case 0x2904?:
        if let format = try? PresentationFormat(value) { result.descriptors.append(.presentationFormat(format)) }
      // The database adds the configurations. An aggregate format has handles of the captured device. Declarations are
      // no descriptors.
      case 0x2800?, 0x2801?, 0x2802?, 0x2803?, 0x2902?, 0x2903?, 0x2905?: break
      default: result.descriptors.append(.other(descriptor.uuid, value))
      }
    }
    return result
  }

  // MARK: Accessory

  var services: [AccessoryService<Self>] { definitions }

  var advertising: Advertising {
    guard frames.isEmpty else { return frames[frame].advertising }
    return Advertising(AdvertisingPayload(fitting: [.flags(), .name(name)]))
  }

  mutating func started(in context: inout AccessoryContext) {
    if start == .powerOn, origin == nil { origin = context.now }
    schedule(&context)
  }

  mutating func subscriptionChanged(
    of characteristic: CharacteristicPath, isOn: Bool, in context: inout AccessoryContext
  ) {
    let before = subscribers
    subscribers = context.subscriptions.count
    guard start == .subscription, before == 0, subscribers > 0 else { return }
    begin(at: context.now - subscriptionOffset)
    schedule(&context)
  }

  mutating func disconnected(because reason: HCIErrorCode, in context: inout AccessoryContext) {
    subscribers = context.subscriptions.count
  }

  mutating func timeReached(in context: inout AccessoryContext) {
    guard let origin else { return }
    var sent: Set<Int> = []
    while changed < changes.count, origin + changes[changed].offset <= context.now {
      let change = changes[changed]
      // A characteristic can have one value at a time: the next one follows a nanosecond later.
      guard !sent.contains(change.attribute) else { break }
      attributes[change.attribute].value = change.value
      if change.isSent {
        sent.insert(change.attribute)
        context.notify(attributes[change.attribute].path)
      }
      changed += 1
    }
    advanceAdvertising(&context)
    schedule(&context)
  }

  // MARK: Time

  /// Begins the history again. The changes before the first subscription have taken place by then.
  private mutating func begin(at time: Duration) {
    origin = time
    for index in attributes.indices { attributes[index].value = attributes[index].initial }
    changed = changes.firstIndex { $0.offset >= subscriptionOffset } ?? changes.count
    for change in changes[..<changed] { attributes[change.attribute].value = change.value }
  }

  private mutating func advanceAdvertising(_ context: inout AccessoryContext) {
    guard let origin, frame + 1 < frames.count, origin + frames[frame + 1].offset <= context.now else { return }
    while frame + 1 < frames.count, origin + frames[frame + 1].offset <= context.now { frame += 1 }
    // While a central is connected, the device does not advertise. Afterwards it advertises the data of that time.
    if context.connections == 0 { context.advertise(advertising) }
  }

  private func schedule(_ context: inout AccessoryContext) {
    guard let origin else { return }
    let next = [
      changed < changes.count ? changes[changed].offset : nil,
      frame + 1 < frames.count ? frames[frame + 1].offset : nil,
    ]
    if let offset = next.compactMap(\.self).min() { context.wake(at: origin + offset) }
  }
}
