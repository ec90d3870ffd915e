import BluetoothLab
import CoreBluetooth
import Foundation
import TestSupport
import Testing

@testable import BluetoothAir

/// A folder with captures and files of devices.
final class RecordingFolder: Sendable {
  let path = NSTemporaryDirectory() + "/recordings-\(UUID().uuidString)"

  init() throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    let world = World(seed: 7, capture: try Capture(path: path + "/session.pcapng"))
    world.add(HeartRateSensor(name: "Strap", beatsPerMinute: 61), named: "strap")
    world.add(Broadcaster(Advertising(AdvertisingPayload(fitting: [.flags(), .name("Sign")]))), named: "sign")
    var plan = PhoneApp.Plan.explore
    plan.name = "Strap"
    plan.service = CBUUID(string: "180D")
    let app = PhoneApp(on: world.makeDevice(named: "phone", at: Position(x: 1)), plan)
    world.run(until: { app.isReady }, limit: .seconds(20))
    app.subscribe("2A37")
    world.run(for: .milliseconds(3_500))
    try world.finishCapture()
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func write(_ text: String, to name: String) throws {
    try text.write(toFile: path + "/" + name, atomically: true, encoding: .utf8)
  }

  /// Returns the errors of a file in the folder.
  func complaint(_ name: String) -> String? {
    do throws(WorldFileFailure) {
      _ = try WorldFile(path: path + "/" + name)
      return nil
    } catch { return error.description.replacing(path + "/", with: "") }
  }
}

@Suite("World files: recordings")
struct RecordingFileTests {
  /// Returns the values of a characteristic that an app gets from the first device of a world file in 5 s.
  private func values(of uuid: String, in file: WorldFile) async -> [[UInt8]] {
    let world = World(seed: 3)
    file.populate(world)
    var plan = PhoneApp.Plan.explore
    plan.name = "Strap"
    let app = PhoneApp(on: world.makeDevice(named: "phone", at: Position(x: 1)), plan)
    #expect(await world.run(until: { app.isReady }, limit: .seconds(20)))
    app.subscribe(uuid)
    await world.run(for: .seconds(5))
    return app.values(of: uuid)
  }

  @Test("A device of a world file replays a capture beside the file, and begins with a subscription if it shall")
  func capture() async throws {
    let folder = try RecordingFolder()
    try folder.write(
      "devices: [{name: copy, accessory: {kind: recording, file: session.pcapng, start: subscription}}]", to: "w.yaml")
    let values = await values(of: "2A37", in: try WorldFile(path: folder.path + "/w.yaml"))
    #expect(values == [[0x0E, 61, 1, 0], [0x0E, 61, 2, 0], [0x0E, 61, 3, 0]])
  }

  @Test("A device of a world file plays the device of another file, which may have no recordings itself")
  func clone() async throws {
    let folder = try RecordingFolder()
    try folder.write(
      """
      devices:
        - name: Strap
          accessory:
            kind: peripheral
            services:
              - uuid: 180D
                characteristics: [{uuid: 2A37, properties: [notify], values: ["0050", "0051"], notifyPeriod: 1}]
        - {name: other, accessory: battery}
      """, to: "clone.yaml")
    try folder.write(
      "devices: [{name: a, accessory: {kind: recording, file: clone.yaml, device: Strap}}]", to: "w.yaml")
    let values = await values(of: "2A37", in: try WorldFile(path: folder.path + "/w.yaml"))
    #expect(values.prefix(3) == [[0, 0x51], [0, 0x50], [0, 0x51]])
    let recording = try DeviceRecording(file: folder.path + "/clone.yaml", device: "other")
    #expect(recording.name == "other" && recording.notes.isEmpty)
    try folder.write("devices: [{name: a, accessory: {kind: recording, file: clone.yaml}}]", to: "two.yaml")
    #expect(
      folder.complaint("two.yaml")
        == "two.yaml:1:56: devices[0].accessory.file: clone.yaml: expected one device, got 2: \"Strap\", \"other\"")
    try folder.write("devices: [{name: a, accessory: {kind: recording, file: w.yaml}}]", to: "nested.yaml")
    #expect(
      folder.complaint("nested.yaml")
        == "nested.yaml:1:56: devices[0].accessory.file: w.yaml:1:56: devices[0].accessory.file: "
        + "a file that is a recording itself can't name another recording")
  }

  @Test("A recording that can't be read is an error at its field")
  func errors() throws {
    let folder = try RecordingFolder()
    let line = "devices: [{name: a, accessory: {kind: recording, file: "
    try folder.write(line + "none.pcapng}}]", to: "w.yaml")
    #expect(
      folder.complaint("w.yaml")
        == "w.yaml:1:56: devices[0].accessory.file: none.pcapng: can't read the file: No such file or directory")
    try folder.write(line + "session.pcapng, device: Bike}}]", to: "w.yaml")
    #expect(
      folder.complaint("w.yaml")
        == "w.yaml:1:56: devices[0].accessory.file: session.pcapng: the capture has no device \"Bike\"")
    try folder.write("devices: [{name: a, accessory: recording}]", to: "w.yaml")
    #expect(folder.complaint("w.yaml")?.contains("\"recording\" requires \"file\"") == true)
  }
}
