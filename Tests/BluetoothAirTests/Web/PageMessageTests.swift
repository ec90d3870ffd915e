import BluetoothAir
import BluetoothLab
import Foundation
import TestSupport
import Testing

/// The messages between the server of a page and its viewers.
@Suite(.timeLimit(.minutes(5))) struct PageMessageTests {
  private static let strap = "devices: [{name: strap, position: [3, 0], accessory: heart-rate}]"

  @Test("A viewer gets a greeting, the whole world, and then what changes")
  func beginning() async throws {
    try await withPage(Self.strap + "\nenvironment: office") { _, page in
      let viewer = try page.viewer()
      let hello = try viewer.message()
      #expect(hello["type"].text == "hello" && hello["protocol"].number == 1)
      #expect(hello["time"].text == "real")
      let features = hello["features"].texts
      #expect(features.contains("move") && features.contains("step") && !features.contains("apps"))
      #expect(hello["kinds"].texts.contains("thermometer"))
      let world = try viewer.message()
      #expect(world["type"].text == "world" && world["paused"].flag == false)
      #expect(world["environment"]["margin"].number == 23)
      let strap = world["devices"][0]
      #expect(world["devices"].list.count == 1 && strap["name"].text == "strap")
      #expect(strap["kind"].text == "HeartRateSensor" && strap["role"].text == "accessory")
      #expect(strap["position"].numbers == [3, 0, 0])
      #expect(strap["radio"].flag == true)
      #expect(strap["addressKind"].text == "random")
      let tick = try viewer.message("tick")
      #expect(tick["time"].number ?? 0 > 0)
    }
  }

  @Test("Packets, their channels and the advertising data of their sender are shown")
  func packets() async throws {
    try await withPage(Self.strap, speed: 10) { _, page in
      let viewer = try page.viewer()
      let tick = try viewer.message("tick") { $0["packets"].isThere }
      let packet = try #require(tick["packets"].list.first { $0["name"].text == "ADV_IND" })
      #expect(packet["sender"].text == "strap" && packet["kind"].text == "advertising")
      #expect(packet["outcome"].text == "unheard" && packet["phy"].text == "1M")
      let channel = try #require(packet["channel"].number)
      let frequencies: [Double: Double] = [37: 2402, 38: 2426, 39: 2480]
      #expect(frequencies[channel] == packet["frequency"].number)
      let use = try #require(tick["channels"].list.map(\.numbers).first { $0.first == channel })
      #expect(use.count == 5 && use[1] > 0 && use[2] > 0 && use[3] == 0 && use[4] == 0)
      #expect(tick["pulses"]["strap"].number ?? 0 > 0)
      #expect(tick["airTime"]["strap"].number ?? 0 > 0)
      let strap = try viewer.device("strap") { $0["advertising"].isThere && $0["counts"].isThere }
      #expect(strap["advertising"]["connectable"].flag == true)
      let service = try #require(strap["advertising"]["services"].list.first { $0["uuid"].text == "180D" })
      #expect(service["name"].text == "Heart Rate")
      #expect(strap["energy"]["averageMilliamperes"].number ?? 0 > 0)
    }
  }

  @Test("The details of a packet have its octets and the tree of its fields")
  func details() async throws {
    try await withPage(Self.strap, speed: 10) { _, page in
      let viewer = try page.viewer()
      let tick = try viewer.message("tick") { $0["packets"].isThere }
      let number = try #require(tick["packets"][0]["number"].number)
      let packet = try viewer.ask(#""ask":"packet","number":\#(Int(number))"#)["packet"]
      let octets = try #require(packet["octets"].text)
      #expect(octets.hasPrefix("d6be898e"))
      let fields = packet["fields"].list
      #expect(fields.map { $0["name"].text } == ["Access address", "Header", "Payload", "CRC"])
      #expect(fields[0]["value"].text == "0x8E89BED6")
      // The fields cover all octets, in order.
      #expect(fields.map { $0["from"].number ?? -1 } == [0] + fields.dropLast().map { $0["to"].number ?? -2 })
      #expect(fields[3]["to"].number == Double(octets.count / 2))
      let payload = fields[2]["fields"].list
      #expect(payload.first?["name"].text == "AdvA")
      #expect(payload.contains { $0["name"].text == "Complete list of services" })
      #expect(try viewer.ask(#""ask":"packet","number":999999999"#)["error"].isThere)
    }
  }

  @Test("Packets that are on a channel at the same time are marked as collided, and counted by channel")
  func collisions() async throws {
    let devices = (0..<80).map { "{name: d\($0), accessory: battery}" }.joined(separator: ", ")
    try await withPage("devices: [\(devices)]", speed: 2) { _, page in
      let viewer = try page.viewer()
      let tick = try viewer.message("tick") { $0["packets"].list.contains { $0["collided"].flag == true } }
      #expect(tick["channels"].list.contains { $0[4].number ?? 0 > 0 && $0[4].number ?? 0 <= $0[2].number ?? 0 })
      let packets = tick["packets"].list
      for (index, one) in packets.enumerated() {
        for other in packets[(index + 1)...] where one["channel"] == other["channel"] {
          let (first, second) = try (Self.times(of: one), Self.times(of: other))
          guard first.overlaps(second) else { continue }
          #expect(one["collided"].flag == true && other["collided"].flag == true, "\(one) \(other)")
        }
      }
    }
  }

  /// Returns the time of a packet in nanoseconds.
  private static func times(of packet: PageValue) throws -> Range<Int> {
    let start = Int((try #require(packet["time"].number) * 1e9).rounded())
    return start..<start + Int((try #require(packet["airTime"].number) * 1e3).rounded())
  }

  @Test("The kept packets can be downloaded as a pcapng file")
  func capture() async throws {
    try await withPage(Self.strap, speed: 10) { _, page in
      let viewer = try page.viewer()
      _ = try viewer.message("tick") { $0["packets"].isThere }
      let answer = try page.octets(page.path + "capture.pcapng")
      let text = String(decoding: answer, as: UTF8.self)
      #expect(text.hasPrefix("HTTP/1.1 200 ") && text.contains("air.pcapng"))
      // The section header, and the comment on a packet.
      #expect(answer.contains([0x0A, 0x0D, 0x0D, 0x0A]))
      #expect(text.contains("strap → nobody"))
    }
  }

  @Test("Requests change the air: place, radio, power and faults")
  func requests() async throws {
    try await withPage(Self.strap) { _, page in
      let viewer = try page.viewer()
      try viewer.request(#""verb":"move","device":"strap","position":[1,-2.5,0.25]"#)
      _ = try viewer.device("strap") { $0["position"].numbers == [1, -2.5, 0.25] }
      for isOn in [false, true] {
        try viewer.request(#""verb":"radio","device":"strap","on":\#(isOn)"#)
        _ = try viewer.device("strap") { $0["radio"].flag == isOn }
        try viewer.request(#""verb":"power","device":"strap","on":\#(isOn)"#)
        _ = try viewer.device("strap") { $0["power"].flag == isOn }
      }
      let fault = #"{"layer":"air","fault":"lose","from":"strap","percent":10}"#
      try viewer.request(#""verb":"faults","plan":{"faults":[\#(fault)]}"#)
      let tick = try viewer.message("tick") { $0["faults"].isThere }
      #expect(tick["faults"][0]["percent"].number == 10)
      let plan = try #require(try viewer.request(#""verb":"faults""#)["text"].text)
      #expect(try WorldFile(text: Self.strap + "\n" + plan).faults.faults.count == 1)
      try viewer.request(#""verb":"fault""#)
      _ = try viewer.message("tick") { $0["faults"] == .list([]) }
    }
  }

  @Test("A viewer adds a device and saves the air as a world file")
  func newDevices() async throws {
    try await withPage(Self.strap) { air, page in
      let viewer = try page.viewer()
      try viewer.request(#""verb":"add","text":"name: hall\nposition: [7, 0]\naccessory: thermometer""#)
      let hall = try viewer.device("hall")
      #expect(hall["position"].numbers == [7, 0, 0])
      #expect(air.world.deviceNames == ["strap", "hall"])
      for text in [
        #"name: hall\naccessory: thermometer"#, #"name: x\naccessory: toaster"#,
        #"name: x\naccessory: {kind: recording, file: /etc/passwd}"#,
        #"name: x\naccessory: battery\n- name: y\n  accessory: battery"#,
      ] {
        let answer = try viewer.ask(#""request":{"verb":"add","text":"\#(text)"}"#)
        #expect(answer["error"].isThere, "\(text)")
      }
      try viewer.request(#""verb":"move","device":"strap","position":[1,-2.5,0.25]"#)
      let saved = try #require(try viewer.request(#""verb":"save""#)["text"].text)
      let file = try WorldFile(text: saved)
      #expect(file.members.map(\.name) == ["strap", "hall"])
      #expect(file.members.map(\.options.position) == [Position(x: 1, y: -2.5, z: 0.25), Position(x: 7)])
    }
  }

  @Test("A viewer pauses the air, moves it packet by packet, and changes its speed")
  func time() async throws {
    try await withPage(Self.strap) { air, page in
      let viewer = try page.viewer()
      #expect(try viewer.ask(#""request":{"verb":"step","device":"strap"}"#)["error"].isThere)
      try viewer.request(#""verb":"speed","speed":0"#)
      _ = try viewer.message("tick") { $0["paused"].flag == true }
      let first = try #require(try viewer.request(#""verb":"step","device":"strap""#)["time"].number)
      let second = try #require(try viewer.request(#""verb":"step","device":"strap""#)["time"].number)
      #expect(second > first)
      #expect(abs(air.world.now.seconds - second) < 1e-9)
      try viewer.request(#""verb":"speed","speed":2"#)
      _ = try viewer.message("tick") { $0["speed"].number == 2 && $0["paused"].flag == false }
    }
  }

  @Test("A long step during which the page collects its state disturbs no later packet")
  func longStep() async throws {
    let devices = (0..<60).map { "{name: d\($0), accessory: battery}" }.joined(separator: ", ")
    try await withPage("devices: [\(devices)]") { _, page in
      let viewer = try page.viewer()
      try viewer.request(#""verb":"power","device":"d0","on":false"#)
      try viewer.request(#""verb":"speed","speed":0"#)
      _ = try viewer.message("tick") { $0["paused"].flag == true }
      for _ in 0..<3 {
        let answer = try viewer.ask(#""request":{"verb":"step","device":"d0"}"#)
        #expect(answer["error"].text == "no packet within 10 s of radio time")
        try viewer.request(#""verb":"step""#)
      }
      try viewer.request(#""verb":"speed","speed":1"#)
      _ = try viewer.message("tick") { $0["paused"].flag == false && $0["packets"].isThere }
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
      (#"{"id":1,"request":{"verb":"open","device":"none"}}"#, "expected a device of the air"),
      (#"{"id":1,"app":{"name":"x","do":"quit"}}"#, "serves no apps"),
      (#"{"id":1,"ask":"packet"}"#, "number: missing field"),
    ])
  func refused(message: String, reason: String) async throws {
    try await withPage(Self.strap) { _, page in
      let viewer = try page.viewer()
      viewer.send(message)
      let text = try #require(try viewer.message("answer")["error"].text)
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
      let device = try viewer.device(name) { $0["position"].numbers == [9, 0, 0] }
      #expect(device["name"].text == name)
    }
  }

  /// Returns the text as in a JSON string.
  private static func escaped(_ text: String) -> String {
    text.utf16.map { unit in
      let digits = String(unit, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }.joined()
  }
}

/// The page's central, by which viewers read, write and subscribe.
@Suite(.timeLimit(.minutes(5))) struct PageAttributeTests {
  @Test("A viewer opens a device, reads its values, writes one, and gets those to which it subscribes")
  func attributes() async throws {
    try await withPage("devices: [{name: strap, accessory: heart-rate}]", speed: 5) { _, page in
      let viewer = try page.viewer()
      _ = try viewer.device("strap") { $0["advertising"].isThere }
      let services = try viewer.request(#""verb":"open","device":"strap""#)["gatt"]["services"].list
      #expect(services.contains { $0["uuid"].text == "180D" && $0["name"].text == "Heart Rate" })
      let all = services.flatMap { $0["characteristics"].list }
      var handles: [String: Int] = [:]
      for characteristic in all {
        handles[characteristic["uuid"].text ?? ""] = characteristic["handle"].number.map { Int($0) }
      }
      let heartRate = try #require(handles["2A37"])
      let bodyLocation = try #require(handles["2A38"])
      let point = try #require(handles["2A39"])
      let measurement = try #require(all.first { $0["uuid"].text == "2A37" })
      #expect(measurement["properties"].texts == ["notify"] && measurement["subscribed"].flag == false)
      try viewer.request(#""verb":"subscribe","device":"strap","handle":\#(heartRate),"on":true"#)
      let value = try viewer.message("tick") { $0["values"].isThere }["values"][0]
      #expect(value["device"].text == "strap" && value["handle"] == measurement["handle"])
      #expect(value["text"].isThere)
      let link = try viewer.message("tick") { $0["links"].isThere }["links"][0]
      #expect(link["peripheral"].text == "strap" && link["central"].text == "page")
      #expect(link["interval"].number ?? 0 > 0 && link["mtu"].number ?? 0 >= 23 && link["encrypted"].flag == false)
      let location = try viewer.request(#""verb":"read","device":"strap","handle":\#(bodyLocation)"#)
      #expect(location["value"].text?.count == 2)
      // Reset Energy Expended.
      try viewer.request(#""verb":"write","device":"strap","handle":\#(point),"value":"01""#)
      let refused = try viewer.ask(
        #""request":{"verb":"write","device":"strap","handle":\#(point),"value":"77"}"#)
      #expect(refused["error"].text?.contains("the device answered") ?? false)
      let odd = try viewer.ask(#""request":{"verb":"write","device":"strap","handle":1,"value":"7"}"#)
      #expect(odd["error"].text?.contains("hexadecimal") ?? false)
      try viewer.request(#""verb":"close","device":"strap""#)
      _ = try viewer.message("tick") { $0["ended"].isThere }
      let closed = try viewer.ask(#""request":{"verb":"read","device":"strap","handle":3}"#)
      #expect(closed["error"].text?.contains("open it first") ?? false)
    }
  }
}

/// The page of a world in virtual time.
@Suite(.timeLimit(.minutes(5))) struct PageRunTests {
  @Test("The page shows what the program runs, and requests are carried out in the run")
  func virtualTime() async throws {
    let world = World(seed: 1)
    world.add(HeartRateSensor(), named: "strap")
    try await withPage(of: world) { _, page in
      let (stop, isOver) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      Thread.detachNewThread {
        while stop.wait(timeout: .now()) == .timedOut { world.run(for: .milliseconds(10)) }
        isOver.signal()
      }
      defer {
        stop.signal()
        isOver.wait()
      }
      let viewer = try page.viewer()
      #expect(try viewer.message()["time"].text == "virtual")
      let state = try viewer.message("world")
      #expect(state["devices"][0]["name"].text == "strap")
      try viewer.request(#""verb":"move","device":"strap","position":[4]"#)
      let answer = try viewer.ask(#""request":{"verb":"devices"}"#)
      #expect(answer["error"].text == "the world runs in virtual time")
      _ = try viewer.device("strap") { $0["position"].numbers == [4, 0, 0] }
    }
  }

  @Test("A program lets a viewer run the world: for a time, until a state, with a speed; then the program goes on")
  func run() async throws {
    let world = World(seed: 1)
    world.add(HeartRateSensor(), named: "strap")
    try await withPage(of: world) { server, page in
      let viewer = try page.viewer()
      _ = try viewer.message("hello")
      #expect(try viewer.ask(#""request":{"verb":"run","seconds":1}"#)["error"].isThere)
      let isOver = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        server.runWorld()
        isOver.signal()
      }
      // The world stands still, but its state is shown.
      let state = try viewer.message("world")
      #expect(state["time"].number == 0 && state["paused"].flag == true)
      #expect(try viewer.request(#""verb":"run","seconds":2.5"#)["time"].number == 2.5)
      let until = try viewer.request(#""verb":"run","seconds":60,"device":"strap","until":"noLink""#)
      #expect(until["time"].number == 2.5)
      let never = try viewer.request(#""verb":"run","seconds":1,"device":"strap","until":"link""#)
      #expect(never["time"].number == 3.5 && never["note"].text == "the state was not reached")
      try viewer.request(#""verb":"speed","speed":100"#)
      _ = try viewer.message("tick") { $0["time"].number ?? 0 > 10 }
      try viewer.request(#""verb":"stop""#)
      isOver.wait()
      #expect(world.now > .seconds(10))
      #expect(try viewer.ask(#""request":{"verb":"run","seconds":1}"#)["error"].isThere)
    }
  }
}

/// The page of a program's own world: what `World.serve(on:)` of CoreBluetoothWorld does. That module is not in the process
/// of these tests, of which others show what a program without it says.
@Suite(.timeLimit(.minutes(5))) struct WorldPageTests {
  @Test("A test serves its world, a viewer runs it and lets the test go on, and the page ends with `close`")
  func served() async throws {
    let world = World(seed: 1)
    world.add(HeartRateSensor(), named: "strap")
    try await onOwnThread {
      let page = try AirPage(of: world, PageOptions())
      // Only the other thread uses it.
      nonisolated(unsafe) let viewer = try PageUnderTest(page.url).viewer()
      Thread.detachNewThread {
        // It comes when the world is served.
        _ = try? viewer.message("world")
        _ = try? viewer.request(#""verb":"run","seconds":2.5"#)
        _ = try? viewer.request(#""verb":"stop""#)
      }
      page.runWorld()
      #expect(world.now >= .seconds(2.5))
      var taken = PageOptions()
      taken.port = Int(try PageUnderTest(page.url).port)
      #expect(throws: (any Error).self) { try AirPage(of: world, taken) }
      page.close("the program has closed the page")
      #expect(throws: (any Error).self) { try PageUnderTest(page.url).viewer() }
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
      let reason = try refused.message("bye")["reason"].text
      #expect(reason?.hasPrefix("too many viewers") ?? false)
      #expect(refused.text() == nil)
      for viewer in viewers { _ = try viewer.message("tick") }
      viewers.removeFirst()
      // The server notices the end of the connection in its own time.
      var isAdmitted = false
      while !isAdmitted { isAdmitted = try page.viewer().message()["type"].text == "hello" }
    }
  }

  @Test("A viewer that stops reading is cut off, and the others go on")
  func slowViewer() async throws {
    let devices = (0..<100).map { "{name: device number \($0), accessory: battery}" }.joined(separator: ", ")
    try await withPage("devices: [\(devices)]") { _, page in
      let (slow, other) = (try page.viewer(), try page.viewer())
      // The answers have more octets than the backlog and the buffers of the system.
      let (rounds, perRound) = (60, 50)
      for round in 0..<rounds {
        for number in 0..<perRound {
          slow.send(#"{"id":\#(round * perRound + number),"request":{"verb":"devices"}}"#)
        }
        // More messages at a time would be refused.
        try other.request(#""verb":"devices""#)
      }
      // POLLRDHUP: the other end has closed.
      var event = pollfd(fd: slow.connection.descriptor, events: 0x2000, revents: 0)
      #expect(poll(&event, 1, 120_000) == 1)
      var answers = 0
      while let text = slow.text() { answers += text.contains(#""type":"answer""#) ? 1 : 0 }
      #expect(answers < rounds * perRound)
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
    try await onOwnThread {
      let air = AirServer()
      let viewer = try PageUnderTest(try air.openPage()).viewer()
      _ = try viewer.message("world")
      try air.stop()
      #expect(try viewer.message("bye")["reason"].text == "the air ended")
      #expect(viewer.text() == nil)
    }
  }
}
