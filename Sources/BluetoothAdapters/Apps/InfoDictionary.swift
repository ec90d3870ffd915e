import BluetoothTransport
import BluetoothWire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The part of an app's `Info.plist` that concerns Bluetooth.
package struct InfoDictionary: Hashable, Sendable {
  /// `CFBundleIdentifier`; nil: the file has none.
  package var bundleIdentifier: String?
  /// The background modes, the usage description and the use of AccessorySetupKit.
  package var manifest: AppManifest

  /// The reason why a file has no such dictionary: one line with the file and, if they are known, line and key.
  package struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
    /// True if there is no file.
    package let isMissing: Bool
  }

  /// The maximum length of a bundle identifier in octets. It is the name of an app, which must fit into messages.
  private static let maximumIdentifierLength = 512
  /// The maximum length of a file in octets.
  private static let maximumLength = 65_536
  /// The maximum number of arrays and dictionaries in a file of XML, which Foundation reads recursively.
  private static let maximumContainers = 1_000

  private struct Content: Decodable {
    enum CodingKeys: String, CodingKey {
      case identifier = "CFBundleIdentifier"
      case modes = "UIBackgroundModes"
      case usage = "NSBluetoothAlwaysUsageDescription"
      case accessories = "NSAccessorySetupSupports"
      case formerAccessories = "NSAccessorySetupKitSupports"
    }

    var identifier: String?
    var modes: [String]?
    var usage: String?
    /// The transports of the accessories that the app sets up.
    var accessories: [String]?
    /// The same under the key of iOS 18.
    var formerAccessories: [String]?
  }

  /// Reads a property list: XML or binary.
  ///
  /// - Parameter usesIdentifier: see `init(octets:path:usesIdentifier:)`.
  package init(path: String, usesIdentifier: Bool = true) throws(Problem) {
    let octets: [UInt8]
    do throws(InputFile.Failure) {
      octets = try InputFile.octets(of: path, limit: Self.maximumLength, .regular)
    } catch {
      throw Problem(description: "\(path): \(error.reason)".printable, isMissing: error.isMissing)
    }
    self = try Self(octets: octets, path: path, usesIdentifier: usesIdentifier)
  }

  /// Reads the content of a property list. Background modes of other subjects are ignored.
  ///
  /// - Parameters:
  ///   - path: the path of the file, for `Problem`.
  ///   - usesIdentifier: false if the bundle identifier names no app. It may then be any text, such as a variable of a
  ///     build system. Otherwise it must consist of letters, digits, hyphens and periods of ASCII, as Apple documents
  ///     for `CFBundleIdentifier`, and have at most 512 octets.
  package init(octets: [UInt8], path: String, usesIdentifier: Bool = true) throws(Problem) {
    let isBinary = octets.starts(with: Array("bplist".utf8))
    let lines = isBinary ? [] : octets.split(separator: 0x0A, omittingEmptySubsequences: false)
    func problem(_ reason: String, in line: Int? = nil) -> Problem {
      Problem(description: "\(path)\(line.map { ":\($0)" } ?? ""): \(reason)".printable, isMissing: false)
    }
    func line(of key: String) -> Int? {
      lines.firstIndex { $0.firstRange(of: Array("<key>\(key)</key>".utf8)) != nil }.map { $0 + 1 }
    }
    let containers = octets.ranges(of: Array("<array".utf8)).count + octets.ranges(of: Array("<dict".utf8)).count
    guard containers <= Self.maximumContainers else {
      throw problem("more than \(Self.maximumContainers) arrays and dictionaries")
    }
    do {
      let content = try PropertyListDecoder().decode(Content.self, from: Data(octets))
      bundleIdentifier = content.identifier
      guard bundleIdentifier?.isEmpty != true else {
        throw problem("CFBundleIdentifier: the text is empty", in: line(of: "CFBundleIdentifier"))
      }
      if usesIdentifier, let identifier = bundleIdentifier, !Self.isPermitted(identifier) {
        throw problem(
          "CFBundleIdentifier: expected letters, digits, hyphens and periods, at most "
            + "\(Self.maximumIdentifierLength) octets", in: line(of: "CFBundleIdentifier"))
      }
      manifest = AppManifest(
        backgroundModes: Set((content.modes ?? []).compactMap { AppManifest.BackgroundMode(rawValue: $0) }),
        usageDescription: content.usage,
        setsUpAccessories: ((content.accessories ?? []) + (content.formerAccessories ?? [])).contains("Bluetooth"))
    } catch let error as Problem {
      throw error
    } catch let error as Swift.DecodingError {
      switch error {
      case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context):
        guard let key = context.codingPath.first?.stringValue else {
          throw problem("not a property list with a dictionary: \(context.debugDescription)")
        }
        throw problem("\(key): \(context.debugDescription)", in: line(of: key))
      case .dataCorrupted(let context):
        guard !isBinary, let fault = PropertyListFault(in: octets) else {
          throw problem("not a property list: \(Self.reason(of: context))")
        }
        throw problem("\(fault.key.map { "\($0): " } ?? "")not a property list: \(fault.reason)", in: fault.line)
      @unknown default: throw problem("not a property list")
      }
    } catch {
      throw problem("not a property list: \(error)")
    }
  }

  /// Returns true if an app can have this bundle identifier.
  package static func isPermitted(_ identifier: String) -> Bool {
    identifier.utf8.count <= maximumIdentifierLength
      && identifier.utf8.allSatisfy { octet in
        switch octet {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
          true
        default: false
        }
      }
  }

  /// Returns the decoder's own reason for data that are no property list.
  private static func reason(of context: Swift.DecodingError.Context) -> String {
    let reason = (context.underlyingError as? CocoaError)?.userInfo["NSDebugDescription"] as? String ?? "unreadable"
    // Foundation counts lines from the wrong place.
    return reason.firstRange(of: " on line ").map { String(reason[..<$0.lowerBound]) } ?? reason
  }
}
