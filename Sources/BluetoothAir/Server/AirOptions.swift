/// The options of an air.
package struct AirOptions: Sendable {
  /// The speed of the air's time.
  package enum Speed: Hashable, Sendable {
    /// Radio seconds per second, 0.001 to 1,000.
    case times(Double)
    /// Real time, except while a controller holds data of its host: the air then proceeds to its next event as soon as
    /// all data from the sockets have been processed.
    case maximum
  }

  /// The seed for all randomness in the air.
  package var seed: UInt64 = 0
  package var speed = Speed.times(1)
  /// The number of ACL packets that a controller can hold for its host, 1 to 65,535.
  package var aclBuffers = 64
  /// The world file with the devices of the world and the places of hosts, in the order in which they join. Further
  /// hosts are placed at the origin.
  package var file: WorldFile?
  /// Other files that this program reads or writes, which no capture may replace.
  package var usedFiles: [String] = []
  /// The largest number of hosts at a time.
  package var hostLimit = 10_000
  /// The number of pending packets above which a host that reads none loses its connection.
  package var waitingLimit = 1_000

  package init() {}
}
