import BluetoothWire

/// The state of a controller that has no link layer: `Air` moves its packets from host to host.
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
  var parameterUpdates: [ConnectionParameters] = []
  /// While true, no data packet is reported as completed.
  var isCongested = false

  static let commands: [HCI.Opcode] = [
    .disconnect, .setEventMask, .reset, .readLocalVersionInformation, .readLocalSupportedFeatures, .readBDADDR,
    .readRSSI, .leSetEventMask, .leReadBufferSize, .leReadLocalSupportedFeatures, .leSetRandomAddress,
    .leSetAdvertisingParameters, .leSetAdvertisingData, .leSetScanResponseData, .leSetAdvertisingEnable,
    .leSetScanParameters, .leSetScanEnable, .leCreateConnection, .leCreateConnectionCancel,
    .leReadFilterAcceptListSize, .leClearFilterAcceptList, .leAddDeviceToFilterAcceptList,
    .leRemoveDeviceFromFilterAcceptList, .leConnectionUpdate, .leEnableEncryption, .leLongTermKeyRequestReply,
    .leLongTermKeyRequestNegativeReply,
  ]

  func wants(_ address: DeviceAddress) -> Bool {
    switch initiating {
    case .to(address): true
    case .acceptList: acceptList.contains(address)
    case .to, nil: false
    }
  }

  /// Returns the answer to a command that needs no other device.
  mutating func take(_ command: HCI.Command) -> HCI.Event {
    let opcode = command.opcode
    var result = HCI.ReturnParameters.status(.success)
    switch command {
    case .reset:
      let hasLE = hasLE
      self = FakeController()
      self.hasLE = hasLE
    case .readLocalSupportedCommands: result = .localSupportedCommands(HCI.SupportedCommands(Self.commands))
    case .readBDADDR: result = .bdADDR(0)
    case .readLocalSupportedFeatures: result = .localSupportedFeatures(hasLE ? [.bredrNotSupported, .leSupported] : [])
    case .leReadBufferSize where !hasLE: result = .status(.unknownHCICommand)
    case .leReadLocalSupportedFeatures: result = .leLocalSupportedFeatures([])
    case .leReadBufferSize: result = .leBufferSize(aclLength: 251, aclCount: 8)
    case .leReadFilterAcceptListSize: result = .leFilterAcceptListSize(8)
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
      return .commandStatus(.success, credits: 1, opcode)
    case .readRSSI(let handle): result = .rssi(handle, -50)
    case .leLongTermKeyRequestReply(let handle, _), .leLongTermKeyRequestNegativeReply(let handle):
      result = .handle(.success, handle)
    case .leConnectionUpdate(_, let parameters, _):
      parameterUpdates.append(parameters)
      return .commandStatus(.success, credits: 1, opcode)
    case .disconnect, .leEnableEncryption: return .commandStatus(.success, credits: 1, opcode)
    default: break
    }
    return .commandComplete(credits: 1, opcode, result)
  }
}
