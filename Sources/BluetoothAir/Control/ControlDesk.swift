import BluetoothLab
import BluetoothRadio
import BluetoothWire

/// Does what is asked of an air by its control socket. On the air's event loop.
struct ControlDesk {
  let world: World
  let hosts: HostTable
  /// Ends the air.
  let stop: @Sendable () -> Void

  func answer(_ request: ControlRequest) -> ControlAnswer {
    do throws(AirError) {
      var answer = ControlAnswer()
      switch request.verb {
      case .devices: (answer.time, answer.devices) = (world.now.seconds, devices)
      case .stats: (answer.time, answer.statistics) = (world.now.seconds, statistics)
      case .move: try device(request).move(to: try position(request))
      case .radio: try setRadio(request)
      case .fault: setFaults(request)
      case .capture: try setCapture(request)
      case .stop: stop()
      }
      hosts.runner.pump(runsAhead: false)
      return answer
    } catch {
      return ControlAnswer(error: error.description)
    }
  }

  private func device(_ request: ControlRequest) throws(AirError) -> RadioDevice {
    guard let name = request.device else { throw AirError("which device is meant is not said") }
    let names = world.deviceNames
    guard let index = names.firstIndex(of: name) else {
      let others = names.prefix(8).joined(separator: ", ")
      throw AirError("there is no device \"\(name)\"; there \(names.isEmpty ? "is none" : "are \(others)")")
    }
    return RadioDevice(name: name, radio: RadioID(index: index), world: world)
  }

  private func position(_ request: ControlRequest) throws(AirError) -> Position {
    guard let metres = request.position, (1...3).contains(metres.count), metres.allSatisfy(\.isFinite) else {
      throw AirError("a place is one to three numbers: metres")
    }
    return Position(x: metres[0], y: metres.count > 1 ? metres[1] : 0, z: metres.count > 2 ? metres[2] : 0)
  }

  private func setRadio(_ request: ControlRequest) throws(AirError) {
    let device = try device(request)
    guard let on = request.on else { throw AirError("whether the radio is to be on or off is not said") }
    device.setRadio(isOn: on)
  }

  private func setFaults(_ request: ControlRequest) {
    if let plan = request.plan { world.add(plan) } else { world.removeFaults() }
  }

  private func setCapture(_ request: ControlRequest) throws(AirError) {
    guard let path = request.path else { return try finishCapture() }
    guard path != hosts.capturePath else { throw AirError("\(path) is being written already") }
    // One that can't be made leaves the other as it is.
    let capture: Capture
    do throws(Capture.Failure) {
      capture = try Capture(path: path, decryptsAir: request.decrypted ?? false, writesKeys: request.keys ?? false)
    } catch {
      throw AirError(error.description)
    }
    defer { start(capture, at: path) }
    try finishCapture()
  }

  private func start(_ capture: Capture, at path: String) {
    hosts.capturePath = path
    world.startCapture(capture)
  }

  private func finishCapture() throws(AirError) {
    hosts.capturePath = nil
    do throws(Capture.Failure) { try world.finishCapture() } catch { throw AirError(error.description) }
  }

  // MARK: What there is

  private var devices: [ControlAnswer.Device] {
    let places = Dictionary(hosts.places.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    var states: [(position: GridPosition, isMuted: Bool)] = []
    let names = world.deviceNames
    hosts.runner.enter { engine in
      engine.settle()
      states = names.indices.map {
        (engine[RadioID(index: $0)].position, engine.isMuted(RadioID(index: $0)))
      }
    }
    return zip(names, states).map { name, state in
      ControlAnswer.Device(
        name: name, address: places[name].map { "\($0.address)" },
        position: [state.position.x, state.position.y, state.position.z].map { Double($0) / 1_000 },
        radio: !state.isMuted, host: places[name]?.isTaken)
    }
  }

  private var statistics: [ControlAnswer.Statistics] {
    world.statistics.devices.map { device in
      ControlAnswer.Statistics(
        name: device.name, sentPackets: device.transmitted.packets, receivedPackets: device.receivedPackets,
        crcErrors: device.crcErrors, transmitting: device.transmitting.seconds, receiving: device.receiving.seconds,
        links: device.links.map { link in
          ControlAnswer.Statistics.Link(
            peer: link.peer, isCentral: link.isCentral, isConnected: link.isConnected, sentOctets: link.sent.octets,
            receivedOctets: link.received.octets, retransmissions: link.retransmissions, crcErrors: link.crcErrors,
            rssi: link.rssi)
        })
    }
  }
}
