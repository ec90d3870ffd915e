import BluetoothController
import BluetoothHost
import BluetoothLab
import BluetoothRadio
import BluetoothSimulation
import BluetoothWire

/// The state of a world at a tick of its page, in the form that is cheapest to collect.
struct AirState: Sendable {
  struct Place: Sendable, Equatable {
    var position: GridPosition
    var isMuted: Bool
  }

  struct Device: Sendable, Equatable {
    var kind: String
    var role: DeviceRole
    var address: DeviceAddress?
    var isPowered: Bool?
    /// True if a host has joined; nil: the device is no host's.
    var isJoined: Bool?
    var sensitivity: Decibel
  }

  /// The ends of a link, as far as they are devices of the world.
  struct Link: Sendable {
    var number: UInt32
    var central: LinkEnd?
    var peripheral: LinkEnd?
  }

  struct LinkEnd: Sendable {
    var radio: RadioID
    var report: LinkReport
    var mtu: Int?
  }

  /// The end of a link, as one of its ends has reported it to its host.
  struct LinkEnding: Sendable, Hashable {
    var number: UInt32
    var radio: RadioID
    var reason: HCI.ErrorCode
  }

  var time: Instant
  /// Radio seconds per second; 0: the time stands still; nil: the world runs in virtual time.
  var speed: Double?
  var names: [String]
  /// The devices that have been removed.
  var removed: Set<RadioID>
  /// The place of each device.
  var places: [Place]
  /// The devices; nil: not collected.
  var devices: [Device]?
  /// The links; nil: not collected.
  var links: [Link]?
  /// The reasons of links that have ended since the last collection of links.
  var endings: [LinkEnding] = []
  /// The statistics, for counts and energy; nil: not collected.
  var statistics: WorldStatistics?
  /// The values that the page's central has got.
  var values: [JSONText] = []
  var environment: PathLossModel?
  var interference: [InterferenceSource]?
}

/// Collects the state of a world for its page. Confined to the world.
final class AirCollector: @unchecked Sendable {
  private let world: World
  // Unchecked: confined to the world.
  @exclusivity(unchecked) private var kinds: [(kind: String, role: DeviceRole)] = []
  /// The MTUs of the ends of links that were there at the last collection, by device and access address; 0: unknown.
  @exclusivity(unchecked) private var mtus: [UInt64: Int] = [:]

  init(_ world: World) { self.world = world }

  /// The parts of the state that a tick collects beside the places.
  struct Parts: OptionSet {
    let rawValue: Int
    static let devices = Parts(rawValue: 1)
    static let links = Parts(rawValue: 2)
    static let statistics = Parts(rawValue: 4)
    static let surroundings = Parts(rawValue: 8)
    static let all: Parts = [.devices, .links, .statistics, .surroundings]
  }

  func collect(_ parts: Parts, _ engine: WorldEngine) -> AirState {
    engine.bound.check()
    // A device that has been registered joins the world with a request, which may still wait.
    var names = world.deviceNames
    if let missing = names.indices.first(where: { engine.device(RadioID(index: $0)) == nil }) {
      names.removeSubrange(missing...)
    }
    var state = AirState(
      time: engine.now, speed: world.realTimeRunner?.speed, names: names, removed: world.removedDevices,
      places: names.indices.map { index in
        let radio = RadioID(index: index)
        return AirState.Place(position: engine[radio].position, isMuted: engine.isMuted(radio))
      })
    for (index, kind) in kinds.enumerated() where kind.role == .page {
      if let central = engine.device(RadioID(index: index)) as? PageCentral { state.values = central.takeValues() }
    }
    if parts.contains(.devices) { state.devices = names.indices.map { device(RadioID(index: $0), engine) } }
    if parts.contains(.links) {
      (state.links, state.endings) = links(names.count, asksHosts: parts.contains(.statistics), engine)
    }
    if parts.contains(.statistics) { state.statistics = world.statistics(in: engine) }
    if parts.contains(.surroundings) {
      (state.environment, state.interference) = (engine.pathLoss, engine.interference)
    }
    return state
  }

  private func device(_ radio: RadioID, _ engine: WorldEngine) -> AirState.Device {
    let device = engine.device(radio)
    while kinds.count <= radio.index { kinds.append(Self.kind(of: engine.device(RadioID(index: kinds.count)))) }
    let (kind, role) = kinds[radio.index]
    let own = device as? any WorldDevice
    return AirState.Device(
      kind: kind, role: role, address: own?.identityAddress, isPowered: own?.isPowered,
      isJoined: (device as? ExternalHostDevice).map { !$0.isVacant }, sensitivity: engine[radio].sensitivity1M)
  }

  /// Returns the kind of a device: the type of its accessory.
  private static func kind(of device: (any SimulatedDevice)?) -> (kind: String, role: DeviceRole) {
    let role = DeviceRole(of: device)
    return switch role {
    case .page: ("Page", role)
    case .host: ("Host", role)
    case .accessory: (device.flatMap { DeviceRole.accessory(of: $0) } ?? "", role)
    case .device: (device == nil ? "" : "Device", role)
    }
  }

  private func links(
    _ count: Int, asksHosts: Bool, _ engine: WorldEngine
  ) -> (links: [AirState.Link], endings: [AirState.LinkEnding]) {
    var links: [AirState.Link] = []
    var endings: [AirState.LinkEnding] = []
    var places: [UInt32: Int] = [:]
    var current: [UInt64: Int] = [:]
    for index in 0..<count {
      let radio = RadioID(index: index)
      guard let device = engine.device(radio) as? any WorldDevice else { continue }
      for report in device.links where report.isEstablished {
        let key = UInt64(index) << 32 | UInt64(report.accessAddress)
        guard report.isConnected else {
          if mtus[key] != nil, let reason = report.reason {
            endings.append(AirState.LinkEnding(number: report.accessAddress, radio: radio, reason: reason))
          }
          continue
        }
        current[key] = mtus[key] ?? 0
        if asksHosts || current[key] == 0 {
          engine.withDevice(radio) { device in
            _ = device.withHost(at: engine.now) { current[key] = $0.mtu(of: report.handle) }
          }
        }
        let end = AirState.LinkEnd(radio: radio, report: report, mtu: current[key].flatMap { $0 > 0 ? $0 : nil })
        let place = places[report.accessAddress] ?? links.count
        if place == links.count {
          places[report.accessAddress] = place
          links.append(AirState.Link(number: report.accessAddress))
        }
        if report.isCentral { links[place].central = end } else { links[place].peripheral = end }
      }
    }
    mtus = current
    return (links, endings)
  }
}
