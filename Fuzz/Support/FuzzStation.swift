import BluetoothController
import BluetoothRadio
import BluetoothWire

/// One controller, its radio, and a host that answers mandatory requests. The radio receives only the fuzzer's packets,
/// with the access address that it listens for.
///
/// A violation stops the program: time that runs backwards, a controller that requests the same instant endlessly, or a
/// packet of the controller that can't be parsed.
package final class FuzzStation {
  private enum Radio {
    case idle
    case transmitting(until: Instant)
    case listening(on: RadioChannel, phy: RadioPHY, accessAddress: UInt32, crcInit: UInt32, until: Instant?)
  }

  /// The maximum number of steps in one instant; more count as a lack of progress.
  private static let maximumIdleSteps = 10_000

  package private(set) var controller: Controller
  package let pool = PacketPool()
  package private(set) var now = Instant.zero
  private var radio = Radio.idle
  private var idleSteps = 0

  /// The last packet that the controller has sent.
  package private(set) var lastSent: AirPacket?
  /// The number of the controller's answers to the last command.
  package private(set) var answers = 0
  package private(set) var lastHandle: HCI.ConnectionHandle?
  package private(set) var disconnections = 0

  package static let address = DeviceAddress(0x1111_1111_1111, .public)

  package init(_ change: (inout ControllerConfiguration) -> Void = { _ in }) {
    var configuration = ControllerConfiguration(address: Self.address)
    change(&configuration)
    controller = Controller(configuration: configuration, random: RandomStream(seed: 1), pool: pool)
    for command: HCI.Command in [
      .reset, .setEventMask(HCI.EventMask(rawValue: .max)), .leSetEventMask(HCI.LEEventMask(rawValue: .max)),
      .setEventMaskPage2(HCI.EventMaskPage2(rawValue: .max)),
    ] { send(command) }
  }

  package func send(_ command: HCI.Command) { receive(command.packet(in: pool)) }

  package func receive(_ packet: HCI.Packet) {
    answers = 0
    controller.receive(packet, at: now)
    processOutput()
  }

  /// Advances the time.
  package func run(for span: TimeSpan) {
    let end = now + span
    while let next = nextInstant, next <= end { step(to: next) }
    now = max(now, end)
  }

  /// Advances the time until the radio listens, at most by `limit`. Returns false at the limit.
  @discardableResult
  package func runUntilListening(limit: TimeSpan = .seconds(2)) -> Bool {
    let end = now + limit
    while !isListening {
      guard let next = nextInstant, next <= end else { return false }
      step(to: next)
    }
    return true
  }

  package var isListening: Bool {
    if case .listening = radio { true } else { false }
  }

  /// The access address that the radio listens for; nil: it does not listen.
  package var listeningAccessAddress: UInt32? {
    if case .listening(_, _, let accessAddress, _, _) = radio { accessAddress } else { nil }
  }

  /// Delivers a packet that starts now, if the radio listens.
  package func hear(header: UInt16, payload: ByteSlice, isIntact: Bool = true) {
    guard case .listening(_, let phy, let accessAddress, let crcInit, _) = radio else { return }
    let modulation: Modulation =
      switch phy {
      case .le1M: .le1M
      case .le2M: .le2M
      case .leCoded: .codedS8
      }
    let packet = AirPacket(accessAddress: accessAddress, crcInit: crcInit, header: header, payload: payload)
    let start = now
    let end = now + packet.airTime(modulation)
    // The radio is busy during the packet; the controller may change its listening meanwhile.
    radio = .transmitting(until: end)
    while case .transmitting(end) = radio, let deadline = controller.deadline, deadline < end {
      now = max(now, deadline)
      controller.timeReached(now)
      guardProgress(from: deadline)
      processOutput()
    }
    now = end
    guard case .transmitting(end) = radio else { return }
    radio = .idle
    controller.radio(
      .received(packet, modulation: modulation, start: start, level: Decibel(-60), isIntact: isIntact), at: now)
    processOutput()
  }

  private var nextInstant: Instant? {
    let ofRadio: Instant? =
      switch radio {
      case .idle: nil
      case .transmitting(let end): end
      case .listening(_, _, _, _, let until): until
      }
    return earliest(ofRadio, controller.deadline)
  }

  private func step(to next: Instant) {
    let before = now
    now = max(now, next)
    switch radio {
    case .transmitting(let end) where end <= now:
      radio = .idle
      controller.radio(.transmitted, at: now)
    case .listening(_, _, _, _, let until?) where until <= now:
      radio = .idle
      controller.radio(.nothingReceived, at: now)
    default: controller.timeReached(now)
    }
    guardProgress(from: before)
    processOutput()
  }

  private func guardProgress(from before: Instant) {
    idleSteps = now == before ? idleSteps + 1 : 0
    precondition(idleSteps < Self.maximumIdleSteps, "the controller wants the time at \(now) for ever")
  }

  private func processOutput() {
    repeat {
      while let command = controller.takeRadioCommand() { execute(command) }
    } while takePacket()
  }

  private func execute(_ command: RadioCommand) {
    switch command {
    case .stop: radio = .idle
    case .transmit(let packet, _, let modulation, _):
      lastSent = packet
      radio = .transmitting(until: now + packet.airTime(modulation))
    case .receive(let channel, let phy, let accessAddress, let crcInit, let until):
      if let until { precondition(until >= now, "listening would end before it begins") }
      radio = .listening(on: channel, phy: phy, accessAddress: accessAddress, crcInit: crcInit, until: until)
    }
  }

  /// Takes a packet of the controller and reacts as a host must. Returns false if there is none.
  private func takePacket() -> Bool {
    guard let packet = controller.takePacket() else { return false }
    guard case .event(let code, let parameters) = packet else { return true }
    guard let event = try? HCI.Event(code: code, parameters: parameters) else {
      preconditionFailure("event \(code) of the controller can't be read: \(parameters)")
    }
    switch event {
    case .commandComplete, .commandStatus: answers += 1
    case .leConnectionComplete(let complete), .leEnhancedConnectionComplete(let complete):
      if complete.status == .success { lastHandle = complete.handle }
    case .disconnectionComplete: disconnections += 1
    case .leLongTermKeyRequest(let handle, _, _):
      controller.receive(HCI.Command.leLongTermKeyRequestReply(handle, longTermKey: 7).packet(in: pool), at: now)
    case .leRemoteConnectionParameterRequest(let handle, let parameters):
      let reply = HCI.Command.leRemoteConnectionParameterRequestReply(handle, parameters, HCI.ConnectionEventLength())
      controller.receive(reply.packet(in: pool), at: now)
    default: break
    }
    return true
  }
}
