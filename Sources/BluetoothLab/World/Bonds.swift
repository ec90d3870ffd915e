import BluetoothBonds
import BluetoothDaemon
import BluetoothHost
import BluetoothRadio
import BluetoothSimulation
import BluetoothWire
import Foundation
import NIOConcurrencyHelpers

/// A device that another device has bonded with. Descriptions never contain its keys.
public struct BondedDevice: Hashable, Sendable {
  /// The identifier under which apps know the device: `CBPeripheral.identifier`.
  public let identifier: UUID
  /// The device's name; nil if unknown.
  public let name: String?
  /// The identity address: six octets in hexadecimal, most significant first.
  public let address: String
  /// True if the identity address is a static random address; false if it is public.
  public let hasRandomAddress: Bool
  /// True if the pairing was authenticated by numeric comparison, passkey entry or out-of-band data.
  public let isAuthenticated: Bool
  /// True if the device paired with LE Secure Connections.
  public let usesSecureConnections: Bool
}

/// A text format for a bond, including all its keys.
public enum BondFormat: Hashable, Sendable {
  /// The JSON of this package's bond store.
  case json
  /// The file `info` of BlueZ 5, from the folder named after the bonded device's address, such as
  /// `C0:11:22:33:44:55`.
  case bluez(address: String)
}

extension Device {
  /// The error of an import that failed.
  public struct BondImportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason on one line, without any key.
    public let description: String
  }

  /// The devices that this device has bonded with, by address. Read this property while the world is not running, or in
  /// one of its callbacks.
  public var bonds: [BondedDevice] { bondRecords.map { BondedDevice($0) } }

  /// Deletes the bond with a device, as a user does in the settings, and disconnects it. Does nothing if there is no
  /// such bond.
  public func forgetBond(_ identifier: UUID) {
    let identifier = PeerIdentifier(identifier)
    perform { device, now in
      for record in device.bondRecords where record.identifier == identifier {
        device.forgetBond(record.identity, at: now)
      }
    }
  }

  /// Lets a bonded accessory get the notifications of this device, or forbids it, as a user does in the settings.
  ///
  /// - Parameters:
  ///   - isAllowed: false: the accessory gets no notifications.
  ///   - identifier: the accessory: `BondedDevice.identifier`. Without a bond, the call does nothing.
  public func setNotificationSharing(_ isAllowed: Bool, with identifier: UUID) {
    let identifier = PeerIdentifier(identifier)
    perform { device, now in
      for record in device.bondRecords where record.identifier == identifier {
        device.setNotificationSharing(isAllowed, with: record.identity, at: now)
      }
    }
  }

  /// Returns the bond with a device as text with all its keys, which let anyone impersonate either device. Returns
  /// nil if there is no such bond, or if the BlueZ format names another address.
  public func exportBond(_ identifier: UUID, as format: BondFormat = .json) -> String? {
    let identifier = PeerIdentifier(identifier)
    guard let record = bondRecords.first(where: { $0.identifier == identifier }) else { return nil }
    switch format {
    case .json: return record.jsonText
    case .bluez(let address): return address == record.bluezFolder ? record.bluezInfo : nil
    }
  }

  /// Imports a bond from another world, device or system, and replaces an existing bond with the same device; `bonds`
  /// then contains it. The identifier by which apps know the device does not change. Existing links are unaffected.
  /// Call this method while the world is not running, or in one of its callbacks.
  ///
  /// - Throws: `BondImportError` if the text is not a bond, or if `DeviceOptions.bondLimit` is reached.
  public func importBond(_ text: String, as format: BondFormat = .json) throws(BondImportError) {
    let record: BondRecord
    do {
      switch format {
      case .json: record = try BondRecord(jsonText: Array(text.utf8))
      case .bluez(let address):
        record = try BondRecord(bluezInfo: text, address: address, identifier: .unknown)
      }
    } catch {
      throw BondImportError(description: "\(error)")
    }
    let (identity, limit) = (record.identity, bondLimit)
    let known = Set(bondRecords.map(\.identity))
    let (pending, radio) = (world.pendingBondImports, radio)
    let hasRoom = pending.withLockedValue { imports in
      let coming = imports[radio, default: []]
      guard known.union(coming).union([identity]).count <= limit || known.contains(identity) else { return false }
      imports[radio] = coming + [identity]
      return true
    }
    guard hasRoom else {
      throw BondImportError(description: "\(BondStoreError.full(limit: limit))")
    }
    perform { device, now in
      pending.withLockedValue { imports in
        imports[radio]?.removeFirst()
        if imports[radio]?.isEmpty ?? false { imports[radio] = nil }
      }
      device.importBond(record, at: now)
    }
  }

  /// The device's bond limit; `Int.max` if the world has not added the device yet.
  private var bondLimit: Int {
    let radio = radio
    return world.inspect { engine in (engine.device(radio) as? any WorldDevice)?.bondLimit ?? .max }
  }

  private var bondRecords: [BondRecord] {
    let radio = radio
    return world.inspect { engine in (engine.device(radio) as? any WorldDevice)?.bondRecords ?? [] }
  }
}

extension BondedDevice {
  fileprivate init(_ record: BondRecord) {
    identifier = UUID(record.identifier)
    name = record.name
    address = record.bluezFolder
    hasRandomAddress = record.identity.kind == .random
    isAuthenticated = record.bond.level == .authenticated
    usesSecureConnections = record.bond.key != nil
  }
}

extension PeerIdentifier {
  fileprivate init(_ uuid: UUID) {
    let octets = withUnsafeBytes(of: uuid.uuid) { Array($0) }
    func number(_ octets: ArraySlice<UInt8>) -> UInt64 { octets.reduce(0) { $0 << 8 | UInt64($1) } }
    self.init(high: number(octets[..<8]), low: number(octets[8...]))
  }
}

extension UUID {
  fileprivate init(_ identifier: PeerIdentifier) {
    // `digits` always has the format of a UUID.
    self = UUID(uuidString: identifier.digits) ?? UUID()
  }
}
