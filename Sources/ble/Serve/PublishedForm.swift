import AccessoryPlayer
import BluetoothAir
import BluetoothLab
import BluetoothProfiles
import BluetoothTypes
import CoreBluetoothExtras

// Characteristics of world files in their published form, and notes about the parts that an app can't publish.
extension PublishedForm {
  /// Returns a characteristic whose requests `LocalPeripheral.requests` reports.
  static func characteristic(_ description: PeripheralDescription.Characteristic) -> LocalCharacteristic {
    characteristic(
      description.uuid, description.properties, description.protection, description.descriptors,
      permissions: description.permissions, handle: description.handle)
  }

  /// Returns what an app can't publish, one line for each kind.
  static func notes(about description: PeripheralDescription) -> [String] {
    var notes = notes(
      description.advertising,
      description.services.flatMap(\.characteristics).map {
        ($0.uuid, $0.properties, $0.hasReliableWrite, $0.descriptors, $0.permissions, $0.showsOtherProperties)
      })
    if description.movesSystemServices {
      notes.append("an app can't give the GAP service a handle: firstHandle has no effect")
    }
    return notes
  }

  /// Returns what an app can't publish of an accessory, one line for each kind.
  static func notes<A: Accessory>(about accessory: A) -> [String] {
    notes(
      accessory.advertising,
      accessory.services.flatMap(\.characteristics).map {
        (
          $0.uuid, $0.properties, $0.hasReliableWrite, $0.descriptors, $0.permissions, $0.shownProperties != nil
        )
      })
  }

  private typealias Published = (
    uuid: BluetoothUUID, properties: CharacteristicProperties, hasReliableWrite: Bool,
    descriptors: [AccessoryDescriptor], permissions: AttributePermissions?, showsOtherProperties: Bool
  )

  private static func notes(_ advertising: Advertising, _ all: [Published]) -> [String] {
    var notes: [String] = []
    if advertising.kind == .directed { notes.append("an app can't advertise to one device: it advertises to all") }
    if advertising.channels.intersection(.all) != .all, !advertising.channels.isEmpty {
      notes.append("an app can't choose the advertising channels: it uses all")
    }
    func note(_ what: String, _ isLost: (Published) -> Bool) {
      let lost = all.filter(isLost).map { "\($0.uuid)" }
      if !lost.isEmpty { notes.append("an app can't publish \(what): left out at \(lost.joined(separator: ", "))") }
    }
    note("the descriptor 2905") { $0.descriptors.contains { descriptor(of: $0) == nil } }
    note("writable descriptions") {
      $0.descriptors.contains { if case .userDescription(_, true) = $0 { true } else { false } }
    }
    note("the property \"broadcast\"") { $0.properties.contains(.broadcast) }
    note("reliable writes") { $0.hasReliableWrite }
    note("other shown properties") { $0.showsOtherProperties }
    note("authentication and authorization as permissions") { !($0.permissions ?? []).isSubset(of: .published) }
    note("writable descriptors") {
      $0.descriptors.contains {
        if case .other(_, _, let permissions, _) = $0 { permissions != .readable } else { false }
      }
    }
    return notes
  }
}
