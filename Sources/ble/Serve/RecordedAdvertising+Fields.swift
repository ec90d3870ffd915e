import BluetoothAir
import BluetoothDissection
import BluetoothTypes
import BluetoothWire
import CoreBluetoothExtras
import Foundation

/// The advertising of a device in the fields of a world file.
extension RecordedAdvertising {
  /// Notes a packet.
  mutating func add(_ packet: AdvertisingPacket) {
    // Both types have the names of the specification.
    guard let type = PacketDescription.Advertisement.Kind(rawValue: packet.pduType.rawValue) else { return }
    add(type, Array(packet.data), isConnectable: packet.isConnectable, at: packet.time)
  }

  /// The fields of `advertising`.
  var fields: JSONText {
    var fields: [(String, JSONText)] = [("kind", .text((kind ?? .connectable).rawValue))]
    if let interval = interval { fields.append(("interval", .number(interval.decimal(6)))) }
    fields.append(("payload", Self.fields(of: payload)))
    if !response.isEmpty { fields.append(("scanResponse", Self.fields(of: response))) }
    return .object(fields)
  }

  // MARK: AD structures

  /// Returns the fields of a payload that stand for these octets.
  static func fields(of octets: [UInt8]) -> JSONText {
    let fitting = structures(octets)
    var fields: [(name: String, value: JSONText)] = []
    for run in runs(fitting) { fields.append(field(of: run)) }
    // A payload has each field at most once.
    if Set(fields.map(\.name)).count < fields.count { fields = [other(fitting)] }
    return .object(fields.map { ($0.name, $0.value) })
  }

  /// The kinds of fields that stand for several structures in a row.
  private enum Structure: Hashable {
    case services, serviceData, other
    case single(ADType)
  }

  private static func kind(of structure: ADStructure) -> Structure {
    let data = structure.data
    switch structure.type {
    case .completeServices16, .completeServices32, .completeServices128: return .services
    case .serviceData16, .serviceData32, .serviceData128: return .serviceData
    case .flags where data.count == 1: return .single(.flags)
    case .txPowerLevel where data.count == 1 && data[0] != 0x80: return .single(.txPowerLevel)
    case .appearance where data.count == 2: return .single(.appearance)
    case .manufacturerData where data.count >= 2: return .single(.manufacturerData)
    case .completeLocalName where String(validating: data, as: UTF8.self) != nil: return .single(.completeLocalName)
    case .shortenedLocalName where String(validating: data, as: UTF8.self) != nil: return .single(.shortenedLocalName)
    default: return .other
    }
  }

  /// Splits structures into runs of one kind, so that one field stands for each run.
  private static func runs(_ structures: [ADStructure]) -> [[ADStructure]] {
    var runs: [[ADStructure]] = []
    for structure in structures {
      let kind = kind(of: structure)
      if let last = runs.last?.last, Self.kind(of: last) == kind, [.services, .serviceData, .other].contains(kind) {
        runs[runs.count - 1].append(structure)
      } else {
        runs.append([structure])
      }
    }
    return runs
  }

  private static func field(of run: [ADStructure]) -> (name: String, value: JSONText) {
    let data = run[0].data
    let text = String(decoding: data, as: UTF8.self)
    switch kind(of: run[0]) {
    case .single(.flags): return ("flags", .integer(Int(data[0])))
    case .single(.txPowerLevel): return ("transmitPower", .integer(Int(Int8(bitPattern: data[0]))))
    case .single(.appearance): return ("appearance", .integer(Int(data[0]) | Int(data[1]) << 8))
    case .single(.completeLocalName): return ("name", .text(text))
    case .single(.shortenedLocalName): return ("shortenedName", .text(text))
    case .single:
      let company = Int(data[0]) | Int(data[1]) << 8
      return ("manufacturerData", .object([("company", .integer(company))] + dataField(data.dropFirst(2))))
    case .services:
      let uuids = run.flatMap { structure in
        AdvertisingData(ByteSlice(structure.octets)).flatMap { $0.services.map(Array.init) ?? [] }
      }
      guard !uuids.isEmpty, ADStructure.serviceLists(uuids) == run else { return other(run) }
      return ("services", .list(uuids.map { .text("\($0)") }))
    case .serviceData:
      let entries = run.compactMap { structure in
        AdvertisingData(ByteSlice(structure.octets)).first { _ in true }?.serviceData
      }
      let again = entries.map { ADStructure.serviceData(of: $0.service, $0.data.bytes) }
      guard again == run else { return other(run) }
      return (
        "serviceData",
        .list(entries.map { .object([("uuid", .text("\($0.service)"))] + dataField($0.data.bytes[...])) })
      )
    case .other: return other(run)
    }
  }

  private static func other(_ structures: [ADStructure]) -> (name: String, value: JSONText) {
    (
      "structures",
      .list(structures.map { .object([("type", .integer(Int($0.type.rawValue)))] + dataField($0.data[...])) })
    )
  }

  private static func dataField(_ octets: ArraySlice<UInt8>) -> [(String, JSONText)] {
    octets.isEmpty ? [] : [("data", .text(octets.digits))]
  }
}
