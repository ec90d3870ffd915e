import BluetoothHost
import BluetoothWire
import Foundation
import Requirements
import TestSupport
import Testing

@testable import BluetoothBonds
@testable import BluetoothDaemon

/// Apps with sessions for tests.
enum StoredApps {
  /// An app in which every field has a value.
  static func full(_ name: String = "com.example.\"scale\"\n\u{1F600}") -> StoredApp {
    let peers = [
      StoredApp.Connection(
        address: Bonds.address, name: "Zoë", reconnects: true, hasBeenConnected: true,
        alerts: [.connection, .notification], requiresNotifications: true),
      StoredApp.Connection(address: DeviceAddress(0xFFFF_FFFF_FFFF, .public)),
    ]
    var request = ScanRequest(
      services: [0x180D, BluetoothUUID(high: .max, low: 1)], solicitedServices: [0x1812], allowsDuplicates: true)
    let scanning = StoredApp.Central(identifier: "scale", peers: peers, scan: request)
    request.services = nil
    let other = StoredApp.Central(identifier: "", scan: request)
    return StoredApp(
      name: name,
      manifest: AppManifest(
        backgroundModes: [.peripheral, .central], usageDescription: "To weigh.", setsUpAccessories: true),
      wasRunning: true, centrals: [scanning, other], peripherals: [peripheral()])
  }

  private static func peripheral() -> StoredApp.Peripheral {
    let descriptors = [
      GATTDescriptorDefinition(uuid: 0x2904, value: [1, 2, 3, 4, 5, 6, 7]),
      GATTDescriptorDefinition(
        uuid: 0x2901, content: .dynamic, permissions: [.readable, .writeable], lengths: 0...20),
      GATTDescriptorDefinition(
        uuid: 0x2905, content: .formats([GATTDescriptorPath(characteristic: 0, descriptor: 0)])),
    ]
    let definition = GATTCharacteristicDefinition(
      uuid: 0x2A37, properties: [.read, .notify], extendedProperties: .reliableWrite, permissions: .readable,
      minimumKeySize: 16, value: [0, 0xFF], lengths: 2...2, subscriptionNeedsEncryption: true,
      descriptors: descriptors)
    let dynamic = GATTCharacteristicDefinition(uuid: 0x2A38, properties: .write, permissions: .writeable, value: nil)
    var placed = dynamic
    placed.handle = 0x50
    placed.descriptors = [GATTDescriptorDefinition(uuid: 0x2908, value: [1])]
    placed.descriptors[0].handle = 0xFFFF
    let services = [
      LocalServiceInfo(
        id: LocalAttributeID(number: 1), uuid: 0x180D, isPrimary: false, includes: [],
        characteristics: [
          LocalCharacteristicInfo(id: LocalAttributeID(number: 2), definition: definition),
          LocalCharacteristicInfo(id: LocalAttributeID(number: .max), definition: dynamic),
        ]),
      LocalServiceInfo(
        id: LocalAttributeID(number: 3), uuid: 0x1815, isPrimary: true, includes: [LocalAttributeID(number: 1)],
        characteristics: []),
      LocalServiceInfo(
        id: LocalAttributeID(number: 4), uuid: 0x1816, isPrimary: true, includes: [],
        characteristics: [LocalCharacteristicInfo(id: LocalAttributeID(number: 5), definition: placed)], handle: 0x40),
    ]
    return StoredApp.Peripheral(
      identifier: "lamp", services: services, advertising: .init(localName: "Lamp", services: [0x1815]))
  }
}

@Suite("The sessions of apps on disk")
struct StoredSessionsTests {
  @Test("Everything that is stored of an app is read again, in a file that only the owner can access")
  func all() throws {
    let folder = try TemporaryFolder()
    let store = folder.store()
    #expect(try store.storedApps() == [])
    let apps = [StoredApps.full(), StoredApp(name: "other", peripherals: [.init(identifier: "b")])]
    #expect(try store.setStoredApps(apps) == [])
    #expect(try folder.store().storedApps() == apps)
    #expect(try folder.mode(FileBondStore.sessionsName) == 0o600)
    // The file is no bond and no defect.
    #expect(try folder.store().load() == StoredBonds())
    #expect(try store.setStoredApps([]) == [])
    #expect(try folder.store().storedApps() == [])
  }

