import BluetoothController
import BluetoothHost
import BluetoothRadio
import BluetoothWire
import DequeModule

/// A whole device of a world: controller, host and service, joined in memory. Confined to the world.
final class VirtualDevice: Participant {
  // Confined, and no engine calls out while it works: see `WorldEngine`.
  @exclusivity(unchecked) private var controller: Controller
  @exclusivity(unchecked) private var service: Service
  @exclusivity(unchecked) private var deliveries: Deque<Delivery> = []
  let executor: VirtualAdapter.Executor
  private let capture: DeviceCapture?

  init(
    controller: consuming Controller, service: consuming Service, executor: VirtualAdapter.Executor,
    capture: DeviceCapture?
  ) {
    self.controller = controller
    self.service = service
    self.executor = executor
    self.capture = capture
  }

  // MARK: Participant

  @exclusivity(unchecked) private(set) var deadline: Instant?

  func timeReached(_ now: Instant) {
    if let deadline = controller.deadline, deadline <= now { controller.timeReached(now) }
    if let deadline = service.deadline, deadline <= now { service.timeReached(now) }
    exchange(at: now)
  }

  func radio(_ event: RadioEvent, at now: Instant) {
    controller.radio(event, at: now)
    exchange(at: now)
  }

  func takeRadioCommand() -> RadioCommand? { controller.takeRadioCommand() }

  func takeMail(at now: Instant) {
    if let capture {
      service.drainMailbox(at: now) { mail in
        if let call = mail.callDescription { capture.call(call) }
      }
    } else {
      service.drainMailbox(at: now)
    }
    exchange(at: now)
  }

  var hasDelivery: Bool { !deliveries.isEmpty }

  func deliverNext() {
    switch deliveries.popFirst() {
    case .central(let client, let event)?: client.receive(event)
    case .peripheral(let client, let event)?: client.receive(event)
    case nil: break
    }
  }

  // MARK: Power

  func setPower(_ on: Bool, at now: Instant) {
    service.setPower(on, at: now)
    exchange(at: now)
  }

  // MARK: Between host and controller

  /// Carries packets both ways until neither side has any: the two answer each other in no time.
  private func exchange(at now: Instant) {
    collectDeliveries()
    while true {
      if let packet = service.takePacket() {
        capture?.packet(packet, isFromHost: true, at: now)
        controller.receive(packet, at: now)
      } else if let packet = controller.takePacket() {
        capture?.packet(packet, isFromHost: false, at: now)
        service.receive(packet, at: now)
        collectDeliveries()
      } else {
        break
      }
    }
    deadline = earliest(controller.deadline, service.deadline)
  }

  private func collectDeliveries() {
    while let delivery = service.takeDelivery() {
      if let capture, let callback = delivery.callbackDescription { capture.callback(callback) }
      deliveries.append(delivery)
    }
  }
}
