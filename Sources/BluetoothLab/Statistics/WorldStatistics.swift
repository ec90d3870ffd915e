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
