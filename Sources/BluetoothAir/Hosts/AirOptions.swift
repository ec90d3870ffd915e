/// The options of an air.
package struct AirOptions: Sendable {
  /// The speed of the air's time.
  package enum Speed: Hashable, Sendable {
    /// Radio seconds per second, 0.001 to 1,000.
    case times(Double)
    /// Real time, except while a controller holds ACL data of its host: the air then processes its next event as soon
    /// as all data from the sockets have been processed.
    case maximum
  }

  /// The seed for all randomness in the air.
  package var seed: UInt64 = 0
  package var speed = Speed.times(1)
  /// The number of ACL data buffers of each controller, 1 to 65,535. Controllers of Bluetooth 4.0 have a fixed number.
  package var aclBuffers = 64
  /// The world file. Its clients are the devices of the hosts, in the order in which the hosts join. Further hosts get
  /// a device at the origin.
  package var file: WorldFile?
  /// The other files that this program reads or writes. No capture may replace them.
  package var usedFiles: [String] = []
  /// The maximum number of hosts at a time.
  package var hostLimit = 10_000
  /// The number of pending packets above which the connection of a host that does not read is closed.
  package var waitingLimit = 1_000

  package init() {}
}
