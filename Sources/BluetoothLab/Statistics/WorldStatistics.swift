import BluetoothController
import BluetoothRadio
import BluetoothSimulation
import BluetoothWire

/// The activity of all devices of a world.
public struct WorldStatistics: Hashable, Sendable, Codable {
  /// The world's radio time.
  public var time: Duration
  /// The devices, in the order in which they were added.
  public var devices: [DeviceStatistics]

  /// The statistics of the device with this name; nil if there is none.
  public subscript(name: String) -> DeviceStatistics? { devices.first { $0.name == name } }

  /// Returns the energy consumption of each device, in the order of the devices, by default with each device's own
  /// chip and battery.
  public func energy(_ profile: CurrentProfile? = nil, cell: Cell? = nil) -> [EnergyReport] {
    devices.map { $0.energy(profile, cell: cell) }
  }
}

extension World {
  /// The activity of all devices so far. Read this property while the world is not running, or in one of its callbacks.
  public var statistics: WorldStatistics {
    let (names, supplies) = (deviceNames, supplies)
    return inspect { engine in
      let reports = names.indices.map { engine.report(RadioID(index: $0)) }
      var statistics = WorldStatistics(time: engine.now.sinceZero.duration, devices: [])
      for (index, name) in names.enumerated() {
        var device = DeviceStatistics(
          name, reports[index],
          peers: { link in
            reports.indices.first { $0 != index && reports[$0].links.contains { $0.accessAddress == link } }
              .map { names[$0] }
          })
        (device.chip, device.cell) = (supplies[index].chip, supplies[index].cell)
        statistics.devices.append(device)
      }
      return statistics
    }
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
}

extension WorldEngine {
  fileprivate func report(_ radio: RadioID) -> DeviceReport {
    var report = DeviceReport()
    guard let device = device(radio) else { return report }
    report.radio = statistics(of: radio)
    if let device = device as? any WorldDevice {
      report.uses = device.uses(at: now)
      report.links = device.links
    }
    return report
  }
}

extension DeviceStatistics {
  fileprivate init(_ name: String, _ report: DeviceReport, peers: (UInt32) -> String?) {
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
    links = report.links.map { LinkStatistics($0, peer: peers($0.accessAddress)) }
  }
}

extension LinkStatistics {
  fileprivate init(_ report: LinkReport, peer: String?) {
    self.init(number: report.accessAddress, isCentral: report.isCentral, isConnected: report.isConnected)
    self.peer = peer
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
  fileprivate init(_ direction: BluetoothController.LinkStatistics.Direction) {
    packets = direction.packets
    octets = direction.octets
    airTime = direction.airTime.duration
  }
}
