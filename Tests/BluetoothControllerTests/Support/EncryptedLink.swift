import BluetoothRadio
import BluetoothWire
import Testing

@testable import BluetoothController

/// The key, Rand and EDIV that the two hosts of a test share.
let testKey: UInt128 = 0x4C68_3841_39F5_74D8_36BC_F34E_9DFB_01BF
let testRandom: UInt64 = 0xABCD_EF12_3456_7890
let testDiversifier: UInt16 = 0x2474

extension ControllerHarness {
  /// Makes the host answer each Long Term Key Request at once.
  func answersKeyRequests(with key: UInt128? = testKey) {
    onEvent = { device, event in
      guard case .leLongTermKeyRequest(let handle, _, _) = event else { return }
      if let key {
        device.send(.leLongTermKeyRequestReply(handle, longTermKey: key))
      } else {
        device.send(.leLongTermKeyRequestNegativeReply(handle))
      }
    }
  }

  var encryptionChanges: [HCI.Event] {
    events.filter {
      switch $0 {
      case .encryptionChange, .encryptionKeyRefreshComplete: true
      default: false
      }
    }
  }
}

extension LinkHarness {
  /// Sends LE Enable Encryption from the central's host.
  @discardableResult
  func enableEncryption(key: UInt128 = testKey) -> HCI.ErrorCode? {
    central.send(
      .leEnableEncryption(
        centralHandle, random: testRandom, encryptedDiversifier: testDiversifier, longTermKey: key))
  }

  /// Returns a link whose hosts have both got the encryption event.
  static func encrypted(
    interval: UInt16 = 24, latency: UInt16 = 0, timeout: UInt16 = 200, attacked: Sides = [],
    prepare: (ControllerHarness, ControllerHarness) -> Void = { _, _ in }
  ) throws -> LinkHarness {
    let link = try LinkHarness(
      interval: interval, latency: latency, timeout: timeout, attacked: attacked, prepare: prepare)
    link.peripheral.answersKeyRequests()
    #expect(link.enableEncryption() == .success)
    link.air.run(until: { !link.central.encryptionChanges.isEmpty })
    #expect(link.central.encryptionChanges == [.encryptionChange(.success, link.centralHandle, enabled: 1)])
    #expect(link.peripheral.encryptionChanges == [.encryptionChange(.success, link.peripheralHandle, enabled: 1)])
    link.runEvents(2)
    link.central.clear()
    link.peripheral.clear()
    link.air.clearLog()
    return link
  }

  /// The LL Control PDUs of this link in the log, with their senders and without retransmissions.
  var controlPDUs: [(device: Int, pdu: LL.ControlPDU)] {
    var last: [Int: Bool] = [:]
    var result: [(device: Int, pdu: LL.ControlPDU)] = []
    for sent in air.log where sent.packet.accessAddress == accessAddress {
      guard let header = sent.dataHeader, last[sent.device] != header.sequenceNumber else { continue }
      last[sent.device] = header.sequenceNumber
      if let pdu = sent.controlPDU { result.append((sent.device, pdu)) }
    }
    return result
  }

  /// True if every non-empty packet of this link in the log was encrypted.
  var isAllEncrypted: Bool {
    air.log.allSatisfy {
      $0.packet.accessAddress != accessAddress || $0.packet.payload.isEmpty || $0.packet.plainPayload != nil
    }
  }
}

extension PerfectAir.Transmission {
  /// Replaces this PDU by another one on the air.
  mutating func replace(with pdu: OutgoingPDU) {
    guard var header = dataHeader else { return }
    header.llid = pdu.llid
    header.length = UInt8(truncatingIfNeeded: pdu.payload.count)
    packet.header = header.rawValue
    packet.payload = pdu.payload
    packet.plainPayload = pdu.plaintext
  }
}

extension OutgoingPDU {
  /// Returns an unencrypted data PDU.
  static func data(_ payload: ByteSlice) -> OutgoingPDU { OutgoingPDU(llid: .start, payload: payload, meaning: .none) }
}
