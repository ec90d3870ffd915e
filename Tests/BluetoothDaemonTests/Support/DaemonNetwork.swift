import BluetoothHost
import BluetoothWire
import Testing

@testable import BluetoothDaemon

/// Devices, each a daemon with a host, that receive each other without loss. Time passes in `advance` only.
final class DaemonNetwork {
  final class Device {
    let sessions = LocalSessions()
    let directory = PeerDirectory()
    let pool = PacketPool()
    var daemon: Daemon
    var controller = FakeController()
    var isInRange = true
    private let configuration: HostConfiguration
    private let random: RandomStream
    private let bonds: any BondStore
    private let policy: PlatformPolicy
    private let storesApps: Bool
    private let shares: AppShares
    private let prompts: any Prompts
    private let asksForApps: Bool

    init(
      _ configuration: HostConfiguration, _ random: RandomStream, _ bonds: any BondStore, _ policy: PlatformPolicy,
      storesApps: Bool, shares: AppShares, prompts: any Prompts, asksForApps: Bool
    ) {
      self.shares = shares
      self.prompts = prompts
      self.asksForApps = asksForApps
      self.configuration = configuration
      self.random = random
      self.bonds = bonds
      self.policy = policy
      self.storesApps = storesApps
      let host = Host(configuration: configuration, random: random, pool: PacketPool())
      daemon = Daemon(
        host: host, sessions: sessions, directory: directory, random: random, prompts: prompts, bonds: bonds,
        asksForApps: asksForApps, shares: shares, policy: policy, storesApps: storesApps)
    }

    /// Returns a device with a new daemon, which has only what the store has.
    func restarted() -> Device {
      Device(
        configuration, random, bonds, policy, storesApps: storesApps, shares: shares, prompts: prompts,
        asksForApps: asksForApps)
    }
  }

  var devices: [Device] = []
  private(set) var now = Instant.zero
  /// Changes the ACL packets of a device on their way.
  var rewriting: ([UInt8], _ from: Int) -> [UInt8] = { octets, _ in octets }

  /// Adds a device and switches it on.
  ///
  /// - Parameter privacy: The lifetime of its private addresses in seconds; nil: it uses none.
  func add(
    _ name: String, isOn: Bool = true, maximumMTU: Int = 517, privacy: UInt16? = nil,
    bonds: any BondStore = MemoryBondStore(), policy: PlatformPolicy = .macos, storesApps: Bool = false,
    shares: AppShares = AppShares(), prompts: any Prompts = AutomaticPrompts(.accept), asksForApps: Bool = false
  ) -> Int {
    let number = devices.count
    let address = DeviceAddress(0xC000_0000_0000 + UInt64(number + 1), .random)
    var configuration = HostConfiguration(deviceName: name, address: address)
    configuration.follow(policy)
    configuration.maximumMTU = maximumMTU
    configuration.usesPrivateAddresses = privacy != nil
    if let privacy { configuration.privateAddressTimeout = privacy }
    let random = RandomStream(seed: UInt64(number))
    devices.append(
      Device(
        configuration, random, bonds, policy, storesApps: storesApps, shares: shares, prompts: prompts,
        asksForApps: asksForApps))
    if isOn { setPower(true, of: number) }
    return number
  }

  func setPower(_ isOn: Bool, of device: Int) {
    devices[device].daemon.setPower(isOn, at: now)
    run()
  }

  /// Runs everything that needs no time.
  func run() {
    var isQuiet = false
    while !isQuiet {
      isQuiet = true
      for device in devices.indices {
        while step(device) { isQuiet = false }
      }
    }
  }

  /// Runs one advertising event of every advertiser, 100 ms later, for each round.
  func advance(_ rounds: Int = 1) {
    run()
    for _ in 0..<rounds {
      now += .milliseconds(100)
      for device in devices.indices {
        if let deadline = devices[device].daemon.deadline, deadline <= now {
          devices[device].daemon.timeReached(now)
        }
      }
      run()
      for device in devices.indices where devices[device].controller.isAdvertising {
        advertise(device)
        run()
      }
    }
  }

  private func step(_ device: Int) -> Bool {
    devices[device].daemon.handleRequests(at: now)
    if let packet = devices[device].daemon.takePacket() {
      send(packet, from: device)
      return true
    }
    guard let event = devices[device].daemon.takeEvent() else { return !devices[device].sessions.requests.isEmpty }
    devices[device].sessions.deliver(event)
    return true
  }

