import BluetoothHost
import BluetoothLab
import BluetoothRadio
import BluetoothSimulation
import BluetoothWire
import NIOCore

/// The requests of a page's viewers to the attributes of devices, which the page's central carries out. Confined to the
/// page's event loop.
final class PageGATT: @unchecked Sendable {
  // Unchecked: confined to the loop.

  static let verbs: Set<ControlRequest.Verb> = [.open, .close, .read, .write, .subscribe]

  private let world: World
  private let loop: any EventLoop
  /// Reserves the name of a device. Returns false if it is in use.
  private let reserve: @Sendable (String) -> EventLoopFuture<Bool>
  /// The central, which exists from the first request on.
  private var central: EventLoopFuture<RadioDevice>?

  init(_ world: World, on loop: any EventLoop, reserve: @escaping @Sendable (String) -> EventLoopFuture<Bool>) {
    (self.world, self.loop, self.reserve) = (world, loop, reserve)
  }

  /// Carries out a request.
  ///
  /// - Parameters:
  ///   - device: the device of the request.
  ///   - address: the address at which the device advertises, or its identity address.
  ///   - answer: called on any thread with the fields of the answer, unless the air ends before.
  func carryOut(
    _ request: ControlRequest, of device: RadioID, _ address: DeviceAddress, _ answer: @escaping PageCentral.Answer
  ) {
    loop.preconditionInEventLoop()
    let world = world
    makeCentral().whenSuccess { central in
      let radio = central.radio
      world.requestQueue.perform { engine in
        if request.verb == .open {
          // Beside the device, so that the distance does not matter.
          var place = engine[device].position
          place.x += 1_000
          engine[radio].position = place
        }
        engine.withDevice(radio) { own in
          (own as? PageCentral)?.carryOut(request, address, at: engine.now, answer)
        }
      }
    }
  }

  private func makeCentral() -> EventLoopFuture<RadioDevice> {
    if let central { return central }
    let world = world
    let made = freeName(1).map { name in world.addPageCentral(named: name) as RadioDevice }
    central = made
    return made
  }

  private func freeName(_ number: Int) -> EventLoopFuture<String> {
    let (name, loop) = (number == 1 ? "page" : "page-\(number)", loop)
    return reserve(name).hop(to: loop).flatMap { [self] isFree in
      isFree ? loop.makeSucceededFuture(name) : freeName(number + 1)
    }
  }
}

extension PageCentral {
  /// Carries out a request of a viewer.
  func carryOut(_ request: ControlRequest, _ address: DeviceAddress, at now: Instant, _ answer: @escaping Answer) {
    guard let name = request.device else { return answer(.failure(Failure(reason: "device: missing field"))) }
    switch request.verb {
    case .open: return open(name, address, at: now, answer)
    case .close: return close(name, at: now, answer)
    default: break
    }
    guard let handle = request.handle else { return answer(.failure(Failure(reason: "handle: missing field"))) }
    switch request.verb {
    case .subscribe:
      guard let isOn = request.on else { return answer(.failure(Failure(reason: "on: missing field"))) }
      subscribe(isOn, to: handle, of: name, at: now, answer)
    case .write:
      guard let value = request.value.flatMap(Self.octets), value.count <= ATT.maximumValueLength else {
        return answer(
          .failure(Failure(reason: "value: expected at most \(ATT.maximumValueLength) octets in hexadecimal")))
      }
      write(value, to: handle, of: name, withResponse: request.response ?? true, at: now, answer)
    default: read(handle, of: name, at: now, answer)
    }
  }

  /// Returns the octets of hexadecimal digits; nil: the text has other characters, or an odd number of them.
  private static func octets(_ text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count.isMultiple(of: 2) else { return nil }
    var octets: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let octet = UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16) else { return nil }
      octets.append(octet)
    }
    return octets
  }
}

extension World {
  /// Adds the central of a page, and turns it on.
  fileprivate func addPageCentral(named name: String) -> RadioDevice {
    let options = DeviceOptions()
    return register(name, options) {
      let configuration = options.configuration(named: name)
      let environment = environment
      let radio = requestQueue.addDevice(radio: configuration.radio) { engine, radio in
        let device = PageCentral(
          configuration, radio: radio, environment: environment, generator: engine.generator.split("device " + name),
          pool: engine.pool)
        let now = engine.now
        // The engine knows the device only after this closure has returned, so power-on is scheduled.
        engine.schedule(at: now) { engine in engine.withDevice(radio) { $0.setPower(true, at: now) } }
        return device
      }
      return RadioDevice(name: name, radio: radio, world: self)
    }
  }
}
