import BluetoothRadio
import BluetoothWire

/// The part of the controller that all link layer states share: the device's addresses, features and clock, the lists
/// of peers, the random numbers, and the queue of packets for the host.
///
/// Functions that only read are `mutating`, too: for a non-mutating call on a value that is being changed, the compiler
/// copies the whole value.
struct LocalDevice: ~Copyable {
  let configuration: ControllerConfiguration
  let pool: PacketPool
  let clock: SleepClock
  var random: RandomStream
  var output: HCIEventQueue
  var resolvingList = ResolvingList()
  var acceptList = AcceptList()
  /// The channels that new connections use, and that a central's connections change to.
  var channelMap = ChannelMap.all
  /// The random address that the host has set.
  var randomAddress: DeviceAddress?
  /// The LE features that the host supports.
  private(set) var hostFeatures: HCI.LEFeatures = []
  /// The clock chosen by LE Modify Sleep Clock Accuracy; nil: the device's real clock.
  private var chosenClock: LL.SleepClockAccuracy?

  init(configuration: ControllerConfiguration, random: RandomStream, pool: PacketPool) {
    self.configuration = configuration.possible
    self.pool = pool
    self.random = random
    clock = SleepClock(drift: configuration.sleepClockDrift)
    output = HCIEventQueue(features: self.configuration.features, pool: pool)
    if configuration.address.kind == .random { randomAddress = configuration.address }
  }

  /// Restores the state after power on, apart from the random numbers and the clock.
  mutating func reset() {
    output.reset()
    resolvingList = ResolvingList()
    acceptList = AcceptList()
    channelMap = .all
    randomAddress = configuration.address.kind == .random ? configuration.address : nil
    hostFeatures = []
    chosenClock = nil
  }

  // MARK: Features

  /// The features that this controller reports by LE Read Local Supported Features.
  var features: HCI.LEFeatures {
    mutating get { HCI.LEFeatures(rawValue: configuration.features.rawValue | hostFeatures.rawValue) }
  }

  /// Executes LE Set Host Feature, which is allowed only while no connection exists · Vol 4, Part E, 7.8.115.
  mutating func setHostFeature(_ bit: UInt8, _ value: Bool, isConnected: Bool) -> HCI.ErrorCode {
    guard bit < 64, case let feature = HCI.LEFeatures(rawValue: 1 << bit), HCI.LEFeatures.ofHost.contains(feature)
    else { return .unsupportedFeatureOrParameterValue }
    guard !isConnected else { return .commandDisallowed }
    if value { hostFeatures.insert(feature) } else { hostFeatures.remove(feature) }
    return .success
  }

  // MARK: Sleep clock

  /// The accuracy that this device reports to peers.
  var sleepClockAccuracy: LL.SleepClockAccuracy { mutating get { chosenClock ?? ownSleepClock } }

  /// The accuracy that this device assumes for its own clock, parts per million.
  var clockAccuracy: Int64 {
    mutating get { chosenClock?.partsPerMillion ?? Int64(configuration.sleepClockAccuracy) }
  }

  private var ownSleepClock: LL.SleepClockAccuracy {
    mutating get { LL.SleepClockAccuracy(partsPerMillion: configuration.sleepClockAccuracy) }
  }

  /// Switches to the next less accurate or the next more accurate sleep clock, and returns its accuracy; nil: there is
  /// no such clock. The device simulates one clock of each accuracy below its own; the real drift of the clock stays
  /// the same · Vol 4, Part E, 7.8.94.
  mutating func chooseSleepClock(isLessAccurate: Bool) -> LL.SleepClockAccuracy? {
    let value = Int(sleepClockAccuracy.rawValue) + (isLessAccurate ? -1 : 1)
    guard value <= Int(ownSleepClock.rawValue), let rawValue = UInt8(exactly: value),
      let accuracy = LL.SleepClockAccuracy(rawValue: rawValue)
    else { return nil }
    chosenClock = accuracy == ownSleepClock ? nil : accuracy
    return accuracy
  }

  /// Returns the window of the packet that `pointer` announces, in a packet that began at `start` and has ended; nil:
  /// this device can't receive the announced packet.
  mutating func window(_ pointer: LL.AuxiliaryPointer, from start: Instant, at now: Instant) -> AuxiliaryWindow? {
    guard features.phys.contains(HCI.PHYs(pointer.phy)) else { return nil }
    return AuxiliaryWindow(pointer, from: start, clock: clock, accuracy: clockAccuracy, at: now)
  }

  // MARK: Reports

  /// The number of packets waiting for the host from which on advertising is not reported, so that advertisers can't
  /// exhaust the memory.
  private static let waitingPackets = 256

  /// True if the host reads its packets, so that the controller may report advertising.
  var hasRoomForReports: Bool { mutating get { output.packets.count < Self.waitingPackets } }
}

extension Decibel {
  /// The level for HCI: whole dBm, −127 to 20.
  var hciLevel: Int8 { Int8(min(20, max(-127, rounded))) }
}