  @Test("A103 What was stored before the machine was started is not restored, and is removed", .requirement("A103"))
  func otherBoot() throws {
    let folder = try TemporaryFolder()
    _ = try folder.store().setStoredApps([StoredApps.full()])
    var later = folder.store()
    later.boot = "another run of the machine"
    #expect(try later.storedApps() == [])
    #expect(!folder.bondFiles.contains(FileBondStore.sessionsName))
    #expect(try folder.store().storedApps() == [])
  }

  @Test("A system that restores after a restart gets what was stored before the machine was started")
  func afterRestart() throws {
    let folder = try TemporaryFolder()
    let apps = [StoredApps.full()]
    _ = try folder.store().setStoredApps(apps)
    var later = folder.store()
    later.boot = "another run of the machine"
    #expect(try later.storedApps(afterRestart: true) == apps)
    #expect(try later.storedApps(afterRestart: true) == apps)
  }

  @Test("On a system that does not tell its run, nothing is stored")
  func noBoot() throws {
    let folder = try TemporaryFolder()
    var store = folder.store()
    store.boot = nil
    #expect(try store.setStoredApps([StoredApps.full()]) == [])
    #expect(folder.bondFiles == [])
    _ = try folder.store().setStoredApps([StoredApps.full()])
    #expect(try store.storedApps() == [])
  }

  #if os(Linux)
    @Test("The machine tells its present run")
    func machine() throws {
      let text = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
      #expect(SystemFiles.boot == text.split(separator: "\n").first.map(String.init))
    }
  #endif

  @Test("A file that others could write, and one with a defect, are errors, and the next change replaces them")
  func defects() throws {
    let folder = try TemporaryFolder()
    let store = folder.store()
    _ = try store.setStoredApps([StoredApps.full()])
    let text = try folder.text(FileBondStore.sessionsName)
    let defects = [
      "", "[]", "{\"format\": 1}", text.replacing("180D", with: "180X"),
      text.replacing("\"format\" : 1", with: "\"format\" : 2"),
      text.replacing("\"properties\" : 18", with: "\"properties\" : \"x\""),
    ]
    for defect in defects {
      #expect(defect != text)
      try folder.write(defect, FileBondStore.sessionsName)
      #expect(throws: BondStoreError.self) { try store.storedApps() }
    }
    _ = try store.setStoredApps([StoredApps.full("next")])
    #expect(try store.storedApps().map(\.name) == ["next"])
    try folder.setMode(0o644, FileBondStore.sessionsName)
    #expect(try store.storedApps().map(\.name) == ["next"])
    try folder.setMode(0o622, FileBondStore.sessionsName)
    #expect(throws: BondStoreError.self) { try store.storedApps() }
    #expect(!folder.bondFiles.contains(FileBondStore.sessionsName))
  }

  @Test("An app that is too large is left out and named, and takes no room from others; the file has a maximum size")
  func large() throws {
    let folder = try TemporaryFolder()
    let store = folder.store()
    func app(_ name: String, octets: Int) -> StoredApp {
      StoredApp(name: name, centrals: [.init(identifier: String(repeating: "i", count: octets))])
    }
    #expect(try store.setStoredApps([app("large", octets: 70_000), app("small", octets: 10)]) == ["large"])
    #expect(try store.storedApps().map(\.name) == ["small"])
    let many = (0..<40).map { app("\($0)", octets: 60_000) }
    let missing = try store.setStoredApps(many)
    #expect(missing == (17..<40).map { "\($0)" })
    #expect(try store.storedApps().count == 17)
    #expect(try folder.text(FileBondStore.sessionsName).utf8.count <= FileBondStore.maximumSize)
  }
}
