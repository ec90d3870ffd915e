import BluetoothBonds
import BluetoothDaemon
import BluetoothHost
import BluetoothRadio
import BluetoothSimulation
import BluetoothWire
import Foundation
import NIOConcurrencyHelpers

/// A device that another one has bonded with. Its keys are in no description.
public struct BondedDevice: Hashable, Sendable {
  /// Under which apps know it: `CBPeripheral.identifier`.
  public let identifier: UUID
  /// What it calls itself; nil: it has not said.
  public let name: String?
  /// Its identity address: six octets in hexadecimal, the most significant first.
  public let address: String
  /// The identity address is a static random one; false: a public one.
  public let hasRandomAddress: Bool
  /// Its key was authenticated when it paired: numbers were compared, a passkey was typed, or data came out of band.
  public let isAuthenticated: Bool
  /// It has paired with LE Secure Connections.
  public let usesSecureConnections: Bool
}

/// How a bond is written as text, with all its keys.
public enum BondFormat: Hashable, Sendable {
  /// The JSON of this package's own store.
  case json
  /// The file `info` of BlueZ 5, which lies in a folder named by the address of the bonded device: `C0:11:22:33:44:55`.
  case bluez(address: String)
}

extension Device {
  /// Why a text is no bond.
  public struct BondImportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One line, without any key.
    public let description: String
  }

  /// The devices that it has bonded with, by address. To be asked while the world is not running, or in one of its callbacks.
  public var bonds: [BondedDevice] { bondRecords.map { BondedDevice($0) } }

  /// Forgets a device, as a user does in the settings: nothing if there is no bond with it. A link to it ends.
  public func forgetBond(_ identifier: UUID) {
    let identifier = PeerIdentifier(identifier)
    perform { device, now in
      for record in device.bondRecords where record.identifier == identifier {
        device.forgetBond(record.identity, at: now)
      }
    }
  }

  /// The bond with a device as text, with all keys: whoever has it can be either of the two. nil: there is none, or the format
  /// is BlueZ's and names another address.
  public func exportBond(_ identifier: UUID, as format: BondFormat = .json) -> String? {
    let identifier = PeerIdentifier(identifier)
    guard let record = bondRecords.first(where: { $0.identifier == identifier }) else { return nil }
    switch format {
    case .json: return record.json.text
    case .bluez(let address): return address == record.bluezFolder ? record.bluezInfo : nil
    }
  }

  /// Takes in a bond of another world, another device or another system, in place of one with the same device; `bonds` has it
  /// afterwards. Apps that know the device know it under the same identifier as before. Links that are there stay as they
  /// are. To be called while the world is not running, or in one of its callbacks.
  ///
  /// - Throws: if the text is no bond, or there is no room for another one (`DeviceOptions.bondLimit`).
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

  /// A device that its world has not taken in yet says none.
  private var bondLimit: Int {
    let radio = radio
    return world.inspect { engine in (engine.participant(radio) as? any WorldDevice)?.bondLimit ?? .max }
  }

  private var bondRecords: [BondRecord] {
    let radio = radio
    return world.inspect { engine in (engine.participant(radio) as? any WorldDevice)?.bondRecords ?? [] }
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
    // What has the right digits is a UUID.
    self = UUID(uuidString: identifier.digits) ?? UUID()
  }
}
