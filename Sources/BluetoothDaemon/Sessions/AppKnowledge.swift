import BluetoothCrypto
import DequeModule

/// The part of a directory that concerns apps with a life of their own. Most adapters have none, so the directory has
/// this object only once it is needed.
final class AppKnowledge: @unchecked Sendable {
  // Unchecked: the lock of the directory guards all accesses of variables.

  /// The maximum number of alerts; the oldest is dropped.
  private static let maximumAlerts = 1_000

  /// The identifiers that one app sees, and the identifiers of the adapter behind them.
  struct Identifiers {
    var ofApp: [PeerIdentifier: PeerIdentifier] = [:]
    var ofAdapter: [PeerIdentifier: PeerIdentifier] = [:]
  }

  /// The permissions of apps, by name.
  private var accessByName: [String: AppAccess] = [:]
  /// The permission of an app without an entry.
  private let accessOfNewApps: AppAccess
  /// The key of the identifiers that apps see.
  private let identifierKey: Block
  private var identifiers: [String: Identifiers] = [:]
  /// The alerts that the adapter has shown, oldest first.
  private(set) var alerts: Deque<Alert> = []

  init(identifierKey: Block, access: AppAccess) {
    self.identifierKey = identifierKey
    accessOfNewApps = access
  }

  /// The permission of an app.
  func access(of app: String) -> AppAccess { accessByName[app] ?? accessOfNewApps }

  func setAccess(_ access: AppAccess, of app: String) { accessByName[app] = access }

  /// Returns the identifier by which an app knows a peer.
  func identifier(_ identifier: PeerIdentifier, ofApp app: String) -> PeerIdentifier {
    if let known = identifiers[app]?.ofApp[identifier] { return known }
    let derived = derive(identifier, ofApp: app)
    identifiers[app, default: Identifiers()].ofApp[identifier] = derived
    identifiers[app]?.ofAdapter[derived] = identifier
    return derived
  }

  /// Derives the identifier by which an app knows a peer. Needs no lock.
  func derive(_ identifier: PeerIdentifier, ofApp app: String) -> PeerIdentifier {
    let digest = AES128.cmac(Array(app.utf8) + Array(identifier.digits.utf8), key: identifierKey)
    // A random UUID, version 4.
    return PeerIdentifier(
      high: digest.high & ~0xF000 | 0x4000, low: digest.low & ~(0b11 << 62) | 0b10 << 62)
  }

  /// Returns the adapter's identifier behind an app's; nil: the app has not got this identifier in this run.
  func adapterIdentifier(_ identifier: PeerIdentifier, ofApp app: String) -> PeerIdentifier? {
    identifiers[app]?.ofAdapter[identifier]
  }

  /// Returns the adapter's identifiers behind one that apps have got in this run.
  func adapterIdentifiers(_ identifier: PeerIdentifier) -> [PeerIdentifier] {
    identifiers.values.compactMap { $0.ofAdapter[identifier] }
  }

  /// Forgets the identifiers that apps have got of these peers, by the identifiers of the adapter.
  func forget(_ forgotten: [PeerIdentifier]) {
    for app in identifiers.keys {
      for identifier in forgotten {
        guard let derived = identifiers[app]?.ofApp.removeValue(forKey: identifier) else { continue }
        identifiers[app]?.ofAdapter[derived] = nil
      }
    }
  }

  /// Forgets the identifiers that apps have got.
  func forgetIdentifiers() { identifiers.removeAll() }

  func append(_ alert: Alert) {
    if alerts.count == Self.maximumAlerts { alerts.removeFirst() }
    alerts.append(alert)
  }
}
