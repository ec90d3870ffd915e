extension LL {
  /// The key material of an encrypted session of a connection · Vol 6, Part B, 5.1.3.1. It is necessary and
  /// sufficient to decrypt the packets.
  package struct SessionKeys: Hashable, Sendable {
    package var longTermKey: Secret<UInt128>
    /// SKDm and IVm of LL_ENC_REQ.
    package var central: SessionPart
    /// SKDs and IVs of LL_ENC_RSP.
    package var peripheral: SessionPart

    package init(longTermKey: Secret<UInt128>, central: SessionPart, peripheral: SessionPart) {
      self.longTermKey = longTermKey
      self.central = central
      self.peripheral = peripheral
    }
  }

  /// An encrypted session with its connection, for captures whose user has requested keys.
  package struct SessionRecord: Hashable, Sendable {
    package var accessAddress: UInt32
    /// The central's address in CONNECT_IND or AUX_CONNECT_REQ; `peripheral` is the advertiser's address there.
    package var central: DeviceAddress
    package var peripheral: DeviceAddress
    package var keys: SessionKeys

    package init(accessAddress: UInt32, central: DeviceAddress, peripheral: DeviceAddress, keys: SessionKeys) {
      self.accessAddress = accessAddress
      self.central = central
      self.peripheral = peripheral
      self.keys = keys
    }
  }
}
