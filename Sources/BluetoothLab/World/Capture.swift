import BluetoothCapture
import BluetoothSimulation

/// A pcapng file of a world: the air, and the HCI of every device. Wireshark and tshark read it.
///
/// Packets of encrypted links are in it as they are on the air, with the comment "encrypted", and where a packet between a host
/// and its controller has a key, the file has zeros: long term keys, identity resolving keys, signing keys, DHKey, what LE Encrypt
/// and LE Rand work on and return. Who asks for what is secret gets keys, too, in a file that nobody but its owner may read.
public struct Capture: Sendable {
  let file: WorldCapture
  /// The JSON file beside the capture with the keys of its encrypted links; nil: there is none.
  public let keysPath: String?

  /// Why a file can't be written.
  public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// One line with the path and the system's reason.
    public let description: String
  }

  /// Begins a file at `path`, or replaces the one that is there. It is complete after `World.finishCapture`.
  ///
  /// A world in virtual time waits for the file, and for the reader of a FIFO. A world in real time does not: a thread of its own
  /// writes up to 8 MiB behind the world. What the disk or the reader does not take in time is dropped; a comment of the next
  /// packet tells how many packets are missing.
  ///
  /// - Parameters:
  ///   - decryptsAir: packets of encrypted links are written as they were before encryption, so that Wireshark shows what is
  ///     in them: without MIC, with the CRC that they would have had, and marked as decrypted.
  ///   - writesKeys: the keys of encrypted links go to a JSON file whose path is `path` and `.keys.json`: for each session of a
  ///     connection LTK, SKDm, SKDs, IVm and IVs (Vol 6, Part B, 5.1.3.1). `Scripts/decrypt-capture` decrypts the capture with it.
  /// - Throws: `Failure` when a file can't be made, or when this program reads or writes it already, by whatever path.
  public init(path: String, decryptsAir: Bool = false, writesKeys: Bool = false) throws(Failure) {
    do throws(CaptureFile.Failure) {
      file = try WorldCapture(path: path, CaptureSecrets(decryptsAir: decryptsAir, writesKeys: writesKeys))
    } catch {
      throw Failure(description: error.description)
    }
    keysPath = writesKeys ? WorldCapture.keyPath(ofCapture: path) : nil
  }

  /// True if the file is a FIFO that no program has opened for reading.
  package var isWaitingForReader: Bool { file.isWaitingForReader }

  static func finish(_ file: WorldCapture) throws(Failure) {
    do throws(CaptureFile.Failure) { try file.finish() } catch {
      throw Failure(description: error.description)
    }
  }

  static func finish(_ file: WorldCapture, _ done: @escaping @Sendable (Failure?) -> Void) {
    file.finish { failure in done(failure.map { Failure(description: $0.description) }) }
  }
}
