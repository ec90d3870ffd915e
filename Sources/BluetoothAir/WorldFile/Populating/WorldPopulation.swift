import BluetoothLab

extension WorldFile {
  /// Adds the devices of the file to `world`, and sets its environment, interference and faults. Times in the file are
  /// times of the world, even if the world has been running before.
  ///
  /// - Returns: the population, to which the devices of clients are added when the clients join.
  @discardableResult
  package func populate(_ world: World) -> WorldPopulation {
    world.setEnvironment(environment)
    world.setInterference(interference)
    var population = WorldPopulation(of: self, in: world)
    for member in members { population.add(Self.add(member, to: world)) }
    // Faults refer to devices by name, so clients may join later.
    if !faults.faults.isEmpty { world.add(faults) }
    return population
  }

  /// Adds a device to `world`, with its movement and its times of power.
  @discardableResult
  static func add(_ member: Member, to world: World) -> RadioDevice {
    let device = add(member.accessory, member, to: world)
    if !member.path.isEmpty { device.move(along: member.path) }
    for entry in member.power { device.setPower(entry.isOn, at: entry.time) }
    return device
  }

  private static func add<A: Accessory>(_ accessory: A, _ member: Member, to world: World) -> RadioDevice {
    world.add(accessory, named: member.name, member.options)
  }
}

/// The devices that a world file has added to a world, and the file's settings for clients.
package struct WorldPopulation: Sendable {
  private let clients: [WorldFile.Client]
  /// The path losses to other devices and clients, by device or client name.
  private let losses: [String: [(other: String, decibels: Double)]]
  private let world: World
  private var devices: [String: RadioDevice] = [:]

  fileprivate init(of file: WorldFile, in world: World) {
    clients = file.clients
    self.world = world
    var losses: [String: [(other: String, decibels: Double)]] = [:]
    for loss in file.losses {
      losses[loss.first, default: []].append((loss.second, loss.decibels))
      losses[loss.second, default: []].append((loss.first, loss.decibels))
    }
    self.losses = losses
  }

  /// The device with this name: a device of the file, or the device of a client that has joined; nil if there is none.
  package subscript(_ name: String) -> RadioDevice? { devices[name] }

  /// Applies the settings of a client to a device that was created with the client's name and options: starts the
  /// device's movement, and sets its path losses to other devices. Does nothing if there is no such client.
  ///
  /// - Parameter client: the index of the client, from 0.
  package mutating func place(_ client: Int, for device: RadioDevice) {
    guard clients.indices.contains(client) else { return }
    let place = clients[client]
    if !place.path.isEmpty { device.move(along: place.path) }
    add(device, named: place.name)
  }

  fileprivate mutating func add(_ device: RadioDevice) { add(device, named: device.name) }

  private mutating func add(_ device: RadioDevice, named name: String) {
    devices[name] = device
    for loss in losses[name] ?? [] {
      if let other = devices[loss.other] { world.setLoss(loss.decibels, between: device, and: other) }
    }
  }
}
