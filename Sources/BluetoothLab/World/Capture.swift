import BluetoothCapture
import BluetoothSimulation

/// A pcapng file with a world's transmissions on the air and the HCI packets of every device. Wireshark and tshark
/// read it.
///
/// Packets of encrypted links are captured as on the air, with the comment "encrypted". In HCI packets, zeros replace
/// keys: long term keys, identity resolving keys, signing keys, DHKey, and the inputs and outputs of LE Encrypt and
/// LE Rand. With `decryptsAir` or `writesKeys`, the capture contains the keys as well, and only its owner may read
/// the file.
public struct Capture: Sendable {
  let file: WorldCapture
  /// The path of the JSON file with the keys of the capture's encrypted links; nil if there is none.
  public let keysPath: String?

  /// The error of a file that can't be written.
  public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path and the system's reason on one line.
    public let description: String
  }

  /// Creates a file at `path`, replacing an existing one. The file is complete after `World.finishCapture`.
  ///
  /// A world in virtual time waits for the file, and for the reader of a FIFO. A world in real time does not wait: a
  /// thread of the capture writes the file, up to 8 MiB behind the world. Packets that the disk or the reader does
  /// not take in time are dropped; a comment on the next packet has the number of missing packets.
  ///
  /// - Parameters:
  ///   - path: the path of the file, or of a FIFO.
  ///   - decryptsAir: true to write packets of encrypted links as before encryption, so that Wireshark shows their
  ///     content: without MIC, with the CRC that they would have had, and marked as decrypted.
  ///   - writesKeys: true to write the keys of encrypted links to a JSON file at `path` + `.keys.json`: for each
  ///     session of a connection LTK, SKDm, SKDs, IVm and IVs (Vol 6, Part B, 5.1.3.1). `Scripts/decrypt-capture`
  ///     decrypts the capture with this file.
  /// - Throws: `Failure` if a file can't be created, or if this program already reads or writes it through any path.
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
