import ArgumentParser
import BluetoothBonds
import BluetoothCrypto
import BluetoothDaemon
import BluetoothHost
import BluetoothTransport
import BluetoothWire
import Foundation

/// The options that give long term keys.
struct DecryptionKeys: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A long term key: 32 hexadecimal digits, most significant octet first. May be repeated.", valueName: "digits"))
  var ltk: [String] = []
  @Option(
    name: .customLong("keys"),
    help: ArgumentHelp(
      "A file with keys: that of --capture-keys, an exported bond, or an info file of BlueZ. May be repeated.",
      valueName: "file"), completion: .file())
  var files: [String] = []
  @Option(
    help: ArgumentHelp("A folder with bonds, as of ble bonds --folder: the keys of all bonds.", valueName: "folder"),
    completion: .directory)
  var bonds: String?

  /// The maximum length of a file of keys, in octets: enough for 50,000 sessions.
  private static let maximumLength = 16 << 20

  func validate() throws {
    guard !ltk.isEmpty || !files.isEmpty || bonds != nil else {
      throw ValidationError("expected keys: --ltk, --keys or --bonds")
    }
    for text in ltk where Self.key(text) == nil {
      throw ValidationError("invalid --ltk: expected 32 hexadecimal digits")
    }
  }

  /// Reads all keys.
  ///
  /// - Throws: `Failure` with the file that can't be read, or has no keys.
  func read() throws -> [Block] {
    var keys = ltk.compactMap { Self.key($0) }
    for path in files { keys += try Self.keys(in: InputFile.content(of: path, limit: Self.maximumLength), path) }
    if let bonds {
      do {
        let adapters = try FileBondStore.adapters(in: bonds)
        for adapter in adapters {
          let stored = try adapter.store.look()
          for problem in stored.problems { complain("\(problem)") }
          keys += stored.records.flatMap { Self.keys(of: $0.bond) }
        }
        if adapters.isEmpty { throw Failure("\(bonds.printable): no bonds", status: ExitStatus.ambiguous) }
      } catch let error as BondStoreError {
        throw Failure("\(error)", status: ExitStatus.ambiguous)
      }
    }
    return keys
  }

  /// Returns the key of 32 hexadecimal digits; nil: these are no such digits.
  private static func key(_ digits: String) -> Block? {
    let digits = digits.hasPrefix("0x") ? digits.dropFirst(2) : digits[...]
    guard digits.utf8.count == 32, let number = UInt128(digits, radix: 16), digits.first != "+" else { return nil }
    return Block(number)
  }

  private static func keys(of bond: HostBond) -> [Block] {
    [bond.key, bond.ownKey, bond.peerKey].compactMap { $0?.value }
  }

  /// The file that `--capture-keys` writes; of each session, only its key is needed.
  private struct SessionFile: Decodable {
    struct Session: Decodable {
      let longTermKey: String

      private enum CodingKeys: String, CodingKey {
        case longTermKey = "LTK"
      }
    }
    let sessions: [Session]
  }

  /// Returns the keys of a file in one of the three formats.
  static func keys(in octets: [UInt8], _ path: String) throws -> [Block] {
    func failure(_ reason: String) -> Failure {
      Failure("\(path.printable): \(reason)", status: ExitStatus.ambiguous)
    }
    guard octets.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") else {
      do {
        let info = String(decoding: octets, as: UTF8.self)
        // The address is that of the folder, and of no importance here.
        return keys(
          of: try BondRecord(
            bluezInfo: info, address: "C0:00:00:00:00:01", identifier: PeerIdentifier(high: 0, low: 0)
          ).bond)
      } catch {
        throw failure("expected the keys of a capture, a bond, or an info file of BlueZ")
      }
    }
    if let file = try? JSONDecoder().decode(SessionFile.self, from: Data(octets)) {
      return try file.sessions.map { session in
        guard let key = key(session.longTermKey) else { throw failure("an LTK has not 32 hexadecimal digits") }
        return key
      }
    }
    do { return keys(of: try BondRecord(jsonText: octets).bond) } catch { throw failure("\(error)") }
  }
}
