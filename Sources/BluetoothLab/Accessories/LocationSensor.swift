import BluetoothProfiles

/// A receiver of positions with navigation: Location and Navigation (0x1819), with Battery and Device Information
/// · Location and Navigation Profile 1.0, 3.
///
/// The sensor moves at a constant speed: straight ahead, or to the waypoints of the selected route while it navigates.
public struct LocationSensor: Accessory {
  /// The UUID of the Location and Navigation service.
  public static let service: BluetoothUUID = 0x1819
  /// LN Feature: the value of `features`.
  public static let feature = Characteristic<LNFeature>(of: service)
  /// Location and Speed, notified with each fix.
  public static let locationAndSpeed = Characteristic<LocationAndSpeed>(of: service)
  /// Position Quality: the satellites and the errors.
  public static let positionQuality = Characteristic<PositionQuality>(of: service)
  /// LN Control Point.
  public static let controlPoint = Characteristic<LNControlPoint>(of: service)
  /// Navigation, notified with each fix while the sensor navigates.
  public static let navigation = Characteristic<Navigation>(of: service)

  /// The advertised name.
  public var name: String
  /// The advertising intervals after power-on and after each disconnection.
  public var advertisingSchedule = Advertising.fastThenSlow
  /// The speed in metres per second.
  public var speed: Double
  /// The direction of the movement in degrees from north to east, 0 to 359.99. While the sensor navigates, it is the
  /// bearing of the next waypoint.
  public var heading: Double
  /// The elevation in metres, which clients may set; it is reported as −83,886.08 to 83,886.07.
  public var elevation: Double
  /// The routes.
  public var routes: [NavigationRoute]
  /// The status of the position.
  public var positionStatus = PositionStatus.positionOK
  /// The number of satellites in the solution, and in view.
  public var beacons: (inSolution: UInt8, inView: UInt8) = (8, 11)
  /// The UTC time at the world's time 0; nil if the sensor does not know the time. With a time, a notification has 27
  /// octets, for which the smallest ATT_MTU is too short.
  public var startTime: DateTime?
  /// The battery level, 0 to 100 %.
  public var batteryLevel: UInt8 = 100
  /// The values of the Device Information service.
  public var information = DeviceInformation(model: "Location Sensor")
  /// The number of fixes per second, which clients may set.
  public private(set) var fixRate: UInt8 = 1
  /// The total distance in metres, which clients may set.
  public private(set) var totalDistance = 0.0
  /// The index of the selected route; nil before a client has selected one.
  public private(set) var selectedRoute: Int?
  /// The index of the waypoint to which the sensor navigates; nil while it does not navigate.
  public private(set) var waypoint: Int?
  private var place: FlatPosition
  private var isPaused = false
  private var lastTime: Duration?
  private var mask = ContentMask()
  private var arrival = Arrival.none
  private var control = ControlPoint(Self.controlPoint)

  private enum Arrival { case none, waypoint, destination }

  /// Creates a sensor at this position.
  public init(
    name: String = "Location", position: GeographicPosition = GeographicPosition(latitude: 48, longitude: 11),
    speed: Double = 5, heading: Double = 90, elevation: Double = 500, routes: [NavigationRoute] = []
  ) {
    self.name = name
    place = FlatPosition(position)
    self.speed = speed
    self.heading = heading
    self.elevation = elevation
    self.routes = routes
  }

  /// The position.
  public var position: GeographicPosition { place.position }

  /// The features.
  public var features: LNFeature {
    let always: LNFeature = [
      .instantaneousSpeed, .totalDistance, .location, .elevation, .heading, .remainingDistance,
      .numberOfBeaconsInSolution, .numberOfBeaconsInView, .estimatedHorizontalPositionError, .contentMasking,
      .fixRateSetting, .elevationSetting, .positionStatus,
    ]
    return startTime == nil ? always : always.union(.utcTime)
  }

  /// Connectable advertising with Flags, the service UUID and the name.
  public var advertising: Advertising {
    Advertising(
      AdvertisingPayload(fitting: [.flags(), .services([Self.service]), .name(name)]),
      schedule: advertisingSchedule)
  }