  private func tell(_ device: Int, _ event: HCI.Event) {
    devices[device].daemon.receive(event.packet(in: devices[device].pool), at: now)
  }

  private func send(_ packet: HCI.Packet, from device: Int) {
    switch packet {
    case .command(let opcode, let parameters):
      guard let command = try? HCI.Command(opcode: opcode, parameters: parameters) else {
        Issue.record("a command that can't be read: \(opcode)")
        return
      }
      if let answer = devices[device].controller.take(command) { tell(device, answer) }
      if case .disconnect(let handle, let reason) = command { disconnect(device, handle, reason) }
      encrypt(command, from: device)
      if case .leCreateConnectionCancel = command, devices[device].controller.initiating != nil {
        devices[device].controller.initiating = nil
        tell(device, .leConnectionComplete(HCI.ConnectionComplete(failure: .unknownConnectionIdentifier)))
      }
    case .acl(let data): forward(data, from: device)
    case .event: Issue.record("a host sends no events")
    }
  }

  /// Executes the link layer's encryption procedure as the two controllers.
  private func encrypt(_ command: HCI.Command, from device: Int) {
    switch command {
    case .leEnableEncryption(let handle, let random, let diversifier, let key):
      guard let link = devices[device].controller.links.first(where: { $0.handle == handle }) else { return }
      devices[link.peer].controller.offeredKey = key.value
      tell(
        link.peer, .leLongTermKeyRequest(link.peerHandle, random: random, encryptedDiversifier: diversifier))
    case .leLongTermKeyRequestReply(let handle, let key):
      guard let link = devices[device].controller.links.first(where: { $0.handle == handle }) else { return }
      #expect(devices[device].controller.offeredKey == key.value)
      tell(device, .encryptionChange(.success, handle, enabled: 1))
      tell(link.peer, .encryptionChange(.success, link.peerHandle, enabled: 1))
    case .leLongTermKeyRequestNegativeReply(let handle):
      guard let link = devices[device].controller.links.first(where: { $0.handle == handle }) else { return }
      tell(link.peer, .encryptionChange(.pinOrKeyMissing, link.peerHandle, enabled: 0))
    default: break
    }
  }

  /// Advances the time without advertising.
  func pass(_ time: TimeSpan) {
    now += time
    for device in devices.indices {
      if let deadline = devices[device].daemon.deadline, deadline <= now { devices[device].daemon.timeReached(now) }
    }
    run()
  }

  /// Delivers an advertisement of that address to a device.
  func hear(
    _ device: Int, from address: DeviceAddress, _ type: HCI.AdvertisingReport.EventType = .connectableScannable,
    _ data: ByteSlice = [2, 1, 6], rssi: Int8 = -60
  ) {
    let report = HCI.AdvertisingReport(type: type, address: HCI.PeerAddress(address), data: data, rssi: rssi)
    tell(device, .leAdvertisingReport(HCI.AdvertisingReports(report, in: devices[device].pool)))
    run()
  }

  private func forward(_ data: HCI.ACLData, from device: Int) {
    guard let link = devices[device].controller.links.first(where: { $0.handle == data.handle }) else { return }
    devices[device].controller.unreported.append(data.handle)
    reportSent(device)
    var copy = data
    copy.handle = link.peerHandle
    copy.payload = ByteSlice(rewriting(data.payload.bytes, device))
    if copy.boundary == .firstNonFlushable { copy.boundary = .firstFlushable }
    if devices[device].isInRange, devices[link.peer].isInRange {
      devices[link.peer].daemon.receive(.acl(copy), at: now)
    }
  }

  private func reportSent(_ device: Int) {
    guard !devices[device].controller.isCongested else { return }
    for handle in devices[device].controller.unreported {
      tell(device, .numberOfCompletedPackets(HCI.CompletedPackets(handle, count: 1, in: devices[device].pool)))
    }
    devices[device].controller.unreported.removeAll()
  }

  /// Sets whether a controller is congested. A congested controller does not report packets as completed.
  func setCongested(_ isCongested: Bool, _ device: Int) {
    devices[device].controller.isCongested = isCongested
    reportSent(device)
    run()
  }

  /// Makes the next connection attempt of a device fail.
  func failNextConnection(of device: Int, _ reason: HCI.ErrorCode) {
    devices[device].controller.connectFailure = reason
  }

