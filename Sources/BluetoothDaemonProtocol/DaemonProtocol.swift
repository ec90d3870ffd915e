/// The protocol between `btserver` and the apps that use its adapter. Documentation/Server.md has its tables.
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
