import BluetoothController
import BluetoothDissection
import BluetoothRadio
import BluetoothSimulation
import BluetoothWire

extension World {
  /// The activity of all devices so far. Read this property while the world is not running, or in one of its callbacks.
  public var statistics: WorldStatistics { inspect { statistics(in: $0) } }

  /// Returns the activity of all devices so far, for an operation of the world, which has the engine.
  package func statistics(in engine: WorldEngine) -> WorldStatistics {
    let (names, supplies) = (deviceNames, supplies)
    let reports = names.indices.map { engine.report(RadioID(index: $0)) }
    var peers = PeerNames(names, reports, engine)
    var statistics = WorldStatistics(time: engine.now.sinceZero.duration, devices: [])
    for (index, name) in names.enumerated() {
      var device = DeviceStatistics(name, reports[index])
      device.links = reports[index].links.filter(\.isEstablished).map {
        LinkStatistics($0, peer: peers.name(of: $0, on: index))
      }
      device.attempts = peers.attempts(of: index)
      (device.chip, device.cell) = (supplies[index].chip, supplies[index].cell)
      statistics.devices.append(device)
    }
    return statistics
  }
}

extension RadioDevice {
  /// The activity of this device so far. Read this property while the world is not running, or in one of its callbacks.
  public var statistics: DeviceStatistics {
    world.statistics.devices[radio.index]
  }
}

/// The counts collected from the parts of a device.
struct DeviceReport {
  /// The radio's counts; nil if the world has not added the device yet.
  var radio: RadioStatistics?
  var uses = RadioTimeAccount()
  var links: [LinkReport] = []
  var attempts: [AttemptReport] = []
}

extension WorldEngine {
  fileprivate func report(_ radio: RadioID) -> DeviceReport {
    var report = DeviceReport()
    guard let device = device(radio) else { return report }
    report.radio = statistics(of: radio)
    if let device = device as? any WorldDevice {
      report.uses = device.uses(at: now)
      report.links = device.links
      report.attempts = device.attempts
    }
    return report
  }
}

/// The names of the peers of connections and attempts.
private struct PeerNames {
  private let names: [String]
  private let reports: [DeviceReport]
  private let engine: WorldEngine
  /// The devices with a connection, by its access address.
  private var ends: [UInt32: [Int]] = [:]
  /// The devices by their addresses; nil: no device of the world has the address.
  private var owners: [DeviceAddress: Int?] = [:]

  init(_ names: [String], _ reports: [DeviceReport], _ engine: WorldEngine) {
    (self.names, self.reports, self.engine) = (names, reports, engine)
    for index in reports.indices {
      for link in reports[index].links { ends[link.accessAddress, default: []].append(index) }
    }
  }

  /// Returns the name of the peer on a connection of the device with this index.
  mutating func name(of link: LinkReport, on index: Int) -> String {
    let peer = ends[link.accessAddress]?.first { $0 != index } ?? owner(of: link.peer)
    return peer.map { names[$0] } ?? link.peer.digits
  }

  private mutating func owner(of address: DeviceAddress) -> Int? {
    if let known = owners[address] { return known }
    let owner = names.indices.first { index in
      (engine.device(RadioID(index: index)) as? any WorldDevice)?.hasAddress(address) ?? false
    }
    owners[address] = .some(owner)
    return owner
  }

  /// Returns the attempts of a central. A request was lost if the peripheral has not created a connection for it.
  mutating func attempts(of central: Int) -> [ConnectionAttempts] {
    var result: [ConnectionAttempts] = []
    var failures: [Int] = []
    var peripherals: [Int?] = []
    for report in reports[central].attempts where report.isCentral {
      let peripheral = owner(of: report.peer)
      let peer = peripheral.map { names[$0] } ?? report.peer.digits
      let place = result.firstIndex { $0.peer == peer } ?? result.count
      if place == result.count {
        result.append(ConnectionAttempts(peer: peer))
        failures.append(0)
        peripherals.append(peripheral)
      }
      result[place].count += report.created
      failures[place] += report.failed
    }
    for place in result.indices {
      let received = peripherals[place].map { requests(of: central, receivedBy: $0) } ?? 0
      result[place].lostRequests = min(failures[place], max(0, result[place].count - received))
      result[place].unanswered = failures[place] - result[place].lostRequests
    }
    return result
  }

  /// Returns the number of connection requests of a central that the peripheral has received.
  private mutating func requests(of central: Int, receivedBy peripheral: Int) -> Int {
    var count = 0
    for report in reports[peripheral].attempts where !report.isCentral && owner(of: report.peer) == central {
      count += report.created
    }
    return count
  }
}

extension DeviceStatistics {
  fileprivate init(_ name: String, _ report: DeviceReport) {
    self.init(name: name)
    if let radio = report.radio {
      time = (radio.airTime + radio.receiving + radio.idle).duration
      transmitted.packets = radio.packetsSent
      transmitted.airTime = radio.airTime.duration
      receivedPackets = radio.packetsReceived
      crcErrors = radio.crcErrors
      missedPackets = radio.missedPackets
    }
    for (purpose, own) in [
      (RadioPurpose.advertising, report.uses.advertising), (.scanning, report.uses.scanning),
      (.connections, report.uses.connections),
    ] {
      var use = Use()
      use.receiving = own.receiving.duration
      for sending in own.transmitting { use.transmitting[sending.power] = sending.time.duration }
      uses[purpose] = use
    }
  }
}

extension LinkStatistics {
  fileprivate init(_ report: LinkReport, peer: String) {
    self.init(
      number: report.accessAddress, peer: peer, isCentral: report.isCentral, isConnected: report.isConnected)
    let counts = report.statistics
    sent = Direction(counts.sent)
    received = Direction(counts.received)
    retransmissions = counts.retransmissions
    crcErrors = counts.crcErrors
    receiveTimeouts = counts.receiveTimeouts
    attendedEvents = counts.attendedEvents
    missedEvents = counts.missedEvents
    rssi = counts.lastLevel?.value
    meanRSSI = counts.meanLevel?.value
    time = counts.time.duration
  }
}

extension LinkStatistics.Direction {
  fileprivate init(_ direction: ConnectionStatistics.Direction) {
    packets = direction.packets
    octets = direction.octets
    airTime = direction.airTime.duration
  }
}