  // MARK: Advertising and links

  private func advertise(_ advertiser: Int) {
    let from = devices[advertiser].controller
    let address = HCI.PeerAddress(from.address)
    for scanner in devices.indices where scanner != advertiser && devices[scanner].isInRange {
      guard devices[advertiser].isInRange else { return }
      if devices[scanner].controller.isScanning {
        let reports = [
          HCI.AdvertisingReport(type: .connectableScannable, address: address, data: from.advertisingData, rssi: -60),
          HCI.AdvertisingReport(type: .scanResponse, address: address, data: from.scanResponse, rssi: -61),
        ]
        for report in reports {
          tell(scanner, .leAdvertisingReport(HCI.AdvertisingReports(report, in: devices[scanner].pool)))
        }
      }
      if devices[scanner].controller.wants(from.address) {
        if let failure = devices[scanner].controller.connectFailure {
          devices[scanner].controller.connectFailure = nil
          devices[scanner].controller.initiating = nil
          tell(scanner, .leConnectionComplete(HCI.ConnectionComplete(failure: failure)))
        } else {
          connect(scanner, advertiser)
        }
        return
      }
    }
  }

  private func connect(_ central: Int, _ peripheral: Int) {
    let handles = [central, peripheral].map { device in
      defer { devices[device].controller.nextHandle += 1 }
      return HCI.ConnectionHandle(rawValue: devices[device].controller.nextHandle)
    }
    devices[central].controller.initiating = nil
    devices[peripheral].controller.isAdvertising = false
    devices[central].controller.links.append(
      .init(handle: handles[0], peer: peripheral, peerHandle: handles[1]))
    devices[peripheral].controller.links.append(
      .init(handle: handles[1], peer: central, peerHandle: handles[0]))
    let values = HCI.ConnectionValues(interval: 24, latency: 0, supervisionTimeout: 200)
    for (device, handle, peer, role) in [(central, handles[0], peripheral, 0), (peripheral, handles[1], central, 1)] {
      tell(
        device,
        .leConnectionComplete(
          HCI.ConnectionComplete(
            status: .success, handle: handle, role: UInt8(role),
            peer: HCI.PeerAddress(devices[peer].controller.address), values: values, centralClockAccuracy: 0)))
    }
  }

  private func disconnect(_ device: Int, _ handle: HCI.ConnectionHandle, _ reason: HCI.ErrorCode) {
    guard let link = devices[device].controller.links.first(where: { $0.handle == handle }) else { return }
    end(link, of: device, local: .connectionTerminatedByLocalHost, remote: reason)
  }

  private func end(_ link: FakeController.Link, of device: Int, local: HCI.ErrorCode, remote: HCI.ErrorCode) {
    devices[device].controller.links.removeAll { $0.handle == link.handle }
    devices[link.peer].controller.links.removeAll { $0.handle == link.peerHandle }
    devices[device].controller.unreported.removeAll { $0 == link.handle }
    devices[link.peer].controller.unreported.removeAll { $0 == link.peerHandle }
    tell(device, .disconnectionComplete(.success, link.handle, reason: local))
    tell(link.peer, .disconnectionComplete(.success, link.peerHandle, reason: remote))
  }

  /// Takes the device out of range: all its links end by supervision timeout, and other devices no longer hear it.
  func carryAway(_ device: Int) {
    devices[device].isInRange = false
    while let link = devices[device].controller.links.first {
      end(link, of: device, local: .connectionTimeout, remote: .connectionTimeout)
    }
    run()
  }

  func bringBack(_ device: Int) { devices[device].isInRange = true }

  /// Kills the process of a device's daemon, with all sessions, and starts another one. The peers lose their links. The
  /// new adapter is not on yet.
  func restart(_ device: Int) {
    let former = devices[device]
    devices[device] = former.restarted()
    for link in former.controller.links {
      devices[link.peer].controller.links.removeAll { $0.handle == link.peerHandle }
      devices[link.peer].controller.unreported.removeAll { $0 == link.peerHandle }
      tell(link.peer, .disconnectionComplete(.success, link.peerHandle, reason: .connectionTimeout))
    }
    run()
  }

  /// Returns the number of a device's links.
  func linkCount(_ device: Int) -> Int { devices[device].controller.links.count }
}
