import BluetoothAir
import BluetoothLab
import Foundation
import TestSupport
import Testing

/// Devices that viewers of a page, or the control socket, take off the air, and links that end.
@Suite(.timeLimit(.minutes(5))) struct PageRemovalTests {
  private static let world = """
    devices:
      - {name: strap, accessory: heart-rate}
      - {name: hall, position: [7, 0], accessory: thermometer}
    faults:
      - {layer: air, fault: lose, from: hall, percent: 10}
      - {layer: air, fault: lose, from: strap, percent: 1}
    """

  @Test("A removed device leaves the page, the lists and the saved world, and its name stays in use")
  func removal() async throws {
    try await withPage(Self.world) { _, page in
      let viewer = try page.viewer()
      _ = try viewer.device("hall") { $0["advertising"].isThere }
      try viewer.request(#""verb":"remove","device":"hall""#)
      #expect(try viewer.message("tick") { $0["removed"].isThere }["removed"].texts == ["hall"])
      let devices = try viewer.request(#""verb":"devices""#)["devices"].list
      #expect(devices.map { $0["name"].text } == ["strap"])
      #expect(try viewer.request(#""verb":"stats""#)["statistics"].list.map { $0["name"].text } == ["strap"])
      let saved = try WorldFile(text: #require(try viewer.request(#""verb":"save""#)["text"].text))
      #expect(saved.members.map(\.name) == ["strap"])
      #expect(saved.faults.faults.count == 1)
      for request in [
        #""verb":"remove","device":"hall""#, #""verb":"power","device":"hall","on":true"#,
        #""verb":"open","device":"hall""#, #""verb":"add","text":"{name: hall, accessory: battery}""#,
      ] {
        #expect(try viewer.ask(#""request":{\#(request)}"#)["error"].isThere, "\(request)")
      }
      // A viewer that comes later knows nothing of it.
      let later = try page.viewer()
      #expect(try later.message("world")["devices"].list.map { $0["name"].text } == ["strap"])
    }
  }

  @Test("A device that is removed sends nothing, and its peer notices by the supervision timeout")
  func link() async throws {
    try await withPage("devices: [{name: strap, accessory: heart-rate}]", speed: 5) { _, page in
      let viewer = try page.viewer()
      let power = try viewer.device("strap") { $0["advertising"].isThere }["transmitPower"].number
      #expect(power == 0)
      try viewer.request(#""verb":"open","device":"strap""#)
      let id = try #require(try viewer.message("tick") { $0["links"].isThere }["links"][0]["id"].text)
      #expect(try viewer.ask(#""request":{"verb":"remove","device":"page"}"#)["error"].isThere)
      try viewer.request(#""verb":"remove","device":"strap""#)
      let ended = try viewer.message("tick") { $0["ended"].isThere }["ended"][0]
      #expect(ended["id"].text == id)
      #expect(ended["reasons"].list.map { $0["device"].text } == ["page"])
      #expect(ended["reasons"][0]["code"].number == 8)
      #expect(ended["reasons"][0]["text"].text?.hasPrefix("Connection Timeout") ?? false)
    }
  }

  @Test("Both ends of a link tell why it has ended")
  func reasons() async throws {
    try await withPage("devices: [{name: strap, accessory: heart-rate}]", speed: 5) { _, page in
      let viewer = try page.viewer()
      _ = try viewer.device("strap") { $0["advertising"].isThere }
      try viewer.request(#""verb":"open","device":"strap""#)
      _ = try viewer.message("tick") { $0["links"].isThere }
      try viewer.request(#""verb":"close","device":"strap""#)
      let reasons = try viewer.message("tick") { $0["ended"].isThere }["ended"][0]["reasons"].list
      let codes = Dictionary(reasons.map { ($0["device"].text ?? "", $0["code"].number ?? 0) }) { first, _ in first }
      // Terminated by the local host, and by the user of the other device.
      #expect(codes == ["page": 0x16, "strap": 0x13])
    }
  }

  @Test("A world in virtual time removes a device in a run, but no device with apps")
  func virtualTime() async throws {
    let world = World(seed: 1)
    world.add(HeartRateSensor(), named: "strap")
    let phone = world.makeDevice(named: "phone")
    try await withPage(of: world) { server, page in
      let isOver = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        server.runWorld()
        isOver.signal()
      }
      let viewer = try page.viewer()
      let refused = try viewer.ask(#""request":{"verb":"remove","device":"phone"}"#)
      #expect(refused["error"].text?.contains("a device with apps") ?? false)
      try viewer.request(#""verb":"remove","device":"strap""#)
      #expect(try viewer.message("tick") { $0["removed"].isThere }["removed"].texts == ["strap"])
      let before = try #require(try viewer.request(#""verb":"run","seconds":5"#)["time"].number)
      #expect(before >= 5)
      try viewer.request(#""verb":"stop""#)
      isOver.wait()
    }
    // It may have sent its first packet before, at the time 0.
    #expect(world.statistics.devices[0].transmitted.packets <= 1)
    withExtendedLifetime(phone) {}
  }
}
