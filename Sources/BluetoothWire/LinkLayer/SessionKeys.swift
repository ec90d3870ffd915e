extension LL {
  /// What an encrypted session of a connection is made of · Vol 6, Part B, 5.1.3.1: with it, and with nothing else, its packets
  /// can be decrypted.
  package struct SessionKeys: Hashable, Sendable {
    package var longTermKey: Secret<UInt128>
    /// SKDm and IVm, which LL_ENC_REQ has told.
    package var central: SessionPart
    /// SKDs and IVs, which LL_ENC_RSP has told.
    package var peripheral: SessionPart

    package init(longTermKey: Secret<UInt128>, central: SessionPart, peripheral: SessionPart) {
      self.longTermKey = longTermKey
      self.central = central
      self.peripheral = peripheral
    }
  }

  /// An encrypted session, with whose it is: for captures whose reader has asked for keys.
  package struct SessionRecord: Hashable, Sendable {
    package var accessAddress: UInt32
    /// As CONNECT_IND or AUX_CONNECT_REQ have told it.
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
