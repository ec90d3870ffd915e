import BluetoothHost
import BluetoothWire

/// The properties of a link, as sessions see them.
package struct LinkInfo: Hashable, Sendable {
  package var properties: HostLinkProperties
  /// ATT_MTU.
  package var mtu: Int
  package var security: HostLinkSecurity
  package init(properties: HostLinkProperties, mtu: Int, security: HostLinkSecurity) {
    self.properties = properties
    self.mtu = mtu
    self.security = security
  }
}

/// An event of a link for a session that observes its links.
package enum LinkEvent: Sendable {
  /// The properties of the link: before `connected`, and after each change.
  case changed(LinkInfo)
  /// The link ends for this reason; `disconnected` follows.
  case ended(HCI.ErrorCode)
  /// The answer to `changeLink`; nil: the request has succeeded.
  case requestEnded(LinkRequest.Kind, SessionError?)
}
