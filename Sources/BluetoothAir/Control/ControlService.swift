import BluetoothLab
import BluetoothRadio
import BluetoothSimulation
import BluetoothWire
import NIOCore

/// Executes the requests of an air's control socket, and of its page. Confined to the event loop of the air or, for a
/// world that is no air, of the page.
struct ControlService {
  let world: World
  /// The hosts of an air; nil: the world is no air.
  let hosts: HostTable?
  let loop: any EventLoop
  /// The control connections of the air, the oldest one first.
  let connections: NIOLoopBoundBox<[ControlHandler]>
  /// Ends the air.
  let stop: @Sendable () -> Void

  /// Executes a request. The future succeeds with the answer when the request is completed; it never fails.
  func answer(_ request: ControlRequest) -> EventLoopFuture<ControlAnswer> {
    loop.preconditionInEventLoop()
    do throws(AirError) {
      let answer =
        switch request.verb {
        case .capture: try setCapture(request)
        case .remove: try remove(request)
        default: try loop.makeSucceededFuture(perform(request))
        }
      hosts?.runner.pump(runsAhead: false)
      return answer
    } catch {
      return loop.makeSucceededFuture(ControlAnswer(error: error.description))
    }
  }

  private func perform(_ request: ControlRequest) throws(AirError) -> ControlAnswer {
    var answer = ControlAnswer()
    switch request.verb {
    case .devices, .stats:
      // A world in virtual time can't be looked at while it runs.
      guard world.realTimeRunner != nil else { throw AirError("the world runs in virtual time") }
      answer.time = world.now.seconds
      if request.verb == .devices { answer.devices = devices } else { answer.statistics = statistics }
    case .move: try device(request).move(to: try position(request))
    case .radio: try device(request).setRadio(isOn: try isOn(request))
    case .power: try device(request).setPower(try isOn(request))
    case .speed: try setSpeed(request)
    case .step: answer.time = try step(request)
    case .run: throw AirError("only a world in virtual time runs on request; use speed")
    case .add: try add(request)
    case .save: answer.text = try worldFile
    case .open, .close, .read, .write, .subscribe: throw AirError("only a page has a central that connects to devices")
    case .fault: setFaults(request)
    case .faults:
      if let plan = request.plan {
        world.removeFaults()
        world.add(plan)
      } else {
        (answer.plan, answer.text) = (world.faultPlan, world.faultPlan.worldFile)
      }
    case .stop: stop()
    case .capture, .remove: break
    }
    return answer
  }

  func device(_ request: ControlRequest) throws(AirError) -> RadioDevice {
    guard let name = request.device else { throw AirError("device: missing field") }
    let present = world.presentDevices
    guard let device = present.first(where: { $0.name == name }) else {
      let others = present.prefix(8).map(\.name.printable).joined(separator: ", ")
      throw AirError(
        "no device \"\(name.printable)\"; \(present.isEmpty ? "the air has no devices" : "the devices are \(others)")")
    }
    return RadioDevice(name: name, radio: device.radio, world: world)
  }

  private func position(_ request: ControlRequest) throws(AirError) -> Position {
    guard let metres = request.position, (1...3).contains(metres.count),
      metres.allSatisfy(WorldLimits.metres.contains)
    else {
      throw AirError("position: expected one to three numbers, in metres, -1000000 to 1000000")
    }
    return Position(x: metres[0], y: metres.count > 1 ? metres[1] : 0, z: metres.count > 2 ? metres[2] : 0)
  }

  private func isOn(_ request: ControlRequest) throws(AirError) -> Bool {
    guard let on = request.on else { throw AirError("on: missing field; expected true or false") }
    return on
  }

  private func setFaults(_ request: ControlRequest) {
    if let plan = request.plan { world.add(plan) } else { world.removeFaults() }
  }

  /// Starts a capture in place of the current capture, or ends the current capture. If the new capture can't be
  /// created, the current capture continues. A failure of the capture that ends is the answer's error only if no
  /// other capture begins.
  private func setCapture(_ request: ControlRequest) throws(AirError) -> EventLoopFuture<ControlAnswer> {
    let capture = try request.path.map { path throws(AirError) in try makeCapture(path, request) }
    let done = loop.makePromise(of: ControlAnswer.self)
    world.switchCapture(to: capture) { failure in
      var answer = ControlAnswer()
      if capture == nil {
        answer.error = failure?.description
      } else {
        answer.warning = failure.map { "the capture before this one is incomplete: \($0.description)" }
      }
      if capture?.isWaitingForReader ?? false {
        answer.note = "the capture starts when a program opens the file for reading"
      }
      done.succeed(answer)
    }
    return done.futureResult
  }

  private func makeCapture(_ path: String, _ request: ControlRequest) throws(AirError) -> Capture {
    do throws(Capture.Failure) {
      return try Capture(path: path, decryptsAir: request.decrypted ?? false, writesKeys: request.keys ?? false)
    } catch {
      throw AirError(error.description)
    }
  }

  // MARK: State of the air

  var devices: [ControlAnswer.Device] {
    let slots = hosts?.controllerSlots ?? []
    let places = Dictionary(slots.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let present = world.presentDevices
    return world.inspect { engine in
      engine.settle()
      return present.map { radio, name in
        let position = engine[radio].position
        return ControlAnswer.Device(
          name: name, address: (engine.device(radio) as? any WorldDevice)?.identityAddress.map { "\($0)" },
          position: [position.x, position.y, position.z].map { Double($0) / 1_000 },
          radio: !engine.isMuted(radio), host: places[name]?.isTaken)
      }
    }
  }

  private var statistics: [ControlAnswer.Statistics] {
    let all = world.statistics.devices
    return world.presentDevices.map { present in
      let device = all[present.radio.index]
      return ControlAnswer.Statistics(
        name: device.name, sentPackets: device.transmitted.packets, receivedPackets: device.receivedPackets,
        crcErrors: device.crcErrors, failedAttempts: device.failedAttempts,
        transmitting: device.transmitting.seconds, receiving: device.receiving.seconds,
        links: device.links.map { link in
          ControlAnswer.Statistics.Link(
            peer: link.peer, isCentral: link.isCentral, isConnected: link.isConnected, sentOctets: link.sent.octets,
            receivedOctets: link.received.octets, retransmissions: link.retransmissions, crcErrors: link.crcErrors,
            rssi: link.rssi)
        })
    }
  }
}
