import CoreBluetooth
import Foundation
import TestSupport
import Testing

@testable import BluetoothLab

/// Devices of captures that are replayed in another world.
@Suite("Recordings of devices")
struct DeviceRecordingTests {
  /// A value with the world's time at which the app got it.
  private struct Value: Hashable {
    let time: Duration
    let octets: [UInt8]
  }

  private static func capturing(_ world: World, _ body: () throws -> Void) throws -> [UInt8] {
    let path = NSTemporaryDirectory() + "/device-recording-\(UUID().uuidString).pcapng"
    defer { try? FileManager.default.removeItem(atPath: path) }
    world.startCapture(try Capture(path: path))
    try body()
    try world.finishCapture()
    return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  private static func run(_ world: World, to time: Duration) { world.run(for: time - world.now) }

  private static func phone(in world: World) -> TestCentral {
    TestCentral(on: world.makeDevice(named: "phone", at: Position(x: 2)))
  }

  private static func values(of uuid: String, _ phone: TestCentral) -> [Value] {
    phone.recorder.records.compactMap { record in
      guard case .valueUpdated(_, CBUUID(string: uuid), let octets, nil) = record.event else { return nil }
      return Value(time: record.time, octets: octets)
    }
  }

  /// Records a heart rate sensor whose pulse changes at irregular times, and whose battery was read twice.
  private static func session() throws -> (capture: [UInt8], values: [Value]) {
    let world = World(seed: 7)
    var sensor = HeartRateSensor(name: "Strap", beatsPerMinute: 61)
    sensor.batteryLevel = 87
    let strap = world.add(sensor, named: "strap")
    let phone = Self.phone(in: world)
    let capture = try capturing(world) {
      let peripheral = try phone.connect(to: "Strap")
      try phone.setNotify(for: "2A37", of: peripheral)
      for (pulse, pause) in [(80, 1_310), (95, 40), (70, 2_777), (71, 333)] as [(UInt16, Int)] {
        world.run(for: .milliseconds(pause))
        strap.update { $0.beatsPerMinute = pulse }
      }
      run(world, to: .seconds(10))
      _ = try phone.read("2A19", of: peripheral)
      strap.update { $0.batteryLevel = 42 }
      run(world, to: .seconds(12))
      _ = try phone.read("2A19", of: peripheral)
      run(world, to: .seconds(13))
    }
    return (capture, values(of: "2A37", phone))
  }

  @Test("The values of a capture come to the client of another world at the same offsets after its subscription")
  func sameOffsets() throws {
    let (capture, recorded) = try Self.session()
    #expect(recorded.count > 10)
    var recording = try DeviceRecording(octets: capture)
    #expect(recording.name == "Strap" && recording.notes.allSatisfy { !$0.contains("no advertising") })
    recording.start = .subscription
    let world = World(seed: 1_234)
    world.add(recording: recording, named: "copy")
    let phone = Self.phone(in: world)
    // The client comes later than that of the capture.
    Self.run(world, to: .seconds(20))
    let peripheral = try phone.connect(to: "Strap")
    try phone.setNotify(for: "2A37", of: peripheral)
    world.run(for: .seconds(15))
    let replayed = Self.values(of: "2A37", phone)
    #expect(replayed.map(\.octets) == recorded.map(\.octets))
    let first = (try #require(replayed.first), try #require(recorded.first))
    #expect(replayed.map { $0.time - first.0.time } == recorded.map { $0.time - first.1.time })
    // A new subscription begins the history again.
    try phone.setNotify(false, for: "2A37", of: peripheral)
    try phone.setNotify(for: "2A37", of: peripheral)
    world.run(for: .seconds(15))
    let again = Self.values(of: "2A37", phone).dropFirst(replayed.count)
    #expect(again.map(\.octets) == recorded.map(\.octets))
  }

  @Test("The values of a capture come at their offsets in the world's time, up to the next connection event")
  func worldTime() throws {
    let (capture, recorded) = try Self.session()
    let world = World(seed: 99)
    world.add(recording: try DeviceRecording(octets: capture))
    let phone = Self.phone(in: world)
    let peripheral = try phone.connect(to: "Strap")
    try phone.setNotify(for: "2A37", of: peripheral)
    let begin = world.now
    Self.run(world, to: .seconds(15))
    let expected = recorded.filter { $0.time > begin }
    let replayed = Self.values(of: "2A37", phone)
    #expect(expected.count > 8)
    #expect(replayed.suffix(expected.count).map(\.octets) == expected.map(\.octets))
    for (value, original) in zip(replayed.suffix(expected.count), expected) {
      // The capture begins with the first packet, which the sensor sends within 10 ms.
      let delay = value.time - original.time
      #expect(delay > .milliseconds(-10) && delay < .milliseconds(60), "\(delay)")
    }
  }

  @Test("A read gets the value that the client of the capture has read at that time or next")
  func reads() throws {
    let (capture, _) = try Self.session()
    let world = World(seed: 5)
    world.add(recording: try DeviceRecording(octets: capture))
    let phone = Self.phone(in: world)
    let peripheral = try phone.connect(to: "Strap")
    #expect(try phone.read("2A19", of: peripheral) == [87])
    #expect(try phone.read("2A38", of: peripheral) == [])
    Self.run(world, to: .milliseconds(9_500))
    #expect(try phone.read("2A19", of: peripheral) == [87])
    Self.run(world, to: .seconds(11))
    #expect(try phone.read("2A19", of: peripheral) == [42])
    // The control point stores what is written.
    try phone.write([1], to: "2A39", of: peripheral)
    Self.run(world, to: .seconds(20))
    #expect(try phone.read("2A19", of: peripheral) == [42])
  }

  @Test("Advertising data change at their offsets, also while a central is connected")
  func advertising() throws {
    @Sendable func advertising(_ name: String) -> Advertising {
      Advertising(AdvertisingPayload(fitting: [.flags(), .name(name)]))
    }
    let original = World(seed: 3)
    let sign = original.add(Broadcaster(advertising("Open")), named: "sign")
    let capture = try Self.capturing(original) {
      original.run(for: .seconds(2))
      sign.act { _, context in context.advertise(advertising("Closed")) }
      original.run(for: .seconds(2))
    }
    let world = World(seed: 4)
    let recording = try DeviceRecording(octets: capture)
    let copy = try #require(world.add(recording: recording, named: "copy") as? AccessoryDevice<ReplayedDevice>)
    Self.run(world, to: .milliseconds(1_980))
    #expect(copy.accessory.advertising.payload == advertising("Open").payload)
    let phone = Self.phone(in: world)
    _ = try phone.discover("Open")
    Self.run(world, to: .milliseconds(2_150))
    #expect(copy.accessory.advertising.payload == advertising("Closed").payload)
    let peripheral = try phone.connect(to: "Closed")
    #expect(world.now < .seconds(4))
    try phone.disconnect(from: peripheral)
    #expect(try phone.discover("Closed") === peripheral)
  }

  @Test("Errors name the file, the place in it, and what was expected")
  func errors() throws {
    func reason(_ octets: [UInt8], device: String? = nil) -> String? {
      do {
        _ = try DeviceRecording(octets: octets, named: "x.pcapng", device: device)
        return nil
      } catch { return error.description }
    }
    #expect(reason([]) == "x.pcapng: after packet 0, at offset 0: the file is empty")
    #expect(
      reason(Array("devices:".utf8)) == "x.pcapng: after packet 0, at offset 0: no capture: expected pcapng, pcap, "
        + "btsnoop, PacketLogger or an Android bug report, plain or in gzip or zip")
    let (capture, _) = try Self.session()
    let cut = try #require(reason(Array(capture.dropLast(3))))
    #expect(cut.wholeMatch(of: /x\.pcapng: after packet \d+, at offset \d+: the file ends within a packet/) != nil)
    #expect(reason(capture, device: "Bike") == "x.pcapng: the capture has no device \"Bike\"")
    #expect(reason(capture, device: "str") == nil)
    let world = World(seed: 2)
    for name in ["A", "B"] { world.add(BatteryPack(name: name), named: name) }
    let two = try Self.capturing(world) { world.run(for: .seconds(1)) }
    let several = try #require(reason(two))
    #expect(several.hasPrefix("x.pcapng: the capture has 2 such devices: ") && several.contains("\"B\""))
    let missing = #expect(throws: DeviceRecordingError.self) { try DeviceRecording(capture: "/no/such/file") }
    #expect(missing?.description == "/no/such/file: can't read the file: No such file or directory")
    // No program writes to the FIFO, so reading it would never end.
    let folder = try TemporaryFolder()
    let path = folder.file("fifo")
    try #require(mkfifo(path, 0o600) == 0)
    let fifo = #expect(throws: DeviceRecordingError.self) { try DeviceRecording(capture: path) }
    #expect(fifo?.description == "\(path): can't read the file: not a regular file")
  }

  @Test("The parts of a capture that are not read are notes, and part of an error")
  func unread() throws {
    let (capture, _) = try Self.session()
    // A block of a type that pcapng does not define.
    let block: [UInt8] = [0xAD, 0x0B, 0, 0, 12, 0, 0, 0, 12, 0, 0, 0]
    let recording = try DeviceRecording(octets: capture + block + block)
    #expect(recording.notes.first == "not read: a pcapng block of type 0x00000BAD (2 times)")
    // A pcap file with a packet of another link type.
    let other: [UInt8] =
      [0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0, 1, 0, 0, 0]
      + [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 7]
    let error = #expect(throws: DeviceRecordingError.self) { try DeviceRecording(octets: other, named: "x.pcap") }
    #expect(
      error?.description
        == "x.pcap: the capture has no advertising and no GATT server; not read: a packet of link type 1")
  }

  @Test("A damaged capture gives an error or a device that a world can play")
  func damaged() throws {
    let whole = try Self.session().capture
    var played = 0
    for number in 0..<40 {
      var capture = whole
      var state = UInt64(number) &* 0x9E37_79B9_7F4A_7C15 &+ 1
      for _ in 0..<(1 << (number % 8)) {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        // The blocks of a damaged length end the capture: octets of packets are damaged more often.
        capture[Int(state >> 33) % capture.count] = UInt8(truncatingIfNeeded: state >> 24)
      }
      let recording: DeviceRecording
      do { recording = try DeviceRecording(octets: capture, named: "x.pcapng") } catch {
        #expect(error.description.hasPrefix("x.pcapng: "))
        continue
      }
      let world = World(seed: 1)
      let device = world.add(recording: recording, named: "copy")
      world.run(for: .seconds(15))
      #expect(device.statistics.transmitted.packets > 0, "capture \(number)")
      played += 1
    }
    // A single wrong octet spoils at most one packet, so some recordings survive; many wrong octets spoil the file.
    #expect((1..<40).contains(played), "\(played)")
  }
}
