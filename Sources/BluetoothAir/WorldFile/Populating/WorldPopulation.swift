import BluetoothLab

extension WorldFile {
  /// Puts everything that the file has into `world`, and says how signals weaken there, what disturbs them, and what goes wrong. A
  /// world that has begun already is changed from now on; times in the file are the world's.
  ///
  /// - Returns: what was put there, which gives clients their places when they come.
  @discardableResult
  package func populate(_ world: World) -> WorldPopulation {
    world.setEnvironment(environment)
    world.setInterference(interference)
    var population = WorldPopulation(of: self, in: world)
    for member in members {
      let device = Self.add(member.accessory, member, to: world)
      if !member.path.isEmpty { device.move(along: member.path) }
      for entry in member.power { device.setPower(entry.isOn, at: entry.time) }
      population.add(device)
    }
    // Faults mean devices by their names, so that it does not matter when clients come.
    if !faults.faults.isEmpty { world.add(faults) }
    return population
  }

  private static func add<A: Accessory>(_ accessory: A, _ member: Member, to world: World) -> RadioDevice {
    world.add(accessory, named: member.name, member.options)
  }
}

/// What a world file has put into a world.
package struct WorldPopulation: Sendable {
  private let clients: [WorldFile.Client]
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

  /// The device of this name, if it is there: one of the file's, or a client that has been given its place.
  package subscript(_ name: String) -> RadioDevice? { devices[name] }

  /// Gives the place of a client to a device that was made with its name and its options: it moves as the file says, and
  /// what its ways to others lose holds from now on. A client without a place (there are fewer) stays as it is. The place may
  /// be given again when who had it has gone.
  ///
  /// - Parameter client: counts from 0.
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
