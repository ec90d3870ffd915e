import BluetoothAir
import BluetoothLab
import BluetoothWire
import Foundation
import Testing

/// Requests to an air's control socket.
@Suite(.timeLimit(.minutes(10))) struct AirControlTests {
  private func withControl(_ text: String = "{}", _ body: (ServerFixture, String) throws -> Void) throws {
    var options = AirOptions()
    options.file = try WorldFile(text: text)
    let air = try ServerFixture(options)
    defer { try? air.server.stop() }
    let path = "/tmp/control-\(UUID().uuidString)"
    try air.server.openControl(at: path)
    try body(air, path)
  }

  @Test(
    "The devices of a world file are listed with their addresses, given or drawn")
  func addresses() throws {
    try withControl(
      """
      devices:
        - {name: given, accessory: battery, address: "C0:FF:EE:00:00:02"}
        - {name: private, accessory: battery, address: "C0:FF:EE:00:00:03", usesPrivateAddresses: true}
        - {name: drawn, accessory: battery}
      clients:
        - {name: phone, address: "C0:FF:EE:00:00:01"}
      """
    ) { air, path in
      let host = try air.host()
      let devices = try #require(try ControlSocket.answer(to: ControlRequest(.devices), at: path).devices)
      #expect(devices.map(\.name) == ["given", "private", "drawn", "phone"])
      let addresses = devices.map { $0.address ?? "none" }
      #expect(addresses[0] == "C0:FF:EE:00:00:02")
      #expect(addresses[1] == "C0:FF:EE:00:00:03")
      #expect(addresses[2].hasSuffix(" (random)"))
      #expect(addresses[3] == "C0:FF:EE:00:00:01")
      withExtendedLifetime(host) {}
    }
  }

  @Test("The statistics of a device include the radio time of hosts that have left")
  func formerHosts() throws {
    try withControl { air, path in
      do {
        let pair = try ConnectedPair(air)
        let payload = [UInt8](repeating: 7, count: 100)
        try pair.central.send(pair.data(payload, on: pair.centralHandle))
        try #require(try pair.nextData(at: pair.peripheral) == payload)
      }
      try air.waitForHosts(0)
      let statistics = try #require(try ControlSocket.answer(to: ControlRequest(.stats), at: path).statistics)
      #expect(statistics.count == 2)
      for device in statistics { #expect(device.sentPackets > 0 && device.transmitting > 0 && device.receiving > 0) }
    }
  }

  @Test("An accessory is removed, the controller of a host is not")
  func removal() throws {
    try withControl("devices: [{name: strap, accessory: battery}, {name: hall, accessory: battery}]") { air, path in
      let host = try air.host()
      var request = ControlRequest(.remove)
      request.device = "strap"
      _ = try ControlSocket.answer(to: request, at: path)
      let devices = try #require(try ControlSocket.answer(to: ControlRequest(.devices), at: path).devices)
      #expect(devices.map(\.name) == ["hall", "hci-1"])
      for (name, reason) in [
        ("strap", "no device \"strap\"; the devices are hall, hci-1"),
        ("hci-1", "\"hci-1\" is the controller of a host: the host leaves by closing its connection"),
      ] {
        request.device = name
        let error = #expect(throws: AirError.self) { try ControlSocket.answer(to: request, at: path) }
        #expect(error?.description == reason)
      }
      withExtendedLifetime(host) {}
    }
  }

  @Test("The statistics of a device count the attempts to connect that failed")
  func failedAttempts() throws {
    try withControl(#"devices: [{name: strap, accessory: battery, address: "C0:FF:EE:00:00:02"}]"#) { air, path in
      air.server.world.add([.air(.lose, .connectIndications, .numbers(1...1))])
      let host = try air.host()
      let strap: [UInt8] = [0, 0x02, 0, 0, 0xEE, 0xFF, 0xC0]
      // Scans in windows of 30 ms for that address; interval 7.5 ms, supervision timeout 2 s.
      #expect(
        try host.command(0x200D, [0x30, 0, 0x30, 0, 0] + strap + [0, 6, 0, 6, 0, 0, 0, 0xC8, 0, 0, 0, 0, 0]) == [0])
      // Disconnection Complete: Connection Failed to be Established.
      #expect(try host.event(0x05)[3] == 0x3E)
      let statistics = try #require(try ControlSocket.answer(to: ControlRequest(.stats), at: path).statistics)
      #expect(statistics.map(\.name).first == "strap")
      #expect(statistics.map(\.failedAttempts) == [0, 1])
    }
  }

  @Test("A fault plan that is null or misspelt is an error and ends no faults")
  func noPlan() throws {
    try withControl { air, path in
      // No Command Complete reaches a host.
      air.server.world.add([.hci(.lose, HCIMatch(.event(0x0E)))])
      let (host, socket) = (try HostSocket(air.specifier), try LineSocket(path: path))
      try host.send([1, 0x09, 0x10, 0])
      let answer = try socket.ask(#"{"verb":"fault","plan":null}"#)
      #expect(answer.contains("plan: null is not allowed"))
      #expect(try socket.ask(#"{"verb":"fault","paln":{"faults":[]}}"#).contains("paln: unknown field"))
      try host.send([1, 0x09, 0x10, 0])
      // The answer to Disconnect, Command Status with an unknown handle, shows that the commands before it are over.
      #expect(try host.command(0x0406, [0, 0, 0x13]) == [0x02])
      #expect(try socket.ask(#"{"verb":"capture","path":null}"#).contains("path: null is not allowed"))
      #expect(try socket.ask(#"{"verb":"fault"}"#) == "{}")
      try host.send([1, 0x01, 0x10, 0])
      let first = try host.event(0x0E)
      #expect(first[1] == 0x01)
    }
  }

  @Test(
    "The error for a request that can't be carried out names the field and says what is wrong",
    arguments: [
      ("{}", "verb: missing field"),
      (#"{"verb":"stop","device":"one"}"#, "device: the verb stop does not have this field"),
      (#"{"verb":"move","device":"one","on":true}"#, "on: the verb move does not have this field"),
      (#"{"verb":"move","device":"one","position":[1e300]}"#, "metres, -1000000 to 1000000"),
      (#"{"verb":"move","device":"one"}"#, "metres, -1000000 to 1000000"),
      (#"{"verb":"move","device":"two","position":[1,2],"device" : "one"}"#, #"duplicate field \"device\""#),
      (#"{"verb":"radio","device":"one","on":false,"\u006fn":true}"#, #"duplicate field \"on\""#),
      (
        #"{"verb":"fault","plan":{"faults":[{"layer":"device","fault":"mute","at":1,"fault":"mute"}]}}"#,
        #"duplicate field \"fault\""#
      ),
      (#"{"verb":"capture","path":"/tmp/a\u0000b"}"#, "a path can't contain a NUL"),
      (#"{"verb":"capture","path":"/tmp/no folder\nble: all is well/b"}"#, #"folder\\nble: all is well"#),
    ])
  func refused(request: String, reason: String) throws {
    try withControl("devices: [{name: one, accessory: battery}]") { _, path in
      let answer = try LineSocket(path: path).ask(request)
      #expect(answer.contains(reason), "\(answer)")
      #expect(answer.hasPrefix(#"{"error":"#))
    }
  }

  @Test("Equal names in different objects, and texts like names, are no duplicate fields")
  func noDuplicates() throws {
    try withControl("devices: [{name: one, accessory: battery}, {name: 'on\"on', accessory: battery}]") { _, path in
      let socket = try LineSocket(path: path)
      #expect(try socket.ask(#"{"verb":"radio","device":"on\"on","on":true}"#) == "{}")
      let fault = #"{"layer":"device","fault":"resetController","device":"one","at":9}"#
      #expect(try socket.ask(#"{"verb":"fault","plan":{"faults":[\#(fault),\#(fault)]}}"#) == "{}")
    }
  }

  @Test("A capture with keys is refused if the key file would replace a running capture or lie beside a device")
  func placeOfKeys() throws {
    try withControl { _, path in
      let file = "/tmp/capture-\(UUID().uuidString)"
      let keys = file + ".keys.json"
      defer { for name in [file, keys] { unlink(name) } }
      let socket = try LineSocket(path: path)
      #expect(try socket.ask(#"{"verb":"capture","path":"\#(keys)"}"#) == "{}")
      #expect(
        try socket.ask(#"{"verb":"capture","keys":true,"path":"\#(file)"}"#).contains(
          "already reads or writes the file"))
      #expect(try socket.ask(#"{"verb":"capture"}"#) == "{}")
      #expect(FileManager.default.contents(atPath: keys)?.starts(with: [0x0A, 0x0D, 0x0D, 0x0A]) == true)
      #expect(try socket.ask(#"{"verb":"capture","keys":true,"path":"/dev/null"}"#).contains("next to a device file"))
    }
  }

  @Test("The control socket accepts eight connections, and one more closes the oldest one with an error")
  func manyConnections() throws {
    try withControl { _, path in
      let sockets = try (0..<8).map { _ in try LineSocket(path: path) }
      for socket in sockets.dropFirst() { #expect(try socket.ask(#"{"verb":"stats"}"#).contains("time")) }
      let late = try LineSocket(path: path)
      #expect(try late.ask(#"{"verb":"stats"}"#).contains("time"))
      #expect(try sockets[0].line().contains("too many control connections"))
      #expect(throws: HostSocket.Failure.self) { try sockets[0].line() }
      for socket in sockets.dropFirst() { #expect(try socket.ask(#"{"verb":"stats"}"#).contains("time")) }
    }
  }

  @Test("When descriptors run out, hosts are refused and the control socket still answers")
  func shortOfDescriptors() async {
    await #expect(processExitsWith: .success) {
      // Beside other tests, this process inherits descriptors of theirs.
      var (most, free): (rlim_t, Int) = (3, 0)
      while free < 95 {
        if fcntl(CInt(most), F_GETFD) < 0 { free += 1 }
        most += 1
      }
      var limit = rlimit(rlim_cur: most, rlim_max: most)
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      let air = try ServerFixture()
      let path = "/tmp/control-\(UUID().uuidString)"
      try air.server.openControl(at: path)
      var hosts: [HostSocket] = []
      var isRefused = false
      while !isRefused, hosts.count < 200 {
        let host = try HostSocket(air.specifier)
        try? host.send([1, 0x03, 0x0C, 0])
        isRefused = (try? host.next()) == nil
        hosts.append(host)
      }
      guard isRefused, hosts.count > 5 else { exit(2) }
      // Both ends of each connection are in this process: the refused host's descriptors are enough for a request.
      let devices = try ControlSocket.answer(to: ControlRequest(.devices), at: path).devices
      guard devices?.count == hosts.count - 1 else { exit(3) }
      try air.server.stop()
      exit(0)
    }
  }

  @Test("A new host gets the first free place")
  func firstPlace() throws {
    let air = try ServerFixture()
    defer { try? air.server.stop() }
    var hosts = try (0..<6).map { _ in try air.host() as HostSocket? }
    let addresses = try hosts.map { try $0?.address() }
    for (count, gone) in [4, 1, 3].enumerated() {
      hosts[gone] = nil
      try air.waitForHosts(5 - count)
    }
    for place in [1, 3, 4] { hosts[place] = try air.host() }
    #expect(try hosts.map { try $0?.address() } == addresses)
    #expect(try air.host().address() != addresses[0])
    #expect(air.server.controllerSlots.count == 7)
  }
}
