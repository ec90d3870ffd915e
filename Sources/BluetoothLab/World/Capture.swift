import BluetoothCapture
import BluetoothServer

/// A pcapng file of a world: the air, and the HCI of every device. Wireshark and tshark read it.
public struct Capture: Sendable {
  let file: WorldCapture

  /// Why a file can't be written.
  public struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// One line with the path and the system's reason.
    public let description: String
  }

  /// Begins a file at `path`, or replaces the one that is there. Nothing is lost only after `World.finishCapture`.
  ///
  /// - Throws: `Failure` when the file can't be made.
  public init(path: String) throws(Failure) {
    do throws(CaptureFile.Failure) { file = try WorldCapture(path: path) } catch {
      throw Failure(description: error.description)
    }
  }

  static func finish(_ file: WorldCapture) throws(Failure) {
    do throws(CaptureFile.Failure) { try file.finish() } catch {
      throw Failure(description: error.description)
    }
  }
}
