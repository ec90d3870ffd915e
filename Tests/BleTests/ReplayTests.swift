import ArgumentParser
import BluetoothAir
import BluetoothDissection
import BluetoothLab
import BluetoothTypes
import BluetoothWire
import CoreBluetooth
import CoreBluetoothExtras
import Foundation
import NIOConcurrencyHelpers
import Testing

@testable import ble

/// `ble replay`: the devices of a capture, and how they are played, in virtual time.
@Suite struct ReplayTests {
  /// Returns the devices of a capture of a world in which a phone subscribes to a heart rate sensor for 8 s.
  private static func captured() throws -> CapturedDevices {
    try withCapture { try CapturedDevices(of: CaptureInput(path: $0)) }
  }

  /// Gives the path of the capture to `body`.
  private static func withCapture<Result>(_ body: (String) throws -> Result) throws -> Result {
    let path = NSTemporaryDirectory() + "/ble-tests-\(UUID().uuidString).pcapng"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let world = World(seed: 3)
    world.startCapture(try Capture(path: path))
    world.add(HeartRateSensor(), named: "strap", DeviceOptions(position: Position(x: 2)))
    let phone = SimulatedPhone(.subscribe, on: world.makeDevice(named: "phone"))
    world.run(for: .seconds(8))
    #expect(phone.values > 3)
    try world.finishCapture()
    return try body(path)
  }

  @Test(
    "A device of a capture is the same in the files of other tools",
    arguments: [
      (["--interface", "air", "--format", "nrf-sniffer"], "sniffer.pcap"), (["--interface", "air"], "air.pcap"),
      (["--interface", "phone"], "phone.pklg"), (["--interface", "phone"], "phone.btsnoop"),
    ])
  func otherTools(options: [String], name: String) throws {
    try Self.withCapture { path in
      let copy = path + "." + name
      defer { try? FileManager.default.removeItem(atPath: copy) }
      try CaptureCommand.Convert.parse([path, copy] + options).run()
      let own = try CapturedDevices(of: CaptureInput(path: path)).choose(nil).server.content
      let other = try CapturedDevices(of: CaptureInput(path: copy)).choose(nil).server.content
      #expect(own.map(\.uuid) == other.map(\.uuid) && own.contains { !$0.characteristics.isEmpty })
      let values = [own, other].map { $0.flatMap(\.characteristics).map { ($0.reads + $0.updates).map(\.octets) } }
      #expect(values[0] == values[1] && values[0].contains { $0.count > 3 })
    }
  }

