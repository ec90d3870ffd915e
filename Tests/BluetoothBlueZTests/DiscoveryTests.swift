import BluetoothDBus
import BluetoothLab
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import Testing

@testable import BluetoothBlueZ

/// Discoveries, and the devices that they show.
@Suite struct BlueZDiscoveryTests {
  @Test("An adapter has the properties of BlueZ")
  func adapterProperties() {
    let stage = BlueZStage()
    #expect(stage.server.paths == ["/org/bluez", "/org/bluez/hci0"])
    #expect(stage.property("Address") == .string("02:00:00:00:00:01"))
    #expect(stage.property("AddressType") == .string("public"))
    #expect(stage.property("Alias") == .string("adapter 0"))
    #expect(stage.property("Discovering") == .bool(false))
    #expect(stage.property("Modalias") == .string("usb:v1D6Bp0246d0552"))
    #expect(stage.property("PowerState") == .string("on"))
    #expect(stage.property("Roles") == .strings(["central", "peripheral"]))
  }

  @Test("A discovery shows a device with its advertisement and its scan response")
  func discovery() throws {
    let stage = BlueZStage { $0.add(Flashlight(), named: "lamp", at: Position(x: 1)) }
    #expect(stage.error("StartDiscovery") == nil)
    #expect(stage.property("Discovering") == .bool(true))
    stage.world.run(until: { !stage.devices().isEmpty }, limit: .seconds(10))
    let path = try #require(stage.devices().first)
    #expect(stage.property("Name", of: "Device1", at: path) == .string("Flashlight"))
    #expect(stage.property("Alias", of: "Device1", at: path) == .string("Flashlight"))
    #expect(stage.property("AddressType", of: "Device1", at: path) == .string("random"))
    #expect(stage.property("Adapter", of: "Device1", at: path) == .path("/org/bluez/hci0"))
    #expect(stage.property("AdvertisingFlags", of: "Device1", at: path) == .bytes([0x06]))
    #expect(stage.property("Connected", of: "Device1", at: path) == .bool(false))
    #expect(
      stage.property("UUIDs", of: "Device1", at: path) == .strings(["2d7a5c10-94b3-4e8f-8b61-5f0c3e9a7d00"]))
    #expect(stage.property("RSSI", of: "Device1", at: path)?.integer.map { $0 < 0 } == true)
    #expect(stage.error("StopDiscovery") == nil)
    #expect(stage.property("Discovering") == .bool(false))
    #expect(stage.property("RSSI", of: "Device1", at: path) == nil)
  }

  @Test("A client has one discovery, and needs one to stop it")
  func discoveryErrors() {
    let stage = BlueZStage()
    #expect(stage.error("StopDiscovery") == "Failed")
    #expect(stage.error("StartDiscovery") == nil)
    #expect(stage.error("StartDiscovery") == "InProgress")
    #expect(stage.error("StartDiscovery", by: ":1.8") == nil)
    #expect(stage.error("StopDiscovery") == nil)
    #expect(stage.property("Discovering") == .bool(true))
    #expect(stage.error("StopDiscovery", by: ":1.8") == nil)
    #expect(stage.property("Discovering") == .bool(false))
  }

  @Test("A discovery with services shows only devices that advertise one of them")
  func services() {
    let stage = BlueZStage { world in
      world.add(Flashlight(), named: "lamp", at: Position(x: 1))
      world.add(HeartRateSensor(name: "Strap", beatsPerMinute: 60), named: "strap", at: Position(x: 1, y: 1))
    }
    #expect(stage.error("SetDiscoveryFilter", [.properties(["UUIDs": .strings(["180d"])])]) == nil)
    stage.call("StartDiscovery")
    stage.world.run(for: .seconds(5))
    #expect(stage.devices().count == 1)
    #expect(stage.device(named: "Strap") != nil)
    // A client without a filter wants all devices, and all clients see them.
    stage.call("StartDiscovery", by: ":1.8")
    stage.world.run(for: .seconds(5))
    #expect(stage.devices().count == 2)
  }

  @Test(
    "A filter with wrong options is refused",
    arguments: [
      ["Unknown": .bool(true)], ["UUIDs": .string("180d")], ["UUIDs": .strings(["180"])], ["RSSI": .int16(21)],
      ["RSSI": .uint16(1)], ["Transport": .string("usb")], ["RSSI": .int16(-60), "Pathloss": .uint16(20)],
      ["DuplicateData": .byte(1)],
    ] as [[String: DBusValue]])
  func invalidFilters(options: [String: DBusValue]) {
    let stage = BlueZStage()
    #expect(stage.error("SetDiscoveryFilter", [.properties(options)]) == "InvalidArguments")
  }

  @Test("With a filter, the level of each packet is announced; without one, a change is", arguments: [true, false])
  func levels(isFiltered: Bool) throws {
    let stage = BlueZStage { $0.add(Flashlight(), named: "lamp", at: Position(x: 1)) }
    let path = try stage.discover("Flashlight")
    if isFiltered {
      let filter = DBusValue.properties(["DuplicateData": .bool(true), "Transport": .string("le")])
      #expect(stage.error("SetDiscoveryFilter", [filter]) == nil)
    } else {
      #expect(stage.error("SetDiscoveryFilter", [.properties(["Transport": .string("le")])]) == nil)
    }
    stage.bus.removeSignals()
    stage.call("StartDiscovery")
    stage.world.run(for: .seconds(10))
    let count = stage.bus.changes(of: "RSSI", at: path).count
    #expect(isFiltered ? count > 5 : count <= 2, "\(count)")
  }

  @Test("A device without packets is forgotten after 30 s")
  func expiry() throws {
    let stage = BlueZStage { $0.add(Flashlight(), named: "lamp", at: Position(x: 1)) }
    let path = try stage.discover("Flashlight")
    stage.loop.advanceTime(by: .seconds(29))
    #expect(stage.devices() == [path])
    stage.loop.advanceTime(by: .seconds(3))
    #expect(stage.devices().isEmpty)
    #expect(stage.bus.signals.last?.member == "InterfacesRemoved")
  }

  @Test("The discovery of a client that leaves the bus ends")
  func vanishedClient() {
    let stage = BlueZStage()
    stage.call("StartDiscovery")
    #expect(stage.bus.watched == [BlueZStage.client])
    stage.server.clientVanished(BlueZStage.client)
    #expect(stage.property("Discovering") == .bool(false))
  }

  @Test("Power off ends discoveries, and power on lets them begin again")
  func power() {
    let stage = BlueZStage()
    stage.call("StartDiscovery")
    #expect(stage.set("Powered", .bool(false)) == nil)
    #expect(stage.property("Powered") == .bool(false))
    #expect(stage.property("Discovering") == .bool(false))
    #expect(stage.error("StartDiscovery") == "NotReady")
    #expect(stage.set("Powered", .bool(true)) == nil)
    #expect(stage.error("StartDiscovery") == nil)
    #expect(stage.set("Powered", .string("on")) == "InvalidArguments")
  }

  @Test("An advertisement waits for its scan response, or for the next packet")
  func merging() {
    var merger = PacketMerger<Int>()
    func packet(_ device: Int, _ data: [UInt8]) -> PacketMerger<Int>.Sighting {
      PacketMerger<Int>.Sighting(device: device, data: data, rssi: -50, isConnectable: true)
    }
    #expect(merger.take(packet(1, [1]), isScannable: true, isResponse: false).isEmpty)
    #expect(merger.take(packet(1, [2]), isScannable: false, isResponse: true).map(\.data) == [[1, 2]])
    #expect(merger.take(packet(1, [1]), isScannable: true, isResponse: false).isEmpty)
    #expect(merger.take(packet(2, [3]), isScannable: false, isResponse: false).map(\.data) == [[1], [3]])
    let alone = merger.take(packet(2, [4]), isScannable: false, isResponse: true)
    #expect(alone.map(\.isResponseAlone) == [true])
  }
}
