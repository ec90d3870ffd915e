import BluetoothLab

extension WorldFile {
  /// Creates the world of the file with a device for this program: with the name and the position of the first entry of
  /// the file's `clients`, or at the origin.
  ///
  /// - Parameters:
  ///   - time: the passage of time in the world.
  ///   - seed: the seed, in place of that of the file; nil: the file's, or 0.
  ///   - name: the name of the device if the file has no clients.
  package func makeWorld(time: World.Time, seed: UInt64? = nil, client name: String) -> (world: World, device: Device) {
    let world = World(seed: seed ?? self.seed ?? 0, time: time)
    var population = populate(world)
    let place = clients.first
    let device = world.makeDevice(
      named: place?.name ?? Self.freeName(name, in: world), place?.options ?? DeviceOptions())
    population.place(0, for: device)
    return (world, device)
  }

  /// Returns a name that no device of the world has.
  private static func freeName(_ name: String, in world: World) -> String {
    let names = Set(world.deviceNames)
    var name = name
    while names.contains(name) { name += "'" }
    return name
  }
}
