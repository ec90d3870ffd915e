import BluetoothAdapters

/// The reason why a file has no manifest of an app: one line with the file and, if they are known, line and key.
public struct AppManifestError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The reason in one line.
  public let description: String
}

extension AppManifest {
  /// Reads the manifest of an app from its `Info.plist`, in XML or binary: the keys `UIBackgroundModes` and
  /// `NSBluetoothAlwaysUsageDescription`. Background modes of other subjects are ignored.
  ///
  /// ```swift
  /// let manifest = try AppManifest(infoDictionaryAt: "App/Info.plist")
  /// let app = phone.app(named: "com.example.scale", manifest: manifest) { _ in ScaleApp() }
  /// ```
  ///
  /// - Throws: `AppManifestError` if the file can't be read.
  public init(infoDictionaryAt path: String) throws(AppManifestError) {
    do throws(InfoDictionary.Problem) {
      self = try InfoDictionary(path: path, usesIdentifier: false).manifest
    } catch {
      throw AppManifestError(description: error.description)
    }
  }
}
