import BluetoothAir
import BluetoothDissection
import BluetoothProfiles
import BluetoothWire
import CoreBluetooth
import CoreBluetoothExtras
import Foundation

/// The attributes of a device, with their values.
struct GATTTree: Sendable {
  /// The result of a read.
  enum Value: Sendable {
    case value(ValueText)
    /// The reason why there is no value, and the error of the peer's server.
    case failed(String, CBATTError.Code? = nil)
    /// The attribute can't be read, or values are not wanted.
    case none

    /// The error with which the peer's server has refused the read; nil: it has not.
    var refusal: CBATTError.Code? { if case .failed(_, let code) = self { code } else { nil } }
  }

  /// The answer of a peer to a value that was written back to it.
  enum WriteProbe: Sendable, Equatable {
    case taken
    case refused(CBATTError.Code)

    var refusal: CBATTError.Code? { if case .refused(let code) = self { code } else { nil } }
  }

  struct Descriptor: Sendable {
    let uuid: CBUUID
    let value: Value
    /// The handle, which aggregate formats name; nil: not known.
    var handle: UInt16?
    /// True if the link was encrypted to read the value.
    var needsEncryption = false
    /// The answer to the value that was written back; nil: none was.
    var writeProbe: WriteProbe?
  }

  struct Characteristic: Sendable {
    let uuid: CBUUID
    let properties: CBCharacteristicProperties
    let value: Value
    /// True if the link was encrypted to read the value. Nobody can tell of values that are read later on this link.
    var needsEncryption = false
    let descriptors: [Descriptor]
    /// The handle of the value; nil: not known.
    var handle: UInt16?
    /// The answer to the value that was written back; nil: none was.
    var writeProbe: WriteProbe?
    /// The values that a capture shows as notifications or indications, in order.
    var sequence: [[UInt8]] = []
    /// The time from one of these values to the next, in seconds; nil: there are less than two.
    var period: Double?
  }

  struct Service: Sendable {
    let uuid: CBUUID
    let isPrimary: Bool
    let includes: [CBUUID]
    let characteristics: [Characteristic]
    /// The handle of the declaration; nil: not known.
    var handle: UInt16?
    /// The handles of the included services that are known.
    var includedHandles: [UInt16] = []
  }

  let services: [Service]
  /// True if values were read on a link that was encrypted from its beginning, so that no read shows which values need
  /// encryption.
  var isProtectionUnknown = false

  /// Creates a tree of these services.
  init(services: [Service]) { self.services = services }

  /// Discovers all attributes, and reads those that can be read.
  ///
  /// - Parameters:
  ///   - readsValues: false to read no values, so that no value makes the devices pair.
  ///   - probesWrites: true to write each value back, so that the answers show the permissions of writes.
  init(of peripheral: Peripheral, readsValues: Bool, probesWrites: Bool = false, _ stage: Stage) async throws {
    var services: [Service] = []
    let discovered = try await peripheral.discoverServices(within: stage.stepLimit)
    // The host encrypts the link to a bonded device before it discovers services.
    let wasEncrypted = peripheral.link?.security.isEncrypted == true
    for service in discovered {
      let includes = try await service.discoverIncludedServices(within: stage.stepLimit)
      var characteristics: [Characteristic] = []
      for characteristic in try await service.discoverCharacteristics(within: stage.stepLimit) {
        characteristics.append(try await Self.inspect(characteristic, readsValues, probesWrites, stage))
      }
      services.append(
        Service(
          uuid: service.uuid, isPrimary: service.isPrimary, includes: includes.map(\.uuid),
          characteristics: characteristics, handle: service.handle, includedHandles: includes.compactMap(\.handle)))
    }
    self.services = services
    isProtectionUnknown =
      wasEncrypted && readsValues && services.flatMap(\.characteristics).contains { $0.properties.contains(.read) }
  }

  private static func inspect(
    _ characteristic: RemoteCharacteristic, _ readsValues: Bool, _ probesWrites: Bool, _ stage: Stage
  ) async throws -> Characteristic {
    var format: PresentationFormat?
    var descriptors: [Descriptor] = []
    let peripheral = characteristic.service.peripheral
    var isEncrypted: Bool { peripheral.link?.security.isEncrypted == true }
    for remote in try await characteristic.discoverDescriptors(within: stage.stepLimit) {
      var descriptor = Descriptor(uuid: remote.uuid, value: .none, handle: remote.handle)
      if readsValues {
        let wasEncrypted = isEncrypted
        let value = try await read(on: peripheral) {
          let value = try await remote.read(within: stage.stepLimit)
          if case .data(let octets) = value, remote.uuid == CBUUID(string: CBUUIDCharacteristicFormatString) {
            format = try? PresentationFormat(octets)
          }
          return ValueText(value, of: remote.uuid)
        }
        descriptor = Descriptor(
          uuid: remote.uuid, value: value, handle: remote.handle, needsEncryption: !wasEncrypted && isEncrypted)
        if probesWrites, case .value(let value) = value, !isOfSpecification(remote.uuid) {
          descriptor.writeProbe = try await probe(on: peripheral) {
            try await remote.write(Data(value.octets), within: stage.stepLimit)
          }
        }
      }
      descriptors.append(descriptor)
    }
    var value = Value.none
    let wasEncrypted = isEncrypted
    if readsValues, characteristic.properties.contains(.read) {
      value = try await read(on: peripheral) {
        ValueText(
          try await characteristic.read(within: stage.stepLimit), of: characteristic.uuid, format: format)
      }
    }
    var result = Characteristic(
      uuid: characteristic.uuid, properties: characteristic.properties, value: value,
      needsEncryption: !wasEncrypted && isEncrypted, descriptors: descriptors, handle: characteristic.handle)
    if probesWrites, case .value(let value) = value, characteristic.properties.contains(.write) {
      result.writeProbe = try await probe(on: peripheral) {
        try await characteristic.write(Data(value.octets), within: stage.stepLimit)
      }
    }
    return result
  }

