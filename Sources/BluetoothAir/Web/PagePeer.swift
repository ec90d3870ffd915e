import BluetoothDissection
import BluetoothHost
import BluetoothTypes
import BluetoothWire

/// A device to which the page's central is connected, with its attributes.
struct PagePeer {
  let address: DeviceAddress
  /// The instant at which the connection and the discovery must be complete; nil: they are.
  var deadline: Instant?
  var handle: HCI.ConnectionHandle?
  /// The viewers that wait for the tree.
  var waiting: [PageCentral.Answer] = []
  /// The number of requests of the discovery that have not been answered.
  var pending = 0
  var isComplete = false
  var services: [GATTService] = []
  /// The characteristics by the declaration of their service, and the descriptors by the handle of the value.
  var characteristics: [AttributeHandle: [GATTCharacteristic]] = [:]
  var descriptors: [AttributeHandle: [GATTDescriptor]] = [:]
  var values: [AttributeHandle: [UInt8]] = [:]
  var subscribed: Set<AttributeHandle> = []

  init(address: DeviceAddress, deadline: Instant) { (self.address, self.deadline) = (address, deadline) }

  /// Returns the characteristic whose value has this handle; nil: there is none.
  func characteristic(_ value: AttributeHandle) -> GATTCharacteristic? {
    for all in characteristics.values {
      if let characteristic = all.first(where: { $0.value == value }) { return characteristic }
    }
    return nil
  }

  /// Returns the attributes as a tree.
  func pageText(of name: String) -> JSONText {
    .object([("device", .text(name)), ("services", .list(services.map { text(of: $0) }))])
  }

  /// Returns the value of an attribute with its device.
  func pageText(of attribute: AttributeHandle, named name: String, at now: Instant) -> JSONText {
    var fields = PageFields()
    fields.add("device", name)
    fields.add("handle", .whole(attribute))
    add(attribute, characteristic(attribute)?.uuid, to: &fields)
    fields.add("time", .time(now))
    return fields.object
  }

  private func add(_ attribute: AttributeHandle, _ uuid: BluetoothUUID?, to fields: inout PageFields) {
    guard let value = values[attribute] else { return }
    fields.add("value", .hexadecimal(value))
    let text = ValueText(value, of: uuid)
    fields.add("text", text.decoded ?? text.text)
  }

  private func text(of service: GATTService) -> JSONText {
    var fields = Self.fields(of: service.uuid)
    fields.add("handle", .whole(service.range.lowerBound))
    fields.add("end", .whole(service.range.upperBound))
    let all = characteristics[service.range.lowerBound] ?? []
    fields.add("characteristics", .list(all.map { text(of: $0) }))
    return fields.object
  }

  private func text(of characteristic: GATTCharacteristic) -> JSONText {
    var fields = Self.fields(of: characteristic.uuid)
    fields.add("handle", .whole(characteristic.value))
    let names: [(CharacteristicProperties, String)] = [
      (.broadcast, "broadcast"), (.read, "read"), (.writeWithoutResponse, "writeWithoutResponse"), (.write, "write"),
      (.notify, "notify"), (.indicate, "indicate"), (.authenticatedSignedWrites, "authenticatedSignedWrites"),
      (.extendedProperties, "extendedProperties"),
    ]
    let properties = names.filter { characteristic.properties.contains($0.0) }
    fields.add("properties", .list(properties.map { .text($0.1) }))
    add(characteristic.value, characteristic.uuid, to: &fields)
    fields.add("subscribed", subscribed.contains(characteristic.value))
    let all = descriptors[characteristic.value] ?? []
    fields.add(
      "descriptors",
      .list(
        all.map { descriptor in
          var fields = Self.fields(of: descriptor.uuid)
          fields.add("handle", .whole(descriptor.handle))
          return fields.object
        }))
    return fields.object
  }

  private static func fields(of uuid: BluetoothUUID) -> PageFields {
    var fields = PageFields()
    fields.add("uuid", "\(uuid)")
    fields.add("name", SpecificationNames.name(of: uuid))
    return fields
  }
}