  /// Outdoor Sports Activity: Location and Navigation Pod.
  public var appearance: Appearance { Appearance(rawValue: 0x1444) }

  /// The Location and Navigation, Battery and Device Information services.
  public var services: [AccessoryService<Self>] {
    [
      AccessoryService(
        Self.service,
        [
          AccessoryCharacteristic(Self.feature, .read, value: \.features),
          AccessoryCharacteristic(Self.locationAndSpeed, .notify, value: \.currentLocation),
          AccessoryCharacteristic(Self.positionQuality, .read, value: \.currentQuality),
          AccessoryCharacteristic(
            controlPoint: Self.controlPoint, \.control,
            command: { sensor, octets, context in sensor.perform(octets, of: context.client) }),
          AccessoryCharacteristic(Self.navigation, .notify, value: \.currentNavigation),
        ]),
      .battery(level: \.batteryLevel),
      .deviceInformation(information),
    ]
  }

  // MARK: Control point

  /// The bits of the mask: the fields of Location and Speed.
  private static let maskable: UInt16 = 0x007F

  /// Performs a command of a client and returns its response · Location and Navigation Service 1.0, 3.4.
  private mutating func perform(_ octets: [UInt8], of client: AccessoryClient?) -> LNControlPoint {
    let opCode = LNControlPoint.OpCode(rawValue: octets[0])
    func respond(_ response: ControlPointResponse, _ parameter: [UInt8] = []) -> LNControlPoint {
      .response(to: opCode, response, parameter)
    }
    switch try? LNControlPoint(octets) {
    case .setCumulativeValue(let distance): totalDistance = Double(distance.rawValue) / 10
    case .maskLocationAndSpeedContent(let mask):
      guard mask & ~Self.maskable == 0 else { return respond(.invalidParameter) }
      self.mask.set(mask, by: client)
    case .navigationControl(let command): return respond(navigate(command))
    case .requestNumberOfRoutes: return respond(.success, UInt16(clamping: routes.count).octets(2))
    case .requestNameOfRoute(let index):
      guard routes.indices.contains(Int(index)) else { return respond(.invalidParameter) }
      return respond(.success, Array(routes[Int(index)].name.utf8))
    case .selectRoute(let index):
      guard routes.indices.contains(Int(index)) else { return respond(.invalidParameter) }
      (selectedRoute, waypoint) = (Int(index), nil)
    case .setFixRate(let rate):
      guard rate > 0 else { return respond(.invalidParameter) }
      fixRate = rate
    case .setElevation(let elevation): self.elevation = Double(elevation.rawValue) / 100
    case nil where opCode != .responseCode:
      // The parameter is missing, too long or out of range.
      return respond(.invalidParameter)
    case .response, .other, nil: return respond(.opCodeNotSupported)
    }
    return respond(.success)
  }

  /// Performs a navigation command. It fails if no route is selected, or if the sensor is not in a state in which the
  /// command has a meaning.
  private mutating func navigate(_ command: LNControlPoint.NavigationControl) -> ControlPointResponse {
    guard command.name != nil else { return .invalidParameter }
    let waypoints = waypoints
    guard !waypoints.isEmpty else { return .operationFailed }
    switch command {
    case .start: (waypoint, isPaused) = (0, false)
    case .startFromNearestWaypoint:
      let distances = waypoints.map { place.vector(to: FlatPosition($0)).distance }
      (waypoint, isPaused) = (distances.indices.min { distances[$0] < distances[$1] }, false)
    case _ where waypoint == nil: return .operationFailed
    case .stop: waypoint = nil
    case .pause: isPaused = true
    case .resume: isPaused = false
    default:
      guard let waypoint, waypoint + 1 < waypoints.count else { return .operationFailed }
      self.waypoint = waypoint + 1
    }
    arrival = .none
    return .success
  }

  // MARK: Movement

  private var plausibleSpeed: Double { speed.isFinite ? min(max(0, speed), 655) : 0 }

  /// The waypoints of the selected route; none if no route is selected.
  private var waypoints: [GeographicPosition] {
    guard let selectedRoute, routes.indices.contains(selectedRoute) else { return [] }
    return routes[selectedRoute].waypoints
  }