  /// True for the descriptors of characteristics that the Core Specification defines, which are never written back.
  private static func isOfSpecification(_ uuid: CBUUID) -> Bool {
    ["2900", "2901", "2902", "2903", "2904", "2905"].contains { uuid == CBUUID(string: $0) }
  }

  /// Writes a value back. A refusal of the peer is a result; nil: the answer shows nothing.
  private static func probe(
    on peripheral: Peripheral, _ write: () async throws -> Void
  ) async throws -> WriteProbe? {
    do {
      try await write()
      return .taken
    } catch let error as CBATTError {
      return .refused(refusal(error, on: peripheral))
    } catch let error as CBError where error.code == .encryptionTimedOut || error.code == .peerRemovedPairingInformation
    {
      return nil
    }
  }

  /// Reads a value. A refusal of the peer is a result.
  private static func read(
    on peripheral: Peripheral, _ body: () async throws -> ValueText
  ) async throws -> Value {
    do { return .value(try await body()) } catch let error as CBATTError {
      return .failed(error.localizedDescription.endless, refusal(error, on: peripheral))
    } catch let error as CBError where error.code == .encryptionTimedOut || error.code == .peerRemovedPairingInformation
    {
      return .failed(error.localizedDescription.endless)
    }
  }

  /// Returns the error code of a refusal. On a link that is not encrypted, Insufficient Authentication shows only that
  /// encryption is needed · Vol 3, Part C, 10.3.1.
  private static func refusal(_ error: CBATTError, on peripheral: Peripheral) -> CBATTError.Code {
    guard error.code == .insufficientAuthentication, peripheral.link?.security.isEncrypted != true else {
      return error.code
    }
    return .insufficientEncryption
  }

  // MARK: Text

  /// The lines of the tree.
  func lines(_ style: Style) -> [String] {
    services.flatMap { service in
      let kind = service.isPrimary ? "" : "  secondary"
      let head = style.bold(KnownNames.title(of: service.uuid)) + kind
      let includes = service.includes.map { ["includes \(KnownNames.title(of: $0))"] }
      let children = includes + service.characteristics.map { Self.lines($0, style) }
      return [head] + Self.branch(children)
    }
  }

  private static func lines(_ characteristic: Characteristic, _ style: Style) -> [String] {
    let parts = [
      KnownNames.title(of: characteristic.uuid), style.dim(characteristic.properties.words.joined(separator: ", ")),
      text(characteristic.value),
    ]
    let head = parts.compactMap { $0 }.joined(separator: "  ")
    return [head]
      + branch(
        characteristic.descriptors.map { descriptor in
          [[KnownNames.title(of: descriptor.uuid), text(descriptor.value)].compactMap { $0 }.joined(separator: "  ")]
        })
  }

  private static func text(_ value: Value) -> String? {
    switch value {
    case .value(let text): text.brief.printable
    case .failed(let reason, _): "(\(reason))"
    case .none: nil
    }
  }

  /// Draws the lines of each child below their parent.
  private static func branch(_ children: [[String]]) -> [String] {
    children.enumerated().flatMap { index, lines in
      let isLast = index == children.count - 1
      return lines.enumerated().map { number, line in
        (number == 0 ? isLast ? "└─ " : "├─ " : isLast ? "   " : "│  ") + line
      }
    }
  }

  // MARK: Records

  /// One record for each attribute, in their order.
  func records(device: String) -> [JSONRecord] {
    var result: [JSONRecord] = []
    for service in services {
      var record = Self.record("service", device, service.uuid)
      record.add("primary", .flag(service.isPrimary))
      record.add("includes", .list(service.includes.map { .text($0.uuidString) }))
      result.append(record)
      for characteristic in service.characteristics {
        var record = Self.record("characteristic", device, characteristic.uuid)
        record.add("service", service.uuid.uuidString)
        record.add("properties", .list(characteristic.properties.words.map { .text($0) }))
        Self.add(characteristic.value, to: &record)
        result.append(record)
        for descriptor in characteristic.descriptors {
          var record = Self.record("descriptor", device, descriptor.uuid)
          record.add("service", service.uuid.uuidString)
          record.add("characteristic", characteristic.uuid.uuidString)
          Self.add(descriptor.value, to: &record)
          result.append(record)
        }
      }
    }
    return result
  }

  private static func record(_ kind: String, _ device: String, _ uuid: CBUUID) -> JSONRecord {
    var record = JSONRecord(kind)
    record.add("device", device)
    record.add("uuid", uuid.uuidString)
    record.add("name", KnownNames.uuid(uuid.uuidString).flatMap { KnownNames.name(of: $0) })
    return record
  }

  private static func add(_ value: Value, to record: inout JSONRecord) {
    switch value {
    case .value(let text): text.add(to: &record)
    case .failed(let reason, _): record.add("error", reason)
    case .none: break
    }
  }
}

extension CBCharacteristicProperties {
  /// The names of the properties, in the order of their bits.
  var words: [String] {
    let names: [(CBCharacteristicProperties, String)] = [
      (.broadcast, "broadcast"), (.read, "read"), (.writeWithoutResponse, "write-without-response"), (.write, "write"),
      (.notify, "notify"), (.indicate, "indicate"), (.authenticatedSignedWrites, "signed-write"),
      (.extendedProperties, "extended"),
    ]
    return names.filter { contains($0.0) }.map(\.1)
  }
}
