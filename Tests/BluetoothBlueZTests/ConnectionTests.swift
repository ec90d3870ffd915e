import BluetoothDBus
import BluetoothLab
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import Testing

@testable import BluetoothBlueZ

/// Connections, and the attributes of devices.
@Suite struct BlueZConnectionTests {
  private func lamp() throws -> (stage: BlueZStage, device: String) {
    let stage = BlueZStage { $0.add(Flashlight(), named: "lamp", at: Position(x: 1)) }
    let device = try stage.discover("Flashlight")
    stage.bus.removeSignals()
    #expect(stage.error("Connect", of: "Device1", at: device) == nil)
    return (stage, device)
  }

  private let options = DBusValue.properties([:])

  @Test("A connection shows the attributes before it is resolved")
  func connection() throws {
    let (stage, device) = try lamp()
    #expect(stage.bus.changes(of: "Connected", at: device) == [.bool(true)])
    #expect(stage.bus.changes(of: "ServicesResolved", at: device) == [.bool(true)])
    let order = stage.bus.signals.map { signal -> String in
      guard signal.member == "PropertiesChanged" else { return signal.member }
      return signal.body[1].options?.keys.sorted().first { ["Connected", "ServicesResolved"].contains($0) } ?? ""
    }
    let connected = try #require(order.firstIndex(of: "Connected"))
    let added = try #require(order.firstIndex(of: "InterfacesAdded"))
    let resolved = try #require(order.firstIndex(of: "ServicesResolved"))
    #expect(connected < added && added < resolved)
    let path = try #require(stage.characteristic(Flashlight.status.path.characteristic, of: device))
    #expect(stage.property("Flags", of: "GattCharacteristic1", at: path) == .strings(["read", "notify"]))
    #expect(stage.property("MTU", of: "GattCharacteristic1", at: path)?.integer.map { $0 > 23 } == true)
    let service = try #require(stage.property("Service", of: "GattCharacteristic1", at: path)?.path)
    #expect(stage.property("Device", of: "GattService1", at: service) == .path(device))
    #expect(stage.server.paths.contains { $0.hasPrefix(path + "/desc") })
  }

  @Test("Values are read, written and notified")
  func values() throws {
    let (stage, device) = try lamp()
    let status = try #require(stage.characteristic(Flashlight.status.path.characteristic, of: device))
    let light = try #require(stage.characteristic(Flashlight.lightSwitch.path.characteristic, of: device))
    let iface = "GattCharacteristic1"
    #expect(try stage.call("ReadValue", [options], of: iface, at: status).get() == [.bytes([0])])
    #expect(stage.property("Value", of: iface, at: status) == .bytes([0]))
    #expect(stage.error("StartNotify", of: iface, at: status) == nil)
    #expect(stage.property("Notifying", of: iface, at: status) == .bool(true))
    stage.bus.removeSignals()
    #expect(stage.error("WriteValue", [.bytes([1]), options], of: iface, at: light) == nil)
    stage.world.run(until: { !stage.bus.changes(of: "Value", at: status).isEmpty })
    #expect(stage.bus.changes(of: "Value", at: status) == [.bytes([1])])
    let command = DBusValue.properties(["type": .string("command")])
    #expect(stage.error("WriteValue", [.bytes([0]), command], of: iface, at: light) == nil)
    stage.world.run(until: { stage.bus.changes(of: "Value", at: status).count == 2 })
    #expect(stage.bus.changes(of: "Value", at: status) == [.bytes([1]), .bytes([0])])
    #expect(stage.error("StopNotify", of: iface, at: status) == nil)
    #expect(stage.property("Notifying", of: iface, at: status) == .bool(false))
    #expect(stage.error("StopNotify", of: iface, at: status) == "Failed")
  }

  @Test("A read from an offset has the rest of the value")
  func offsets() throws {
    let (stage, device) = try lamp()
    let status = try #require(stage.characteristic(Flashlight.status.path.characteristic, of: device))
    func read(_ offset: UInt16) -> Result<[DBusValue], DBusError> {
      let options = DBusValue.properties(["offset": .uint16(offset)])
      return stage.call("ReadValue", [options], of: "GattCharacteristic1", at: status)
    }
    #expect(try read(1).get() == [.bytes([])])
    #expect(throws: DBusError("org.bluez.Error.InvalidArguments", "Invalid offset")) { try read(2).get() }
  }

