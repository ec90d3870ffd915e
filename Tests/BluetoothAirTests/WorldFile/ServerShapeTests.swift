import BluetoothLab
import BluetoothProfiles
import CoreBluetooth
import Foundation
import TestSupport
import Testing

@testable import BluetoothAir

@Suite("World files: servers of any shape")
struct ServerShapeTests {
  /// Returns a world with the accessory of a file, which is named "server", and a phone beside it.
  private static func meet(_ file: WorldFile) throws -> (world: World, phone: TestCentral) {
    let world = World(seed: 1)
    _ = file.populate(world)
    return (world, TestCentral(on: world.makeDevice(named: "phone", at: Position(x: 2))))
  }

  private static func server(_ services: String, _ fields: String = "") throws -> WorldFile {
    try WorldFile(
      text:
        #"{"devices": [{"name": "server", "accessory": {"kind": "peripheral", "services": [\#(services)]\#(fields)}}]}"#
    )
  }

  private static func problem(_ services: String, _ fields: String = "") -> String? {
    do {
      _ = try server(services, fields)
      return nil
    } catch { return "\(error)" }
  }

  @Test("The qualification database is one file: its services, includes, values and errors are what a client finds")
  func qualification() throws {
    let (world, phone) = try Self.meet(try WorldFile(path: ExampleWorlds.path("qualification")))
    let server = try phone.connect(to: "Test Database")
    try phone.discoverAttributes(of: server)
    let services = try #require(server.services)
    #expect(
      services.map(\.uuid.uuidString) == [
        "A00A", "A00B", "A00B", "A00B", "A00B", "A00B", "0000A00C-0000-0000-0123-456789ABCDEF", "A00F",
        "0000A00C-0000-0000-0123-456789ABCDEF",
      ])
    #expect(services.last?.characteristics?.filter { $0.uuid == CBUUID(string: "B002") }.count == 9)
    server.discoverIncludedServices(nil, for: services[0])
    world.run(for: .seconds(1))
    #expect(services[0].includedServices?.map(\.uuid) == [CBUUID(string: "A00D")])
  }

  @Test("Characteristics of one UUID in a service have values of their own")
  func repeated() throws {
    let (world, phone) = try Self.meet(
      try Self.server(
        #"""
        {"uuid": "A000", "characteristics": [
          {"uuid": "B000", "properties": ["read", "write"], "value": "01"},
          {"uuid": "B000", "properties": ["read", "write"], "value": "02"}]}
        """#))
    let server = try phone.connect(to: "server")
    try phone.discoverAttributes(of: server)
    let both = try #require(server.services?.first?.characteristics)
    #expect(both.count == 2)
    server.writeValue(Data([9]), for: both[1], type: .withResponse)
    for characteristic in both { server.readValue(for: characteristic) }
    world.run(for: .seconds(1))
    #expect(both.map(\.value) == [Data([1]), Data([9])])
  }

  @Test("Refused accesses get Insufficient Authorization until their time, and others are served")
  func authorization() throws {
    let (world, phone) = try Self.meet(
      try Self.server(
        #"""
        {"uuid": "A000", "characteristics": [
          {"uuid": "B000", "properties": ["read", "write"], "value": "01", "refuses": {"accesses": ["write"], "until": 20}},
          {"uuid": "B001", "properties": ["read"], "value": "02", "refuses": {"accesses": ["read"]}}]}
        """#))
    let server = try phone.connect(to: "server")
    #expect(try phone.read("B000", of: server) == [1])
    let refused = #expect(throws: CBATTError.self) { try phone.write([3], to: "B000", of: server) }
    #expect(refused?.code == .insufficientAuthorization)
    let read = #expect(throws: CBATTError.self) { try phone.read("B001", of: server) }
    #expect(read?.code == .insufficientAuthorization)
    world.run(for: .seconds(20) - world.now)
    try phone.write([3], to: "B000", of: server)
    #expect(try phone.read("B000", of: server) == [3])
  }

  @Test("Descriptors have permissions: one is written and read back, one can't be read, one can't be written")
  func descriptors() throws {
    let (world, phone) = try Self.meet(
      try Self.server(
        #"""
        {"uuid": "A000", "characteristics": [{"uuid": "B000", "properties": ["read"], "value": "01", "descriptors": [
          {"uuid": "D001", "value": "0A", "permissions": ["readable", "writeable"]},
          {"uuid": "D002", "value": "0B", "permissions": ["writeable"]},
          {"uuid": "D003", "value": "0C"}]}]}
        """#))
    let server = try phone.connect(to: "server")
    try phone.discoverAttributes(of: server)
    let characteristic = try #require(server.services?.first?.characteristics?.first)
    server.discoverDescriptors(for: characteristic)
    world.run(for: .seconds(1))
    let descriptors = try #require(characteristic.descriptors)
    #expect(descriptors.count == 3)
    let before = phone.recorder.records.count
    server.writeValue(Data([0x1A]), for: descriptors[0])
    server.readValue(for: descriptors[0])
    server.readValue(for: descriptors[1])
    server.writeValue(Data([1]), for: descriptors[2])
    world.run(for: .seconds(1))
    let name = try #require(server.name)
    #expect(
      phone.recorder.records.dropFirst(before).map(\.event) == [
        .descriptorValueWritten(name, CBUUID(string: "D001")), .descriptorValueUpdated(name, CBUUID(string: "D001")),
        .descriptorValueUpdated(name, CBUUID(string: "D002"), .att(.readNotPermitted)),
        .descriptorValueWritten(name, CBUUID(string: "D003"), .att(.writeNotPermitted)),
      ])
    #expect(descriptors[0].value as? Data == Data([0x1A]))
  }

  @Test("A service comes, goes and returns at its times, and a connected client is told each time")
  func presence() throws {
    let (world, phone) = try Self.meet(
      try Self.server(
        #"""
        {"uuid": "A000", "characteristics": [{"uuid": "B000", "properties": ["read"], "value": "01"}]},
        {"uuid": "A001", "presentFrom": 10, "presentUntil": 20},
        {"uuid": "A002", "presentFrom": 25, "presentUntil": 15}
        """#))
    let server = try phone.connect(to: "server")
    try phone.discoverAttributes(of: server)
    func found(at seconds: Int) throws -> [String] {
      world.run(for: .seconds(seconds) - world.now)
      try phone.discoverAttributes(of: server)
      return (server.services ?? []).map(\.uuid.uuidString)
    }
    #expect(try found(at: 9) == ["A000", "A002"])
    #expect(try found(at: 11) == ["A000", "A002", "A001"])
    #expect(try found(at: 16) == ["A000", "A001"])
    #expect(try found(at: 21) == ["A000"])
    #expect(try found(at: 26) == ["A000", "A002"])
    let changes = phone.recorder.records.filter { if case .servicesModified = $0.event { true } else { false } }
    #expect(changes.map { Int($0.time / .seconds(1)) } == [10, 15, 20, 25])
  }

  @Test("Handles that can't be are errors with their place, not a stop of the program")
  func badHandles() {
    let first = #"{"uuid": "A000", "handle": 32, "characteristics": [{"uuid": "B000", "properties": ["read"]}]}"#
    #expect(Self.problem(first) == nil)
    #expect(Self.problem(first + #", {"uuid": "A001", "handle": 33}"#)?.contains("services[1].handle") == true)
    #expect(Self.problem(#"{"uuid": "A000", "handle": 5}"#)?.contains("the attribute handle 5 is taken") == true)
    #expect(Self.problem(#"{"uuid": "A000", "handle": 5}"#, #", "firstHandle": 100"#) == nil)
    #expect(
      Self.problem(#"{"uuid": "A000", "characteristics": [{"uuid": "B000", "properties": [], "handle": 7}]}"#)?
        .contains("the attribute handle 7 is taken, or not after") == true)
    #expect(
      Self.problem(#"{"uuid": "A000", "includedHandles": [77]}"#)?.contains("no service has the attribute handle 77")
        == true)
    #expect(
      Self.problem(
        #"{"uuid": "A000", "handle": 32, "includedHandles": [64]}, {"uuid": "A001", "handle": 64, "includedHandles": [32]}"#
      )?
      .contains("the services include each other") == true)
  }

  @Test("A service that comes at a handle which another one has then is an error with its place")
  func lateHandle() {
    // Until the service with the handle comes, the last one follows the first one.
    let last = #"""
      , {"uuid": "A002", "characteristics": [{"uuid": "B001", "properties": ["read"]}]}
      """#
    let late = #"{"uuid": "A000"}, {"uuid": "A001", "handle": 22, "presentFrom": 10}"#
    #expect(Self.problem(late) == nil)
    #expect(Self.problem(late + last)?.contains("services[1].handle: the attribute handle 22 is taken") == true)
  }

  @Test("A service includes by its handle another one that is there, and is there without one that comes later")
  func lateInclude() throws {
    let (world, phone) = try Self.meet(
      try Self.server(
        #"""
        {"uuid": "A000", "handle": 90, "includedHandles": [60, 70]}, {"uuid": "A001", "handle": 60, "presentFrom": 10},
        {"uuid": "A002", "handle": 70}
        """#))
    let server = try phone.connect(to: "server")
    try phone.discoverAttributes(of: server)
    #expect((server.services ?? []).map(\.uuid.uuidString).sorted() == ["A000", "A002"])
    world.run(for: .seconds(11) - world.now)
    try phone.discoverAttributes(of: server)
    #expect((server.services ?? []).map(\.uuid.uuidString).sorted() == ["A000", "A001", "A002"])
  }
}
