import BluetoothTypes
import Foundation
import NIOConcurrencyHelpers

/// The beacons that a ranging reports: those with a UUID, or also with a group, or also with a number.
public final class CLBeaconIdentityConstraint: NSObject, Sendable {
  let constraint: BeaconConstraint

  /// Selects all beacons with this UUID.
  public init(uuid: UUID) { constraint = BeaconConstraint(uuid: uuid, major: nil, minor: nil) }

  /// Selects the beacons with this UUID in a group.
  public init(uuid: UUID, major: UInt16) { constraint = BeaconConstraint(uuid: uuid, major: major, minor: nil) }

  /// Selects the beacons with this UUID, group and number.
  public init(uuid: UUID, major: UInt16, minor: UInt16) {
    constraint = BeaconConstraint(uuid: uuid, major: major, minor: minor)
  }

  /// The UUID.
  public var uuid: UUID { constraint.uuid }
  /// The group; nil: any.
  public var major: UInt16? { constraint.major }
  /// The number within the group; nil: any.
  public var minor: UInt16? { constraint.minor }

  /// True if `object` is a constraint that selects the same beacons.
  public override func isEqual(_ object: Any?) -> Bool {
    (object as? CLBeaconIdentityConstraint)?.constraint == constraint
  }

  public override var hash: Int { constraint.hashValue }
}

/// An area that a location manager monitors.
open class CLRegion: NSObject, @unchecked Sendable {
  // Unchecked: the class is open. The flags have a lock, because the manager's tasks read them.

  /// The name by which the app distinguishes its regions.
  public let identifier: String
  private let notifies = NIOLockedValueBox((entry: true, exit: true))

  /// True if the delegate is told of entries.
  public var notifyOnEntry: Bool {
    get { notifies.withLockedValue { $0.entry } }
    set { notifies.withLockedValue { $0.entry = newValue } }
  }

  /// True if the delegate is told of exits.
  public var notifyOnExit: Bool {
    get { notifies.withLockedValue { $0.exit } }
    set { notifies.withLockedValue { $0.exit = newValue } }
  }

  init(identifier: String) { self.identifier = identifier }

  /// True if `object` is a region with the same identifier.
  open override func isEqual(_ object: Any?) -> Bool { (object as? CLRegion)?.identifier == identifier }

  open override var hash: Int { identifier.hashValue }
}

/// The area in which packets of certain beacons are received.
public final class CLBeaconRegion: CLRegion, @unchecked Sendable {
  // Unchecked, as a subclass of CLRegion must say again. Its properties are constants.

  /// The beacons of the region.
  public let beaconIdentityConstraint: CLBeaconIdentityConstraint

  private let notifiesOnDisplay = NIOLockedValueBox(false)

  /// Has no effect: Core Location reports the state of a region when the display turns on, and there is no display.
  public var notifyEntryStateOnDisplay: Bool {
    get { notifiesOnDisplay.withLockedValue { $0 } }
    set { notifiesOnDisplay.withLockedValue { $0 = newValue } }
  }

  /// Creates the region of the beacons that the constraint selects.
  public init(beaconIdentityConstraint: CLBeaconIdentityConstraint, identifier: String) {
    self.beaconIdentityConstraint = beaconIdentityConstraint
    super.init(identifier: identifier)
  }

  /// Creates the region of all beacons with this UUID.
  public convenience init(uuid: UUID, identifier: String) {
    self.init(beaconIdentityConstraint: CLBeaconIdentityConstraint(uuid: uuid), identifier: identifier)
  }

  /// Creates the region of the beacons with this UUID in a group.
  public convenience init(uuid: UUID, major: UInt16, identifier: String) {
    self.init(beaconIdentityConstraint: CLBeaconIdentityConstraint(uuid: uuid, major: major), identifier: identifier)
  }

  /// Creates the region of the beacons with this UUID, group and number.
  public convenience init(uuid: UUID, major: UInt16, minor: UInt16, identifier: String) {
    self.init(
      beaconIdentityConstraint: CLBeaconIdentityConstraint(uuid: uuid, major: major, minor: minor),
      identifier: identifier)
  }

  /// Creates the region of all beacons with this UUID.
  @available(*, deprecated, renamed: "init(uuid:identifier:)")
  public convenience init(proximityUUID: UUID, identifier: String) {
    self.init(uuid: proximityUUID, identifier: identifier)
  }

  /// Creates the region of the beacons with this UUID in a group.
  @available(*, deprecated, renamed: "init(uuid:major:identifier:)")
  public convenience init(proximityUUID: UUID, major: UInt16, identifier: String) {
    self.init(uuid: proximityUUID, major: major, identifier: identifier)
  }

  /// Creates the region of the beacons with this UUID, group and number.
  @available(*, deprecated, renamed: "init(uuid:major:minor:identifier:)")
  public convenience init(proximityUUID: UUID, major: UInt16, minor: UInt16, identifier: String) {
    self.init(uuid: proximityUUID, major: major, minor: minor, identifier: identifier)
  }

  /// The UUID of the beacons.
  @available(*, deprecated, renamed: "uuid")
  public var proximityUUID: UUID { uuid }
  /// The UUID of the beacons.
  public var uuid: UUID { beaconIdentityConstraint.uuid }
  /// The group of the beacons; nil: any.
  public var major: NSNumber? { beaconIdentityConstraint.major.map { NSNumber(value: $0) } }
  /// The number of the beacon; nil: any.
  public var minor: NSNumber? { beaconIdentityConstraint.minor.map { NSNumber(value: $0) } }

  /// Returns the advertising data of a beacon of this region, for `AdvertisingParameters`. Groups and numbers that the
  /// region leaves open are 0.
  ///
  /// - Parameter measuredPower: the level at a distance of one metre in dBm.
  public func advertisingData(measuredPower: Int8 = -59) -> [ADStructure] {
    // Apple's company identifier, the type 0x02 and the length 0x15 of the rest.
    [.flags(), .manufacturerData(company: 0x004C, [0x02, 0x15] + identity(measuredPower))]
  }

  /// Returns the advertisement data of a beacon of this region, for `CBPeripheralManager.startAdvertising(_:)`. Groups
  /// and numbers that the region leaves open are 0. Core Location returns an `NSMutableDictionary`, which apps cast to
  /// this type.
  ///
  /// - Parameter measuredPower: the level at a distance of one metre in dBm, −128 to 127; nil: −59. Other values are
  ///   clamped.
  public func peripheralData(withMeasuredPower measuredPower: NSNumber?) -> [String: Any] {
    ["kCBAdvDataAppleBeaconKey": Data(identity(Int8(clamping: measuredPower?.intValue ?? -59)))]
  }

  /// Returns the UUID, the numbers and the level at one metre in the form of an iBeacon: 21 octets.
  private func identity(_ measuredPower: Int8) -> [UInt8] {
    let constraint = beaconIdentityConstraint.constraint
    let numbers = [constraint.major ?? 0, constraint.minor ?? 0].flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    return withUnsafeBytes(of: constraint.uuid.uuid) { Array($0) } + numbers + [UInt8(bitPattern: measuredPower)]
  }
}
