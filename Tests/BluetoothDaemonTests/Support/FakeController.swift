import BluetoothWire
import TestSupport

/// The state of a controller that has no link layer: `DaemonNetwork` moves its packets from host to host.
struct FakeController {
  struct Link {
    let handle: HCI.ConnectionHandle
    let peer: Int
    let peerHandle: HCI.ConnectionHandle
  }

  enum Initiating {
    case to(DeviceAddress)
    case acceptList
  }

  var address = DeviceAddress(0, .public)
  var isOn = true
  /// True if the controller supports LE.
  var hasLE = true
  var isAdvertising = false
  var advertisingData = ByteSlice()
  var scanResponse = ByteSlice()
  var isScanning = false
  var initiating: Initiating?
  var acceptList: [DeviceAddress] = []
  var links: [Link] = []
  var nextHandle: UInt16 = 0x40
  /// As peripheral: the key with which the central starts encryption.
  var offeredKey: UInt128?
  /// The error of the next connection attempt.
  var connectFailure: HCI.ErrorCode?
  /// The links of data packets that were sent but not yet reported as completed.
  var unreported: [HCI.ConnectionHandle] = []
  /// The connection parameters that the host has commanded.
  var parameterUpdates: [LinkParameters] = []
  /// While true, no data packet is reported as completed.
  var isCongested = false

  private static let answers: ScriptedController = {
    var answers = ScriptedController(
      supporting: [.leEnableEncryption, .leLongTermKeyRequestReply, .leLongTermKeyRequestNegativeReply])
    answers.rssi = -50
    return answers
  }()

  func wants(_ address: DeviceAddress) -> Bool {
    switch initiating {
    case .to(address): true
    case .acceptList: acceptList.contains(address)
    case .to, nil: false
    }
  }

  /// Returns the answer to a command that needs no other device.
  mutating func take(_ command: HCI.Command) -> HCI.Event? {
    var answer = Self.answers.answer(command)
    switch command {
    case .reset:
      let hasLE = hasLE
      self = FakeController()
      self.hasLE = hasLE
    case .readLocalSupportedFeatures where !hasLE: answer = .complete(.localSupportedFeatures([]))
    case .leReadBufferSize where !hasLE: answer = .complete(.status(.unknownHCICommand))
    case .leSetRandomAddress(let value): address = DeviceAddress(value, .random)
    case .leSetAdvertisingData(let data): advertisingData = data
    case .leSetScanResponseData(let data): scanResponse = data
    case .leSetAdvertisingEnable(let isOn): isAdvertising = isOn
    case .leSetScanEnable(let isOn, _): isScanning = isOn
    case .leAddDeviceToFilterAcceptList(let peer): if let peer = peer.deviceAddress { acceptList.append(peer) }
    case .leRemoveDeviceFromFilterAcceptList(let peer): acceptList.removeAll { $0 == peer.deviceAddress }
    case .leClearFilterAcceptList: acceptList.removeAll()
    case .leCreateConnection(let parameters):
      initiating = parameters.usesAcceptList ? .acceptList : parameters.peer.deviceAddress.map { .to($0) }
    case .leConnectionUpdate(_, let parameters, _): parameterUpdates.append(parameters)
    default: break
    }
    return ScriptedController.event(answer, to: command.opcode)
  }
}