  /// The next waypoint, while the sensor navigates.
  private var target: FlatPosition? {
    guard let waypoint, waypoints.indices.contains(waypoint) else { return nil }
    return FlatPosition(waypoints[waypoint])
  }

  /// Moves the sensor, to at most one waypoint.
  private mutating func move(_ distance: Double) {
    if arrival == .destination { waypoint = nil }
    arrival = .none
    guard let target, !isPaused else { return advance(distance) }
    let (rest, bearing) = place.vector(to: target)
    heading = bearing
    advance(min(distance, rest))
    guard distance >= rest, let waypoint else { return }
    if waypoint + 1 < waypoints.count {
      arrival = .waypoint
      self.waypoint = waypoint + 1
    } else {
      arrival = .destination
    }
  }

  private mutating func advance(_ distance: Double) {
    place.move(distance, towards: heading.isFinite ? heading : 0)
    totalDistance += distance
  }

  /// Starts moving.
  public mutating func started(in context: inout AccessoryContext) {
    lastTime = context.now
    context.wake(after: .seconds(1) / Int(fixRate))
  }

  /// Ends the content mask of the client.
  public mutating func disconnected(because reason: HCIErrorCode, in context: inout AccessoryContext) {
    mask.disconnected(in: context)
  }

  /// Moves and notifies subscribers.
  public mutating func timeReached(in context: inout AccessoryContext) {
    move(plausibleSpeed * (context.now - (lastTime ?? context.now)).seconds)
    lastTime = context.now
    context.notify(Self.locationAndSpeed)
    if waypoint != nil { context.notify(Self.navigation) }
    context.wake(after: .seconds(1) / Int(fixRate))
  }

  // MARK: Values

  private static func direction(_ degrees: Double) -> Scalar<Degrees100> {
    guard degrees.isFinite else { return Scalar(clamping: 0) }
    let rest = degrees.truncatingRemainder(dividingBy: 360)
    return Scalar(clamping: Int(((rest < 0 ? rest + 360 : rest) * 100).rounded()) % 36_000)
  }

  private var elevationValue: Scalar<HeightMetres100> {
    // The limits keep `Int` from overflowing. Clients may set each value of the field, from −83,886.08 to 83,886.07 m.
    Scalar(clamping: elevation.isFinite ? Int((min(max(elevation, -90_000), 90_000) * 100).rounded()) : 0)
  }

  private static func distance(_ metres: Double) -> Scalar<Metres10> {
    Scalar(clamping: Int((metres.limited(to: 0...2_000_000) * 10).rounded()))
  }

  /// The location that is notified now.
  private var currentLocation: LocationAndSpeed {
    func has(_ bit: Int) -> Bool { mask.keeps(bit) }
    var result = LocationAndSpeed()
    result.positionStatus = positionStatus
    if has(0) { result.speed = Scalar(clamping: Int((plausibleSpeed * 100).rounded())) }
    if has(1) { result.totalDistance = Self.distance(totalDistance) }
    if has(2) { result.position = place.position }
    if has(3) { result.elevation = elevationValue }
    if has(4) { result.heading = Self.direction(heading) }
    if has(6), let start = startTime?.secondsSince1970, let lastTime {
      result.utcTime = DateTime(secondsSince1970: start + Int(lastTime.components.seconds))
    }
    return result
  }

  /// The quality of the position.
  private var currentQuality: PositionQuality {
    var result = PositionQuality()
    (result.beaconsInSolution, result.beaconsInView) = (beacons.inSolution, beacons.inView)
    result.horizontalError = Scalar(clamping: 300)
    result.positionStatus = positionStatus
    return result
  }

  /// The directions that are notified now. On arrival at a waypoint they refer to the next point already, and on arrival
  /// at the destination to the destination.
  private var currentNavigation: Navigation {
    let (rest, bearing) = target.map { place.vector(to: $0) } ?? (0, heading)
    var result = Navigation(bearing: Self.direction(bearing), heading: Self.direction(heading))
    result.remainingDistance = Self.distance(rest)
    result.positionStatus = positionStatus
    result.waypointReached = arrival == .waypoint
    result.destinationReached = arrival == .destination
    if let waypoint { result.isToDestination = waypoint + 1 == waypoints.count }
    return result
  }
}
