// Overview
//
// A program can use a daemon that runs in another process. BluetoothDaemonProtocol is the octets between the two:
// frames, and the coding of every request, event and change of the directory. Its folder `Client` is a program's end
// of the connection, as an adapter.
//
// The idea: the interface of the daemon consists of values already (`CentralCommand`, `CentralEvent` and their
// peripheral counterparts), so the protocol is their coding and nothing else. A frame is a length, a type and a
// payload; `FrameParser` finds the frames, `ClientMessage` and `ServerMessage` are what they say.
//
// Callers: BluetoothServer decodes `ClientMessage`s and encodes `ServerMessage`s, `ServerRunner` does the reverse.
// BluetoothAdapters makes a `ServerAdapter` for a specifier, and `ble` lists and controls the apps of a server with
// `ServerQuestion`. The module calls BluetoothWire's readers and writers. Outside of `Client` it has no sockets and,
// beyond one incomplete frame, no state.
//
// Invariants:
// - Octets from the other side are hostile: they give a value or an error, never a trap, and never a value that the
//   daemon could not take (unknown peers, delays without end, reversed ranges).
// - The server's handles are the numbers of peers. A program has handles of its own, because a server that has been
//   started again counts from the beginning; `PeerNumbering` translates.
// - The limits below hold for both sides, so a side that exceeds one is disconnected.
// - A change that an existing receiver could not read gets a new version. New types of messages do not need one: the
//   receiver answers an unknown type with `unknownMessage`.
//
// Each message is a row: its number, its name, its meaning, and the function that makes it of its fields. The types of
// the fields are those of the function's parameters. The encoder, the decoder and the tables of the page read the rows.
//
// Where to begin: `CentralCommandRows.swift` for the pattern, `MessageRow.swift` for the rows, `MessageField.swift` for
// the types of fields, `MessageReader.swift` for the checks. Documentation/Server-protocol.md has the tables.
//
// Specification: this project's own; version 1.

/// The protocol between `btserver` and the apps that use its adapter. Documentation/Server-protocol.md has its tables.
package enum DaemonProtocol {
  /// The versions that this side can speak. The server chooses the highest one that both sides can speak.
  package static let versions: ClosedRange<UInt16> = 1...1

  /// The first field of `hello` and `welcome`: a socket of another program is recognized by it.
  static let magic: UInt32 = 0x5342_5442  // "BTBS"

  // Limits. Both sides close a connection on which one of them is exceeded.

  /// The maximum length of a frame in octets, behind its length field.
  package static let maximumFrameLength = 1 << 20
  /// The maximum length of a frame before the other side has said who it is.
  package static let maximumHelloLength = 2_048
  /// The maximum length of a text in octets of UTF-8.
  package static let maximumTextLength = 1_024
  /// The maximum number of UUIDs or peers in a list of a command.
  package static let maximumFilterCount = 4_096
  /// The maximum number of octets in a frame with octets of an L2CAP channel.
  package static let maximumChannelPart = 2_048
  /// The number of such frames that the server may send before the app has read one.
  package static let channelParts = 32
  /// The number of octets of a channel that an app may send before the daemon has taken them.
  package static let channelWindow = 16_384
  /// The maximum length of an HCI packet in H4 form: packet indicator, header and data of an ACL Data packet.
  package static let maximumPacketLength = 5 + 65_535
  /// The maximum number of sessions of one connection.
  package static let maximumSessions = 64
}
