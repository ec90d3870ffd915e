import BluetoothAir
import BluetoothLab
import Foundation
import Testing

/// The messages between the server of a page and its viewers.
@Suite(.timeLimit(.minutes(5))) struct PageMessageTests {
  private static let strap = "devices: [{name: strap, position: {x: 3}, accessory: heart-rate}]"

  @Test("A viewer gets a greeting, the whole world, and then what changes")
  func beginning() async throws {
    try await withPage(Self.strap + "\nenvironment: office") { _, page in
      let viewer = try page.viewer()
      let hello = try viewer.message()
      #expect(hello["type"] as? String == "hello" && hello["protocol"] as? Int == 1)
      #expect(hello["time"] as? String == "real")
      let features = try #require(hello["features"] as? [String])
      #expect(features.contains("move") && features.contains("step") && !features.contains("apps"))
      #expect((hello["kinds"] as? [String])?.contains("thermometer") ?? false)
      let world = try viewer.message()
      #expect(world["type"] as? String == "world" && world["paused"] as? Bool == false)
      #expect((world["environment"] as? [String: Any])?["margin"] as? Double == 23)
      let devices = try #require(world["devices"] as? [[String: Any]])
      let strap = try #require(devices.first)
      #expect(devices.count == 1 && strap["name"] as? String == "strap")
      #expect(strap["kind"] as? String == "HeartRateSensor" && strap["role"] as? String == "accessory")
      #expect(strap["position"] as? [Double] == [3, 0, 0])
      #expect(strap["radio"] as? Bool == true)
      #expect(strap["addressKind"] as? String == "random")
      let tick = try viewer.message("tick")
      #expect(try #require(tick["time"] as? Double) > 0)
    }
  }

  @Test("Packets, their channels and the advertising data of their sender are shown; details have octets and fields")
  func packets() async throws {
    try await withPage(Self.strap, speed: 10) { _, page in
      let viewer = try page.viewer()
      let tick = try viewer.message("tick") { $0["packets"] != nil }
      let packets = try #require(tick["packets"] as? [[String: Any]])
      let packet = try #require(packets.first { $0["name"] as? String == "ADV_IND" })
      #expect(packet["sender"] as? String == "strap" && packet["kind"] as? String == "advertising")
      #expect(packet["outcome"] as? String == "unheard" && packet["phy"] as? String == "1M")
      let channel = try #require(packet["channel"] as? Int)
      #expect((37...39).contains(channel))
      #expect([2402, 2426, 2480][channel - 37] == packet["frequency"] as? Int)
      let use = try #require(tick["channels"] as? [[Int]])
      #expect(use.contains { $0[0] == channel && $0[1] > 0 && $0[2] > 0 && $0[3] == 0 })
      #expect(try #require((tick["pulses"] as? [String: Int])?["strap"]) > 0)
      #expect(try #require((tick["airTime"] as? [String: Int])?["strap"]) > 0)
      let strap = try viewer.device("strap") { $0["advertising"] != nil && $0["counts"] != nil }
      let advertising = try #require(strap["advertising"] as? [String: Any])
      #expect(advertising["connectable"] as? Bool == true)
      let services = try #require(advertising["services"] as? [[String: Any]])
      #expect(services.contains { $0["uuid"] as? String == "180D" && $0["name"] as? String == "Heart Rate" })
      #expect((strap["energy"] as? [String: Any])?["averageMilliamperes"] as? Double ?? 0 > 0)
      let number = try #require(packet["number"] as? Int)
      let answer = try viewer.ask(#""ask":"packet","number":\#(number)"#)
      let details = try #require(answer["packet"] as? [String: Any])
      #expect((details["octets"] as? String)?.hasPrefix("d6be898e") ?? false)
      let fields = try #require(details["fields"] as? [[String: Any]])
      #expect(fields.map { $0["name"] as? String } == ["Access address", "Header", "Payload", "CRC"])
      #expect(fields.first?["value"] as? String == "0x8E89BED6")
      #expect(try viewer.ask(#""ask":"packet","number":999999999"#)["error"] != nil)
    }
  }

  @Test("The kept packets can be downloaded as a pcapng file")
  func capture() async throws {
    try await withPage(Self.strap, speed: 10) { _, page in
      let viewer = try page.viewer()
      _ = try viewer.message("tick") { $0["packets"] != nil }
      let answer = try page.octets(page.path + "capture.pcapng")
      let text = String(decoding: answer, as: UTF8.self)
      #expect(text.hasPrefix("HTTP/1.1 200 ") && text.contains("air.pcapng"))
      // The section header, and the comment on a packet.
      #expect(answer.contains([0x0A, 0x0D, 0x0D, 0x0A]))
      #expect(text.contains("strap → nobody"))
    }
  }

  @Test("Requests change the air: place, radio, power, faults, speed, steps, new devices")
  func requests() async throws {
    try await withPage(Self.strap) { air, page in
      let viewer = try page.viewer()
      try viewer.request(#""verb":"move","device":"strap","position":[1,-2.5,0.25]"#)
      _ = try viewer.device("strap") { $0["position"] as? [Double] == [1, -2.5, 0.25] }
      try viewer.request(#""verb":"radio","device":"strap","on":false"#)
      _ = try viewer.device("strap") { $0["radio"] as? Bool == false }
      try viewer.request(#""verb":"radio","device":"strap","on":true"#)
      _ = try viewer.device("strap") { $0["radio"] as? Bool == true }
      try viewer.request(#""verb":"power","device":"strap","on":false"#)
      _ = try viewer.device("strap") { $0["power"] as? Bool == false }
      try viewer.request(#""verb":"power","device":"strap","on":true"#)
      _ = try viewer.device("strap") { $0["power"] as? Bool == true }

      let fault = #"{"layer":"air","fault":"lose","from":"strap","percent":10}"#
      try viewer.request(#""verb":"faults","plan":{"faults":[\#(fault)]}"#)
      let tick = try viewer.message("tick") { $0["faults"] != nil }
      #expect((tick["faults"] as? [[String: Any]])?.first?["percent"] as? Double == 10)
      let plan = try #require(try viewer.request(#""verb":"faults""#)["text"] as? String)
      #expect(try WorldFile(text: Self.strap + "\n" + plan).faults.faults.count == 1)
      try viewer.request(#""verb":"fault""#)
      _ = try viewer.message("tick") { ($0["faults"] as? [Any])?.isEmpty ?? false }

      try viewer.request(#""verb":"add","text":"name: hall\nposition: {x: 7}\naccessory: thermometer""#)
      let hall = try viewer.device("hall")
      #expect(hall["position"] as? [Double] == [7, 0, 0])
      #expect(air.world.deviceNames == ["strap", "hall"])
      #expect(try viewer.ask(#""request":{"verb":"add","text":"name: hall\naccessory: thermometer"}"#)["error"] != nil)
      #expect(try viewer.ask(#""request":{"verb":"add","text":"name: x\naccessory: toaster"}"#)["error"] != nil)

      let saved = try #require(try viewer.request(#""verb":"save""#)["text"] as? String)
      let file = try WorldFile(text: saved)
      #expect(file.members.map(\.name) == ["strap", "hall"])
      #expect(file.members.map(\.options.position) == [Position(x: 1, y: -2.5, z: 0.25), Position(x: 7)])

      #expect(try viewer.ask(#""request":{"verb":"step","device":"strap"}"#)["error"] as? String != nil)
      try viewer.request(#""verb":"speed","speed":0"#)
      _ = try viewer.message("tick") { $0["paused"] as? Bool == true }
      let first = try #require(try viewer.request(#""verb":"step","device":"strap""#)["time"] as? Double)
      let second = try #require(try viewer.request(#""verb":"step","device":"strap""#)["time"] as? Double)
      #expect(second > first)
      #expect(air.world.now.seconds == second)
      try viewer.request(#""verb":"speed","speed":2"#)
      _ = try viewer.message("tick") { $0["speed"] as? Double == 2 }
    }
  }

  @Test(
    "A message that can't be carried out is answered with the reason",
    arguments: [
      ("not JSON", "invalid message"), (#"{"id":1}"#, "expected one of request, ask and app"),
      (#"{"id":1,"request":{"verb":"stop"}}"#, "the page can't use the verb stop"),
      (#"{"id":1,"request":{"verb":"capture","path":"/tmp/x"}}"#, "the page can't use the verb capture"),
      (#"{"id":1,"request":{"verb":"move","device":"none","position":[1]}}"#, "no device"),
      (#"{"id":1,"request":{"verb":"move","device":"strap","position":[1],"x":2}}"#, "unknown field"),
      (#"{"id":1,"request":{"verb":"speed","speed":-1}}"#, "speed: expected"),
      (#"{"id":1,"request":{"verb":"run","seconds":1}}"#, "virtual time"),
      (#"{"id":1,"app":{"name":"x","do":"quit"}}"#, "serves no apps"),
      (#"{"id":1,"ask":"packet"}"#, "number: missing field"),
    ])
  func refused(message: String, reason: String) async throws {
    try await withPage(Self.strap) { _, page in
      let viewer = try page.viewer()
      viewer.send(message)
      let answer = try viewer.message("answer")
      let text = try #require(answer["error"] as? String)
      #expect(text.contains(reason), "\(text)")
      // The connection goes on.
      try viewer.request(#""verb":"move","device":"strap","position":[1]"#)
    }
  }

  @Test("Names of markup, control and bidirectional characters arrive as they are, in JSON strings")
  func hostileNames() async throws {
    let name = "</script><img src=x onerror=alert(1)>\"\n\u{1B}[31m\u{202E}\u{2066}\u{0}end"
    let world = World(seed: 1, time: .real(speed: 10))
    world.add(Broadcaster(Advertising()), named: name)
    try await withPage(of: world) { _, page in
      let viewer = try page.viewer()
      var text = try #require(viewer.text())
      while !text.contains("onerror") { text = try #require(viewer.text()) }
      #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x202A...0x2069).contains($0.value) })
      try viewer.request(#""verb":"move","device":"\#(Self.escaped(name))","position":[9]"#)
      let device = try viewer.device(name) { $0["position"] as? [Double] == [9, 0, 0] }
      #expect(device["name"] as? String == name)
    }
  }

  /// Returns the text as in a JSON string.
  private static func escaped(_ text: String) -> String {
    text.utf16.map { unit in
      let digits = String(unit, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }.joined()
  }

  @Test("The page of a world in virtual time shows what a run does, and its requests are carried out in the run")
  func virtualTime() async throws {
    let world = World(seed: 1)
    world.add(HeartRateSensor(), named: "strap")
    try await withPage(of: world) { _, page in
      let viewer = try page.viewer()
      let hello = try viewer.message()
      #expect(hello["time"] as? String == "virtual")
      world.run(for: .seconds(1))
      let state = try viewer.message("world")
      #expect((state["devices"] as? [[String: Any]])?.first?["name"] as? String == "strap")
      try viewer.request(#""verb":"move","device":"strap","position":[4]"#)
      #expect(try viewer.ask(#""request":{"verb":"devices"}"#)["error"] as? String == "the world runs in virtual time")
      // A tick asks the world for its state when the world runs the next time.
      while true {
        world.run(for: .seconds(1))
        let devices = try viewer.message("tick")["devices"] as? [[String: Any]] ?? []
        if devices.contains(where: { $0["position"] as? [Double] == [4, 0, 0] }) { break }
      }
    }
  }
}

/// The page's central, by which viewers read, write and subscribe.
@Suite(.timeLimit(.minutes(5))) struct PageAttributeTests {
  @Test("A viewer opens a device, reads its values, writes one, and gets those to which it subscribes")
  func attributes() async throws {
    try await withPage("devices: [{name: strap, accessory: heart-rate}]", speed: 5) { _, page in
      let viewer = try page.viewer()
      _ = try viewer.device("strap") { $0["advertising"] != nil }
      let tree = try #require(try viewer.request(#""verb":"open","device":"strap""#)["gatt"] as? [String: Any])
      let services = try #require(tree["services"] as? [[String: Any]])
      let service = try #require(services.first { $0["uuid"] as? String == "180D" })
      #expect(service["name"] as? String == "Heart Rate")
      let all = services.flatMap { $0["characteristics"] as? [[String: Any]] ?? [] }
      let measurement = try #require(all.first { $0["uuid"] as? String == "2A37" })
      #expect(measurement["properties"] as? [String] == ["notify"] && measurement["subscribed"] as? Bool == false)
      let handle = try #require(measurement["handle"] as? Int)
      try viewer.request(#""verb":"subscribe","device":"strap","handle":\#(handle),"on":true"#)
      let values = try #require(try viewer.message("tick") { $0["values"] != nil }["values"] as? [[String: Any]])
      #expect(values.first?["device"] as? String == "strap" && values.first?["handle"] as? Int == handle)
      #expect((values.first?["text"] as? String)?.contains("bpm") ?? false, "\(values)")
      let link = try viewer.message("tick") { $0["links"] != nil }
      let links = try #require(link["links"] as? [[String: Any]])
      #expect(links.first?["peripheral"] as? String == "strap" && links.first?["central"] as? String == "page")
      let location = try #require(all.first { $0["uuid"] as? String == "2A38" }?["handle"] as? Int)
      let value = try viewer.request(#""verb":"read","device":"strap","handle":\#(location)"#)["value"] as? String
      #expect(value?.count == 2)
      let point = try #require(all.first { $0["uuid"] as? String == "2A39" }?["handle"] as? Int)
      // Reset Energy Expended.
      try viewer.request(#""verb":"write","device":"strap","handle":\#(point),"value":"01""#)
      let refused =
        try viewer.ask(
          #""request":{"verb":"write","device":"strap","handle":\#(point),"value":"77"}"#)["error"] as? String
      #expect(refused?.contains("the device answered") ?? false)
      #expect(try viewer.ask(#""request":{"verb":"write","device":"strap","handle":1,"value":"7"}"#)["error"] != nil)
      try viewer.request(#""verb":"close","device":"strap""#)
      _ = try viewer.message("tick") { $0["ended"] != nil }
      #expect(try viewer.ask(#""request":{"verb":"read","device":"strap","handle":3}"#)["error"] != nil)
    }
  }
}

/// The page runs a world in virtual time.
@Suite(.timeLimit(.minutes(5))) struct PageRunTests {
  @Test("A program lets a viewer run the world: for a time, until a state, with a speed; then the program goes on")
  func run() async throws {
    let world = World(seed: 1)
    world.add(HeartRateSensor(), named: "strap")
    try await withPage(of: world) { server, page in
      let viewer = try page.viewer()
      _ = try viewer.message("hello")
      #expect(try viewer.ask(#""request":{"verb":"run","seconds":1}"#)["error"] != nil)
      let isOver = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        server.runWorld()
        isOver.signal()
      }
      // The world stands still, but its state is shown.
      let state = try viewer.message("world")
      #expect(state["time"] as? Double == 0 && state["paused"] as? Bool == true)
      #expect(try viewer.request(#""verb":"run","seconds":2.5"#)["time"] as? Double == 2.5)
      let until = try viewer.request(#""verb":"run","seconds":60,"device":"strap","until":"noLink""#)
      #expect(until["time"] as? Double == 2.5)
      let never = try viewer.request(#""verb":"run","seconds":1,"device":"strap","until":"link""#)
      #expect(never["time"] as? Double == 3.5 && never["note"] as? String == "the state was not reached")
      try viewer.request(#""verb":"speed","speed":100"#)
      _ = try viewer.message("tick") { $0["time"] as? Double ?? 0 > 10 }
      try viewer.request(#""verb":"stop""#)
      isOver.wait()
      #expect(world.now > .seconds(10))
      #expect(try viewer.ask(#""request":{"verb":"run","seconds":1}"#)["error"] != nil)
    }
  }
}

/// The limits of viewers.
@Suite(.timeLimit(.minutes(5))) struct PageViewerTests {
  @Test("Twenty viewers get every tick; another one is told why it is refused, and has a place when one leaves")
  func manyViewers() async throws {
    try await withPage("devices: [{name: strap, accessory: battery}]") { _, page in
      var viewers = try (0..<20).map { _ in try page.viewer() }
      for viewer in viewers { _ = try viewer.message("world") }
      let refused = try page.viewer()
      let reason = try refused.message("bye")["reason"] as? String
      #expect(reason?.hasPrefix("too many viewers") ?? false)
      #expect(refused.text() == nil)
      let tick = try #require(try viewers[0].message("tick")["time"] as? Double)
      #expect(try viewers[19].message("tick")["time"] as? Double ?? 0 > 0 && tick > 0)
      viewers.removeFirst()
      // The server notices the end of the connection in its own time.
      var isAdmitted = false
      while !isAdmitted { isAdmitted = try page.viewer().message()["type"] as? String == "hello" }
    }
  }

  @Test("A viewer that stops reading is cut off, and the others go on")
  func slowViewer() async throws {
    let devices = (0..<100).map { "{name: device number \($0), accessory: battery}" }.joined(separator: ", ")
    try await withPage("devices: [\(devices)]") { _, page in
      let (slow, other) = (try page.viewer(), try page.viewer())
      // The answers have more octets than the backlog and the buffers of the system.
      let count = 4_000
      for number in 0..<count { slow.send(#"{"id":\#(number),"request":{"verb":"devices"}}"#) }
      var event = pollfd(fd: slow.connection.descriptor, events: Int16(POLLRDHUP), revents: 0)
      #expect(poll(&event, 1, 120_000) == 1)
      var answers = 0
      while let text = slow.text() { answers += text.contains(#""type":"answer""#) ? 1 : 0 }
      #expect(answers < count)
      _ = try other.message("tick")
      try other.request(#""verb":"devices""#)
    }
  }

  @Test("A message of more than 65,536 octets ends the connection")
  func longMessage() async throws {
    try await withPage { _, page in
      let viewer = try page.viewer()
      viewer.send(#"{"id":1,"ask":"\#(String(repeating: "x", count: 70_000))"}"#)
      while viewer.text() != nil {}
    }
  }

  @Test("When the air ends, its viewers are told so")
  func end() async throws {
    try await withPage { air, page in
      let viewer = try page.viewer()
      _ = try viewer.message("world")
      try air.stop()
      #expect(try viewer.message("bye")["reason"] as? String == "the air ended")
      #expect(viewer.text() == nil)
    }
  }
}
