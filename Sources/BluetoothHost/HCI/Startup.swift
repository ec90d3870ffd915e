// Design: initialization of a controller
//
// `Startup` asks the controller for its properties, and sends only the commands that the controller says it supports.
// An empty bitmap of supported commands stands for the commands that the specification makes mandatory. The event masks
// name the events of claimed features. The buffers are those for LE, else those shared with BR/EDR. One command is in
// progress at a time, regardless of the number of credits, and none while the credits are 0.
//
// - A start-up command that gets no answer is sent once more, because a lost answer would change what the peers see of
//   the device: its address and its features.

import BluetoothWire

/// The command sequence that initializes a controller, adapted to its capabilities · Vol 6, Part D, 2.
struct Startup {
  private enum Step: Int, CaseIterable {
    case reset, supportedCommands, localFeatures, publicAddress, leHostSupport, leFeatures, leBufferSize, bufferSize,
      eventMask
    case leEventMask, acceptListSize, clearAcceptList, maximumDataLength, suggestedDataLength
    case defaultPHY, randomAddress, done
  }

  enum Outcome {
    case goOn
    case ready
    /// The controller does not answer, or reports an error.
    case unusable
    /// The controller does not support Low Energy.
    case lacksLowEnergy
  }

  private var step = Step.reset
  /// True if the step's command was sent twice because the controller did not answer it the first time.
  private var isRepeated = false
  /// True while the controller is being reset: its reports may date from before the reset.
  var isResetting: Bool { step == .reset }
  private(set) var facts = ControllerCapabilities()
  private let address: DeviceAddress?
  private let preferredPHYs: HCI.PHYs?

  /// Creates the sequence, which begins with a Reset.
  ///
  /// - Parameters:
  ///   - address: The random address for the controller; nil: the device uses its public address.
  ///   - silent: The commands that this controller is known not to answer.
  init(address: DeviceAddress?, preferredPHYs: HCI.PHYs?, silent: Set<HCI.Opcode> = []) {
    self.address = address
    self.preferredPHYs = preferredPHYs
    facts.silent = silent
  }

  /// The command of the current step; nil: this controller does not need it.
  var command: HCI.Command? {
    switch step {
    case .reset: .reset
    case .supportedCommands: .readLocalSupportedCommands
    case .localFeatures: ifSupported(.readLocalSupportedFeatures)
    case .publicAddress: ifSupported(.readBDADDR)
    case .leHostSupport:
      // A controller with BR/EDR disables Low Energy until the host enables it.
      facts.lmpFeatures.isEmpty || facts.lmpFeatures.contains(.bredrNotSupported)
        ? nil : ifSupported(.writeLEHostSupport(true))
    case .leFeatures: ifSupported(.leReadLocalSupportedFeatures)
    case .leBufferSize: facts.leBufferSizeCommand
    case .bufferSize: facts.aclLength == 0 || facts.aclCount == 0 ? .readBufferSize : nil
    case .eventMask: .setEventMask(eventMask)
    case .leEventMask: .leSetEventMask(leEventMask)
    case .acceptListSize: ifSupported(.leReadFilterAcceptListSize)
    case .clearAcceptList: facts.acceptListSize > 0 ? ifSupported(.leClearFilterAcceptList) : nil
    case .maximumDataLength:
      facts.leFeatures.contains(.dataPacketLengthExtension) ? ifSupported(.leReadMaximumDataLength) : nil
    case .suggestedDataLength:
      facts.maximumDataLength.flatMap { ifSupported(.leWriteSuggestedDefaultDataLength($0)) }
    case .defaultPHY:
      facts.supportedPHYs(of: preferredPHYs).flatMap {
        ifSupported(.leSetDefaultPHY(HCI.PHYPreference(transmit: $0, receive: $0)))
      }
    case .randomAddress: address.flatMap { ifSupported(.leSetRandomAddress($0.value)) }
    case .done: nil
    }
  }

  private func ifSupported(_ command: HCI.Command) -> HCI.Command? {
    facts.supports(command.opcode) ? command : nil
  }

  private var eventMask: HCI.EventMask {
    enabledEvents.reduce(into: .leMeta) { mask, event in
      if case .page1(let bit) = event.kind.mask { mask.formUnion(bit) }
    }
  }

  private var leEventMask: HCI.LEEventMask {
    enabledEvents.reduce(into: []) { mask, event in
      if case .le(let bit) = event.kind.mask { mask.formUnion(bit) }
    }
  }

  /// The events that the host uses, limited to those that the controller supports: some controllers reject a mask with
  /// other bits.
  private var enabledEvents: [HCI.EventDefinition] {
    HCI.EventDefinition.all.filter { $0.isUsedByHost && $0.isPossible(with: facts.leFeatures) }
  }

  /// Handles the end of the step's command; the status is an error if the controller did not answer. Continues with
  /// the next step that has a command.
  mutating func ended(_ status: HCI.ErrorCode, _ parameters: HCI.ReturnParameters?) -> Outcome {
    // A lost answer must not change the device: without its random address the device would use the public one, and
    // without the controller's features it would be limited to those of Bluetooth 4.0.
    if status == .unspecifiedError, parameters == nil, step != .reset, !isRepeated {
      isRepeated = true
      return .goOn
    }
    switch step {
    case .reset:
      if status != .success { return .unusable }
    case .supportedCommands:
      if case .localSupportedCommands(let commands)? = parameters { facts.supportedCommands = commands }
    case .localFeatures:
      if case .localSupportedFeatures(let features)? = parameters { facts.lmpFeatures = features }
    case .publicAddress:
      if case .bdADDR(let address)? = parameters {
        facts.publicAddress = address == 0 ? nil : DeviceAddress(address, .public)
      }
    case .leFeatures:
      if case .leLocalSupportedFeatures(let features)? = parameters { facts.leFeatures = features }
    case .leBufferSize:
      guard let (length, count) = parameters?.leBuffers else {
        // This command is mandatory for every controller with Low Energy.
        return status == .unknownHCICommand ? .lacksLowEnergy : .unusable
      }
      facts.aclLength = Int(length)
      facts.aclCount = Int(count)
    case .bufferSize:
      if case .bufferSize(let size)? = parameters {
        facts.aclLength = Int(size.aclLength)
        facts.aclCount = Int(size.aclCount)
      }
      if facts.aclLength == 0 || facts.aclCount == 0 { return .unusable }
    case .acceptListSize:
      if case .leFilterAcceptListSize(let size)? = parameters { facts.acceptListSize = Int(size) }
    case .maximumDataLength:
      if case .leMaximumDataLength(let transmit, _)? = parameters { facts.maximumDataLength = transmit }
    case .randomAddress:
      if status == .success { facts.ownAddressType = .random }
    // The host can do without the effects of these commands.
    case .leHostSupport, .eventMask, .leEventMask, .clearAcceptList, .suggestedDataLength, .defaultPHY, .done: break
    }
    isRepeated = false
    repeat {
      step = Step(rawValue: step.rawValue + 1) ?? .done
    } while command == nil && step != .done
    return step == .done ? .ready : .goOn
  }
}

extension HCI.ReturnParameters {
  /// The length and the number of the LE ACL buffers, as either version of LE Read Buffer Size returns them.
  fileprivate var leBuffers: (length: UInt16, count: UInt8)? {
    if case .leBufferSize(let length, let count) = self { return (length, count) }
    if case .leBufferSizeV2(let length, let count, _, _) = self { return (length, count) }
    return nil
  }
}
