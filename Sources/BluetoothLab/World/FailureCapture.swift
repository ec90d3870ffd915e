import BluetoothCapture
import BluetoothDaemon
import BluetoothSimulation
import Foundation
import NIOConcurrencyHelpers

/// The capture of a world in virtual time that stays only if a test fails. It begins with the world. The file is deleted
/// with the world, or when the process exits, unless `keep` was called.
final class FailureCapture: Sendable {
  /// The environment variable that names the folder of these captures.
  static let environmentVariable = "COREBLUETOOTH_CAPTURES"

  /// The folder that the environment names; nil: worlds have no such captures.
  static let folder: String? = {
    let folder = ProcessInfo.processInfo.environment[environmentVariable] ?? ""
    return folder.isEmpty ? nil : folder
  }()

  private struct Registry {
    /// The captures of the worlds that exist.
    var captures: [ObjectIdentifier: WeakCapture] = [:]
    /// The files to delete when the process exits.
    var paths: Set<String> = []
    var count = 0
    var hasExitHandler = false
    var hasWarned = false
  }

  private struct WeakCapture {
    weak var capture: FailureCapture?
  }

  private static let registry = NIOLockedValueBox(Registry())

  let path: String
  let file: WorldCapture

  /// Creates a file with a new name in `folder`, which is created if necessary. Returns nil if that fails, the first time
  /// with a warning in the log.
  init?(in folder: String) {
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      path = Self.newPath(in: folder)
      file = try WorldCapture(path: path)
    } catch {
      let isFirst = Self.registry.withLockedValue { registry in
        defer { registry.hasWarned = true }
        return !registry.hasWarned
      }
      if isFirst { Self.warn(folder, error) }
      return nil
    }
    let (path, identifier) = (path, ObjectIdentifier(self))
    let entry = WeakCapture(capture: self)
    Self.registry.withLockedValue { registry in
      registry.captures[identifier] = entry
      registry.paths.insert(path)
      guard !registry.hasExitHandler else { return }
      registry.hasExitHandler = true
      // Worlds in global variables last until then.
      atexit { FailureCapture.registry.withLockedValue { for path in $0.paths { unlink(path) } } }
    }
  }

  deinit {
    let (path, identifier) = (path, ObjectIdentifier(self))
    Self.registry.withLockedValue { registry in
      registry.captures[identifier] = nil
      if registry.paths.remove(path) != nil { unlink(path) }
    }
    // Writes the rest of a file that is kept, and closes either.
    try? file.finish()
  }

  private static func warn(_ folder: String, _ error: any Error) {
    let reason = (error as? CaptureFile.Failure)?.reason ?? (error as NSError).localizedDescription
    PrintableLogger("BluetoothLab").warning(
      "\(environmentVariable): no capture of a failing test can be written to \(folder) (\(reason)): "
        + "name a folder in which this user may create files")
  }

  /// Returns a path that no file has. Other processes have other numbers, except those of former runs in a container.
  private static func newPath(in folder: String) -> String {
    registry.withLockedValue { registry in
      while true {
        registry.count += 1
        let path = "\(folder)/world-\(ProcessInfo.processInfo.processIdentifier)-\(registry.count).pcapng"
        if !FileManager.default.fileExists(atPath: path) { return path }
      }
    }
  }

  /// Writes the packets so far, and keeps the file. The capture goes on until the world ends.
  ///
  /// - Returns: the path of the file; nil, with a warning in the log, if it could not be written.
  func keep() -> String? {
    let path = path
    Self.registry.withLockedValue { _ = $0.paths.remove(path) }
    do { try file.flush() } catch {
      PrintableLogger("BluetoothLab").warning("the capture of a failing test is incomplete: \(error)")
      return nil
    }
    return path
  }

  /// Keeps the captures of all worlds that exist. Returns their paths.
  static func keepAll() -> [String] {
    let captures = registry.withLockedValue { registry in registry.captures.values.compactMap(\.capture) }
    return captures.compactMap { $0.keep() }.sorted()
  }
}

extension World {
  /// Keeps the captures of all worlds in virtual time that exist now, for a test that fails without an
  /// `ExpectationFailure`, which keeps the capture of its world itself.
  ///
  /// Worlds have such captures if the environment variable `COREBLUETOOTH_CAPTURES` names a folder for them, and the
  /// test starts no capture. A capture begins with its world and ends with it, and is deleted unless it is kept.
  ///
  /// - Returns: the paths of the captures; empty if there are none.
  @discardableResult
  public static func keepCaptures() -> [String] { FailureCapture.keepAll() }
}
