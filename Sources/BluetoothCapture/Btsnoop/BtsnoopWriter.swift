import BluetoothWire

/// A writer of btsnoop files with the HCI packets of one adapter in H4 form, the format of `hcidump -w`, Android's
/// snoop log and Wireshark. All numbers are big-endian · RFC 1761 with Bluetooth's numbers.
package struct BtsnoopWriter {
  private static let version: UInt32 = 1
  /// The datalink type of HCI UART (H4).
  private static let datalinkH4: UInt32 = 1002

  /// The time stamp of 1970-01-01 in microseconds: 0x00DCDDB30F2F8000, as Android and Wireshark have it. This is 12
  /// days more than the time since the beginning of the year 0, the epoch of RFC 1761.
  private static let epoch: Int64 = 62_168_256_000_000_000

  private enum Flag {
    static let received: UInt32 = 0x01
    static let commandOrEvent: UInt32 = 0x02
  }

  private var output: [UInt8] = []
  /// The search for keys, which are replaced by zeros; nil if keys are written as they are.
  private var keyFinder: KeyFinder?

  /// Creates a writer, and writes the file header.
  ///
  /// - Parameter showsKeys: true to write the octets of keys as they are; false to write zeros.
  package init(showsKeys: Bool = false) {
    keyFinder = showsKeys ? nil : KeyFinder()
    output.append(contentsOf: "btsnoop\0".utf8)
    output.append(bigEndian: Self.version)
    output.append(bigEndian: Self.datalinkH4)
  }

  /// Adds a packet. `time` is truncated to microseconds, and written as a time since 1970-01-01.
  package mutating func packet(_ packet: HCI.Packet, isFromHost: Bool, at time: Instant) {
    let start = output.count
    output.append(contentsOf: repeatElement(0, count: 24))
    output.append(h4: packet, without: keyFinder?.keys(in: packet, isFromHost: isFromHost))

    let length = UInt32(truncatingIfNeeded: output.count - start - 24)
    var flags: UInt32 = isFromHost ? 0 : Flag.received
    if case .acl = packet {} else { flags |= Flag.commandOrEvent }
    var header: [UInt8] = []
    header.append(bigEndian: length)
    header.append(bigEndian: length)
    header.append(bigEndian: flags)
    // The number of packets dropped so far.
    header.append(bigEndian: UInt32(0))
    header.append(bigEndian: Self.epoch &+ time.nanoseconds / 1000)
    output.replaceSubrange(start..<start + 24, with: header)
  }

  /// Removes and returns the octets written since the last call.
  package mutating func takeBytes() -> [UInt8] {
    defer { output = [] }
    return output
  }
}
