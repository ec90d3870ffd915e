/// The latest calls, callbacks, packets and faults of a world, in the order of time: `World.trace`.
///
/// A trace is a text for people who look for the cause of a failed test:
///
/// ```text
///    0.350412 s  phone      call      connect(_:) peer 0
///    0.371860 s  phone      packet    CONNECT_IND → strap
///    0.402110 s  phone      callback  centralManager(_:didConnect:) peer 0
/// ```
public struct WorldTrace: Hashable, Sendable {
  /// One line of a trace.
  public struct Entry: Hashable, Sendable {
    /// The kind of what happened.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
      /// An app called a method of CoreBluetooth.
      case call
      /// An app gets a callback.
      case callback
      /// A packet on the air has ended. Empty packets, which only keep a connection alive, are left out.
      case packet
      /// A fault struck.
      case fault
    }

    /// The world's radio time.
    public var time: Duration
    /// The name of the device of the app or of the sender; `injected` for a packet that comes from no device.
    public var device: String
    /// The kind of what happened.
    public var kind: Kind
    /// The method with the arguments that distinguish the call, or the content and the receivers of the packet.
    public var text: String
  }

  /// The entries in the order of time. Entries of one instant are in the order in which they happened.
  public var entries: [Entry]

  /// Returns the entries of one kind.
  public func only(_ kind: Entry.Kind) -> WorldTrace { WorldTrace(entries: entries.filter { $0.kind == kind }) }

  /// Returns the entries since a time of the world.
  public func since(_ time: Duration) -> WorldTrace { WorldTrace(entries: entries.filter { $0.time >= time }) }

  /// Returns the last `count` entries.
  public func last(_ count: Int) -> WorldTrace { WorldTrace(entries: Array(entries.suffix(count))) }
}

extension WorldTrace: CustomStringConvertible {
  /// One line for each entry.
  public var description: String {
    let width = entries.map(\.device.count).max() ?? 0
    return entries.map { $0.line(deviceWidth: width) }.joined(separator: "\n")
  }
}

extension WorldTrace.Entry: CustomStringConvertible {
  /// The entry on one line.
  public var description: String { line(deviceWidth: device.count) }

  fileprivate func line(deviceWidth: Int) -> String {
    let name = device.padded(to: deviceWidth)
    return "\(time.secondsText.padded(to: 14, atEnd: false))  \(name)  \(kind.rawValue.padded(to: 8))  \(text)"
  }
}

extension Duration {
  /// The seconds with six decimals and the unit, such as `1.250000 s`.
  var secondsText: String {
    let (seconds, attoseconds) = components
    let digits = String(attoseconds / 1_000_000_000_000)
    return "\(seconds).\(String(repeating: "0", count: max(0, 6 - digits.count)))\(digits) s"
  }
}

extension String {
  /// Returns the string with spaces up to `width` characters, at its end or at its beginning.
  fileprivate func padded(to width: Int, atEnd: Bool = true) -> String {
    let spaces = String(repeating: " ", count: max(0, width - count))
    return atEnd ? self + spaces : spaces + self
  }
}