  @Test("A capture of a world gives the advertising, the services and the notifications of a device once")
  func devices() throws {
    let device = try Self.captured().choose(nil)
    #expect(device.advertising.isConnectable && device.server.hasServices && device.encryptedPackets == 0)
    let tree = device.server.tree
    #expect(tree.services.map(\.uuid.uuidString).contains("180D"))
    #expect(!tree.services.contains { ["1800", "1801"].contains($0.uuid.uuidString) })
    let rate = try #require(
      tree.services.flatMap(\.characteristics).first { $0.uuid == CBUUID(string: "2A37") })
    #expect(rate.properties.contains(.notify))
    // One each second; the capture has each on the air, and in the packets of both hosts.
    #expect((4...8).contains(rate.sequence.count))
    #expect(abs((rate.period ?? 0) - 1) < 0.1)
    let recording = RecordingFile(named: "strap", device.advertising, tree)
    let member = try #require(try WorldFile(text: recording.yaml(by: "replay")).members.first?.description)
    let played = try #require(
      member.services.flatMap(\.characteristics).first { $0.uuid == BluetoothUUID(0x2A37) })
    #expect(played.values == rate.sequence && played.period != nil)
    #expect(member.advertising.payload.octets == device.advertising.timeline.first?.payload.flatMap(\.octets))
  }

  @Test("A device is chosen by its name or its address, and others are named")
  func choice() throws {
    let devices = try Self.captured()
    let device = try devices.choose(nil)
    #expect(try devices.choose(device.address.digits.lowercased()).address == device.address)
    let failure = #expect(throws: Failure.self) { try devices.device("nobody") }
    #expect(failure?.status == ExitStatus.notFound)
    let empty = #expect(throws: Failure.self) { try CapturedDevices().device(nil) }
    #expect(empty?.description == "the capture has no advertising and no GATT server")
  }

  @Test("Reads of any length give answers, and attributes without discovery are noted")
  func reads() {
    var server = CapturedServer()
    func add(_ octets: [UInt8], to request: [UInt8]) throws {
      server.add(
        try ATT.PDU.decode(ByteSlice(octets)), to: try ATT.PDU.decode(ByteSlice(request)), at: 0)
    }
    #expect(throws: Never.self) {
      // A service 0x0010 to 0x0015 of type 1815, with two characteristics of types 2A56 and 2A58.
      try add([0x11, 6, 0x10, 0, 0x15, 0, 0x15, 0x18], to: [0x10, 1, 0, 0xFF, 0xFF, 0x00, 0x28])
      try add(
        [0x09, 7, 0x11, 0, 0x02, 0x12, 0, 0x56, 0x2A, 0x13, 0, 0x02, 0x14, 0, 0x58, 0x2A],
        to: [0x08, 0x10, 0, 0x15, 0, 0x03, 0x28])
      try add([0x0B, 1], to: [0x0A, 0x12, 0])
      try add([0x0B, 2, 3], to: [0x0A, 0x12, 0])
      try add([0x0D, 4, 5], to: [0x0C, 0x12, 0, 2, 0])
      // A refusal for want of encryption, and an attribute of which nothing else is known.
      try add([0x01, 0x0A, 0x14, 0, 0x0F], to: [0x0A, 0x14, 0])
      try add([0x0B, 9], to: [0x0A, 0x40, 0])
    }
    #expect(
      server.answers == [
        CapturedServer.Answers(
          service: BluetoothUUID(0x1815), characteristic: BluetoothUUID(0x2A56), values: [[1], [2, 3, 4, 5]])
      ])
    let characteristics = server.tree.services.flatMap(\.characteristics)
    #expect(characteristics.map(\.uuid.uuidString) == ["2A56", "2A58"])
    #expect(characteristics.map(\.needsEncryption) == [false, true])
    #expect(
      server.notes == [
        "the capture does not show the discovery of the attributes 0x0040: left out",
        "nobody has read Analog (2A58) in the capture: their values are empty",
      ])
  }

  @Test("Advertising data change at the times of the capture")
  func timeline() {
    var advertising = RecordedAdvertising()
    let payloads: [[UInt8]] = [[2, 1, 6], [3, 0xFF, 1, 2]]
    for number in 0..<40 {
      // The same event on three channels, and another payload from the 20th event on.
      for channel in 0..<3 {
        advertising.add(
          .advNonconnInd, payloads[number / 20], isConnectable: false,
          at: .milliseconds(100 * number + channel))
      }
    }
    let frames = advertising.timeline
    #expect(frames.map { $0.payload.flatMap(\.octets) } == payloads)
    #expect(frames.first?.duration == .milliseconds(2_000))
    let last = frames.last?.duration ?? .zero
    #expect(last > .milliseconds(1_950) && last < .milliseconds(2_050), "\(last)")
  }

  @Test("A replayed device gives the recorded answers in order, and its advertising data change again and again")
  func player() throws {
    let text = """
      devices:
        - name: Thing
          accessory:
            kind: peripheral
            advertising: {interval: 0.1, payload: {flags: 6, name: Thing}}
            services:
              - uuid: 1815
                characteristics: [{uuid: 2A56, properties: [read], value: "01"}]
      """
    let description = try #require(try WorldFile(text: text).members.first?.description)
    let frames = [1, 2].map { number in
      RecordedAdvertising.Frame(
        duration: .seconds(1), payload: [.flags(), ADStructure(.completeLocalName, Array("Thing".utf8))],
        scanResponse: [ADStructure(.manufacturerData, [0xFF, 0xFF, number])])
    }
    let answers = CapturedServer.Answers(
      service: BluetoothUUID(0x1815), characteristic: BluetoothUUID(0x2A56), values: [[1], [2], [3]])
    try Meeting.run { local, central, stage in
      let player = PeripheralPlayer(
        description, named: "Thing", by: local, stage, isJSON: false, timeline: frames, answers: [answers]
      ) { _ in }
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          do { try await player.play() } catch is CancellationError {} catch { Issue.record(error) }
        }
        var seen: [UInt8] = []
        for try await packet in central.packets() where packet.pduType == .scanRsp {
          guard let number = packet.data.last, number != seen.last else { continue }
          seen.append(number)
          if seen.count == 4 { break }
        }
        #expect(seen == [1, 2, 1, 2] || seen == [2, 1, 2, 1])
        let found = try await Meeting.find("Thing", central, stage)
        try await stage.withLink(to: found) { peripheral in
          let characteristic = try await AttributePath("2A56").characteristic(on: peripheral, stage)
          var values: [UInt8] = []
          for _ in 0..<4 { values += try await characteristic.read(within: stage.stepLimit) }
          #expect(values == [1, 2, 3, 3])
        }
        group.cancelAll()
      }
    }
  }
}
