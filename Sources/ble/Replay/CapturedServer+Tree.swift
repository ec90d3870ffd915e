import AccessoryPlayer
import BluetoothDissection
import BluetoothTypes
import CoreBluetooth

extension CapturedServer {
  /// The attributes.
  var tree: GATTTree {
    GATTTree(
      services: content.map { service in
        GATTTree.Service(
          uuid: PublishedForm.uuid(service.uuid), isPrimary: service.isPrimary,
          includes: service.includes.map { PublishedForm.uuid($0) },
          characteristics: service.characteristics.map { Self.describe($0) })
      })
  }

  private static func describe(_ characteristic: Characteristic) -> GATTTree.Characteristic {
    let uuid = PublishedForm.uuid(characteristic.uuid)
    var result = GATTTree.Characteristic(
      uuid: uuid, properties: CBCharacteristicProperties(rawValue: UInt(characteristic.properties.rawValue)),
      value: characteristic.value.map { .value(ValueText($0, of: uuid)) } ?? .none,
      needsEncryption: characteristic.needsEncryption,
      descriptors: characteristic.descriptors.map { descriptor in
        let uuid = PublishedForm.uuid(descriptor.uuid)
        return GATTTree.Descriptor(
          uuid: uuid, value: descriptor.value.map { .value(ValueText($0, of: uuid)) } ?? .none,
          handle: descriptor.handle)
      })
    if let period = characteristic.period, !characteristic.properties.isDisjoint(with: [.notify, .indicate]) {
      result.sequence = characteristic.updates.map(\.octets)
      // The values keep their order; their distance is the median, as a file has one for all.
      result.period = max(0.001, Double(period) / 1e9)
    }
    return result
  }
}
