/// The URI schemes that advertising data encodes as a single character · Assigned Numbers, 2.7; CSS, Part A, 1.18.
enum URIScheme {
  /// The character that precedes a URI whose scheme is written out.
  static let none: UInt32 = 0x01

  /// Returns the scheme for a character, including the colon; nil if the character is reserved.
  static func text(of code: UInt32) -> String? {
    if code == none { return "" }
    let index = Int(code) - firstCode
    return names.indices.contains(index) ? names[index] + ":" : nil
  }

  /// Returns the character for the scheme of `uri`, and the remainder of `uri`.
  static func split(_ uri: String) -> (code: UInt32, rest: Substring) {
    guard let colon = uri.firstIndex(of: ":"), let index = names.firstIndex(of: String(uri[..<colon])) else {
      return (none, uri[...])
    }
    return (UInt32(firstCode + index), uri[uri.index(after: colon)...])
  }

  private static let firstCode = 0x02

  /// The schemes in the order of their numbers, which have no gaps.
  private static let names: [String] = """
    aaa aaas about acap acct cap cid coap coaps crid data dav dict dns file ftp geo go gopher h323 http https iax
    icap im imap info ipp ipps iris iris.beep iris.xpc iris.xpcs iris.lwz jabber ldap mailto mid msrp msrps mtqp
    mupdate news nfs ni nih nntp opaquelocktoken pop pres reload rtsp rtsps rtspu service session shttp sieve sip
    sips sms snmp soap.beep soap.beeps stun stuns tag tel telnet tftp thismessage tn3270 tip turn turns tv urn
    vemmi ws wss xcon xcon-userid xmlrpc.beep xmlrpc.beeps xmpp z39.50r z39.50s acr adiumxtra afp afs aim apt
    attachment aw barion beshare bitcoin bolo callto chrome chrome-extension com-eventbrite-attendee content cvs
    dlna-playsingle dlna-playcontainer dtn dvb ed2k facetime feed feedready finger fish gg git gizmoproject gtalk
    ham hcp icon ipn irc irc6 ircs itms jar jms keyparc lastfm ldaps magnet maps market message mms ms-help
    ms-settings-power msnim mumble mvn notes oid palm paparazzi pkcs11 platform proxy psyc query res resource rmi
    rsync rtmfp rtmp secondlife sftp sgn skype smb smtp soldat spotify ssh steam submit svn teamspeak teliaeid
    things udp unreal ut2004 ventrilo view-source webcal wtai wyciwyg xfire xri ymsgr example
    ms-settings-cloudstorage
    """.split { $0 == " " || $0.isNewline }.map(String.init)
}
