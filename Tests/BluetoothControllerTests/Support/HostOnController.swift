import BluetoothWire
import Testing

@testable import BluetoothController
@testable import BluetoothHost

/// A host on a controller on the test's air.
final class HostOnController {
  let device: ControllerHarness
  var host: Host
  /// Handles an event as a service above the host would; returns true if it has handled the event.
  var onEvent: (HostEvent) -> Bool = { _ in false }
  private(set) var events: [HostEvent] = []
  private let pool = PacketPool()
  private var isBusy = false

  init(_ name: String, seed: UInt64, on air: PerfectAir, _ change: (inout HostConfiguration) -> Void = { _ in }) {
    device = ControllerHarness(name, address: 0x7777_0000_0000 + UInt64(air.devices.count), seed: seed)
    var configuration = HostConfiguration(deviceName: name)
    change(&configuration)
    host = Host(configuration: configuration, random: RandomStream(seed: seed).split(name), pool: pool)
    air.add(device)
    device.onEvent = { [unowned self] _, event in receive(event.packet(in: pool)) }
    device.onData = { [unowned self] _, data in receive(.acl(data)) }
    perform { $0.setPower(true, at: $1) }
  }

  var now: Instant { device.now }

  /// Performs an action on the host, and passes the resulting packets to its controller.
  @discardableResult
  func perform<R>(_ body: (inout Host, Instant) -> R) -> R {
    let result = body(&host, now)
    settle()
    return result
  }

  private func receive(_ packet: HCI.Packet) {
    host.receive(packet, at: now)
    settle()
  }

  private func settle() {
    // A nested call leaves its packets to the loop that is already running.
    guard !isBusy else { return }
    isBusy = true
    defer { isBusy = false }
    var isIdle = false
    while !isIdle {
      isIdle = true
      while let event = host.takeEvent() {
        isIdle = false
        if !onEvent(event) { events.append(event) }
      }
      while let packet = host.takePacket() {
        isIdle = false
        device.controller.receive(packet, at: now)
        device.takePackets(at: now)
      }
    }
    device.clear()
  }

  /// Runs the host's due timers.
  func processOutput() {
    if let deadline = host.deadline, deadline <= now { perform { $0.timeReached($1) } }
    device.air?.processOutput(of: device.number)
  }

  func takeEvents() -> [HostEvent] {
    defer { events = [] }
    return events
  }
}

extension PerfectAir {
  /// Advances the time of controllers and hosts until `condition` holds or `limit` has passed.
  @discardableResult
  func run(_ stations: [HostOnController], until condition: () -> Bool, limit: TimeSpan) -> Bool {
    let end = now + limit
    while !condition() {
      guard now < end else { return false }
      run(for: min(.milliseconds(15), end - now))
      for station in stations { station.processOutput() }
    }
    return true
  }
}