  @Test("Wrong uses of a characteristic have the errors of BlueZ")
  func characteristicErrors() throws {
    let (stage, device) = try lamp()
    let status = try #require(stage.characteristic(Flashlight.status.path.characteristic, of: device))
    let light = try #require(stage.characteristic(Flashlight.lightSwitch.path.characteristic, of: device))
    let iface = "GattCharacteristic1"
    #expect(stage.error("ReadValue", [options], of: iface, at: light) == "NotPermitted")
    #expect(stage.error("WriteValue", [.bytes([1]), options], of: iface, at: status) == "NotSupported")
    #expect(stage.error("StartNotify", of: iface, at: light) == "NotSupported")
    #expect(stage.error("AcquireWrite", [options], of: iface, at: status) == "NotSupported")
    let wrong = DBusValue.properties(["offset": .string("1")])
    #expect(stage.error("ReadValue", [wrong], of: iface, at: status) == "InvalidArguments")
    let reliable = DBusValue.properties(["type": .string("reliable")])
    #expect(stage.error("WriteValue", [.bytes([1]), reliable], of: iface, at: light) == "NotSupported")
    let level = try #require(stage.characteristic(0x2A19, of: device))
    #expect(stage.error("WriteValue", [.bytes([1]), options], of: iface, at: level) == "NotAuthorized")
  }

  @Test("The battery level is an interface of the device")
  func battery() throws {
    let (stage, device) = try lamp()
    stage.world.run(until: { stage.property("Percentage", of: "Battery1", at: device) != nil })
    #expect(stage.property("Percentage", of: "Battery1", at: device) == .byte(100))
  }

  @Test("Acquired sockets carry values, and end with the link")
  func sockets() throws {
    let (stage, device) = try lamp()
    let status = try #require(stage.characteristic(Flashlight.status.path.characteristic, of: device))
    let light = try #require(stage.characteristic(Flashlight.lightSwitch.path.characteristic, of: device))
    let iface = "GattCharacteristic1"
    let values = try stage.call("AcquireNotify", [options], of: iface, at: status).get()
    #expect(values.count == 2)
    #expect(stage.property("NotifyAcquired", of: iface, at: status) == .bool(true))
    #expect(stage.error("StartNotify", of: iface, at: status, by: ":1.8") == "NotPermitted")
    #expect(stage.error("AcquireWrite", [options], of: iface, at: light) == nil)
    #expect(stage.error("WriteValue", [.bytes([1]), options], of: iface, at: light) == "NotPermitted")
    let (notify, write) = (stage.bus.sockets[0], stage.bus.sockets[1])
    write.receive([1])
    stage.world.run(until: { !notify.packets.isEmpty })
    #expect(notify.packets == [[1]])
    write.receive(nil)
    #expect(stage.property("WriteAcquired", of: iface, at: light) == .bool(false))
    #expect(stage.error("Disconnect", of: "Device1", at: device) == nil)
    #expect(notify.isClosed)
    #expect(stage.property("NotifyAcquired", of: iface, at: status) == .bool(false))
  }

  @Test("The end of a link is shown, and fails later calls")
  func disconnection() throws {
    let (stage, device) = try lamp()
    let status = try #require(stage.characteristic(Flashlight.status.path.characteristic, of: device))
    #expect(stage.error("Disconnect", of: "Device1", at: device) == nil)
    #expect(stage.property("Connected", of: "Device1", at: device) == .bool(false))
    #expect(stage.property("ServicesResolved", of: "Device1", at: device) == .bool(false))
    #expect(stage.error("ReadValue", [options], of: "GattCharacteristic1", at: status) == "Failed")
    #expect(stage.error("Connect", of: "Device1", at: device) == nil)
    #expect(stage.error("ReadValue", [options], of: "GattCharacteristic1", at: status) == nil)
  }

  @Test("A device that is removed while it is connected is disconnected first")
  func removal() throws {
    let (stage, device) = try lamp()
    #expect(stage.error("RemoveDevice", [.path(device)]) == nil)
    #expect(!stage.server.paths.contains { $0.hasPrefix(device) })
    #expect(stage.error("RemoveDevice", [.path(device)]) == "DoesNotExist")
    #expect(stage.error("RemoveDevice", [.string(device)]) == "InvalidArguments")
  }

  @Test("A device that is gone can't be connected")
  func absence() throws {
    let stage = BlueZStage { $0.add(Flashlight(), named: "lamp", at: Position(x: 1)).setPower(false, at: .seconds(5)) }
    let device = try stage.discover("Flashlight")
    stage.world.run(for: .seconds(10))
    let answer = stage.send("Connect", of: "Device1", at: device)
    stage.world.run(for: .seconds(1))
    stage.loop.advanceTime(by: .seconds(41))
    let result = answer.withLockedValue { $0 }
    #expect(throws: DBusError("org.bluez.Error.Failed", "le-connection-abort-by-local")) { try result?.get() }
  }

  @Test("The subscription of a client that leaves the bus ends, and that of another one stays")
  func vanishedClient() throws {
    let (stage, device) = try lamp()
    let status = try #require(stage.characteristic(Flashlight.status.path.characteristic, of: device))
    let iface = "GattCharacteristic1"
    #expect(stage.error("StartNotify", of: iface, at: status) == nil)
    #expect(stage.error("StartNotify", of: iface, at: status, by: ":1.8") == nil)
    stage.server.clientVanished(BlueZStage.client)
    #expect(stage.property("Notifying", of: iface, at: status) == .bool(true))
    stage.server.clientVanished(":1.8")
    #expect(stage.property("Notifying", of: iface, at: status) == .bool(false))
  }
}
