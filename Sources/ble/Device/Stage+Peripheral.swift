import BluetoothDaemonProtocol
import BluetoothDissection
import BluetoothWire
import CoreBluetooth
import CoreBluetoothExtras
import Foundation

extension Stage {
  /// Returns a central whose adapter is on.
  ///
  /// - Throws: `Failure` with the reason why the adapter can't be used, or finds no device.
  func makeCentral() async throws -> Central {
    if isAlone, !isNamed { throw Surroundings.failure() }
    let central = Central(adapter: adapter)
    try await waitForPower(of: central.waitUntilPoweredOn(within:)) { central.state }
    if isAlone {
      complain("note: the adapter \"virtual\" is alone in its world; name another one with --adapter or --world")
    }
    return central
  }

  /// The time after which a verb says what it waits for, in seconds.
  private static let patience = 2.0

  /// A setting that only a user can change, and without which the adapter can't be used.
  struct Obstacle {
    let subject: String
    let text: String
    let remedy: String
  }

  /// Waits until an adapter is on. After a short time, one line says what keeps it from that and a user can change.
  func waitForPower(
    of wait: (TimeLimit?) async throws -> Void, _ state: () -> CBManagerState
  ) async throws {
    var obstacle: Obstacle?
    do {
      if mayHaveObstacle {
        obstacle = try await findObstacle(to: wait, state)
        if let obstacle { complain("waiting: \(obstacle.text); \(obstacle.remedy)") }
      }
      try await wait(mayHaveObstacle ? limit(timeout - Self.patience) : stepLimit)
    } catch is CancellationError {
      throw CancellationError()
    } catch {
      let state = state()
      // The obstacle may have gone, and another one may have come.
      let text = obstacle.flatMap { state == .unknown || state == .poweredOff ? $0.text : nil }
      throw Failure(text ?? reason(of: state), status: ExitStatus.noAdapter)
    }
  }

  /// True if a user of a server may have to change a setting before the adapter can be used.
  private var mayHaveObstacle: Bool { isReal && timeout > Self.patience && server != nil }

  /// Waits a short time until an adapter is on. Returns what keeps it from that and a user can change; nil: nothing.
  func findObstacle(
    to wait: (TimeLimit?) async throws -> Void, _ state: () -> CBManagerState
  ) async throws -> Obstacle? {
    guard mayHaveObstacle, let server else { return nil }
    do { try await wait(limit(Self.patience)) } catch is TimeLimitExceeded {
      return await obstacle(of: server, in: state())
    }
    return nil
  }

  private func obstacle(of server: ServerSpecifier, in state: CBManagerState) async -> Obstacle? {
    let option = server.serverOption
    switch state {
    case .poweredOff:
      let name = server.adapter.isEmpty ? "" : " \(server.adapter.shellWord)"
      return Obstacle(
        subject: "power", text: reason(of: state), remedy: "to switch it on: ble settings power on\(name)\(option)")
    case .unknown:
      let question = ServerQuestion(to: server)
      let apps = await Task.detached { (try? question.apps()) ?? [] }.value
      // One process has one name on all adapters of a server.
      let process = UInt32(getpid())
      guard let app = apps.first(where: { $0.processes.contains(process) && $0.question != nil }) else {
        return nil
      }
      return Obstacle(
        subject: "permission", text: "the user of the server has not decided if \(app.name) may use Bluetooth",
        remedy: "to allow it: ble settings allow \(app.name.shellWord)\(option)")
    default: return nil
    }
  }

  /// Returns why an adapter in this state can't be used.
  private func reason(of state: CBManagerState) -> String {
    switch state {
    case .unauthorized: "this program may not use Bluetooth: \(remedyOfDenial)"
    case .unknown: "the adapter \(adapterName) has not started in time; ble doctor says more"
    case .poweredOff: "the adapter \(adapterName) is turned off"
    case .resetting: "the adapter \(adapterName) has no connection to its controller; ble doctor says more"
    default: "the adapter \(adapterName) can't be used; ble doctor says more"
    }
  }

  /// Returns why an adapter that was in use can't be used any more.
  func lossReason(in state: CBManagerState) -> String {
    switch state {
    case .unauthorized: reason(of: state)
    case .poweredOff: "the adapter \(adapterName) was turned off"
    default: "the adapter \(adapterName) was lost or reset; ble doctor says more"
    }
  }

  /// The advice to the user who wants to let this program use Bluetooth.
  private var remedyOfDenial: String {
    guard let server else { return "run it at a terminal to be asked, or set COREBLUETOOTH_PROMPTS=accept" }
    switch server.place {
    case .unix(let path) where access(path, R_OK | W_OK) != 0: return "join the group of the socket \(path)"
    case .unix: return server.adviceForDeniedApp
    // A program on TCP belongs to no app.
    case .tcp: return "name a file with the token of the server in \(ServerSpecifier.tokenVariable)"
    }
  }

  /// The longest wait for the ends of the links to centrals, in seconds.
  private static let disconnectionLimit = 1.0

  /// Runs `body` with a peripheral whose adapter is on. Then it ends the links to centrals, whatever happens: the
  /// controller may keep them without this program, and a central would notice the end of the program only by its
  /// supervision timeout. Links that other programs use stay.
  func withLocalPeripheral<Value: Sendable>(
    _ body: @Sendable (LocalPeripheral) async throws -> Value
  ) async throws -> Value {
    let device = LocalPeripheral(adapter: adapter)
    do {
      try await waitForPower(of: device.waitUntilPoweredOn(within:)) { device.state }
      let value = try await body(device)
      await end(device)
      return value
    } catch {
      await end(device)
      throw error
    }
  }

  /// Ends the links to centrals, even if the task of the verb has been cancelled, and closes the peripheral.
  private func end(_ device: LocalPeripheral) async {
    let limit = limit(Self.disconnectionLimit)
    await Task(executorPreference: taskExecutor) { try? await device.disconnectCentrals(within: limit) }.value
    device.close()
  }

  /// Finds a device, connects to it, runs `body`, and disconnects, whatever happens.
  func withDevice<Value: Sendable>(
    _ choice: DeviceChoice, _ body: @Sendable (Peripheral) async throws -> Value
  ) async throws -> Value {
    let central = try await makeCentral()
    let found = try await choice.find(by: central, on: self)
    return try await withLink(to: found, body)
  }

  /// Connects to a device, runs `body`, and disconnects, whatever happens.
  func withLink<Value: Sendable>(
    to found: DeviceChoice.Candidate, _ body: @Sendable (Peripheral) async throws -> Value
  ) async throws -> Value {
    let peripheral = found.peripheral
    guard found.isConnectable else {
      throw Failure("\(found.title) does not accept connections", status: ExitStatus.refused)
    }
    do { try await peripheral.connect(within: stepLimit) } catch is TimeLimitExceeded {
      // An attempt that still ends when the peripheral is released would be logged as a mistake.
      await disconnect(peripheral)
      throw Failure(
        "connecting to \(found.title): it has not answered for \(timeout.short) s", status: ExitStatus.linkLost)
    } catch {
      await disconnect(peripheral)
      throw await failure(of: error, "connecting to \(found.title)", peripheral, by: found.central)
    }
    do {
      let value = try await body(peripheral)
      await disconnect(peripheral)
      return value
    } catch {
      await disconnect(peripheral)
      throw await failure(of: error, found.title, peripheral, by: found.central)
    }
  }

  /// Disconnects, even if the task of the verb has been cancelled.
  private func disconnect(_ peripheral: Peripheral) async {
    let limit = limit(5)
    await Task(executorPreference: taskExecutor) { try? await peripheral.disconnect(within: limit) }.value
  }
}

extension Failure {
  /// Returns the failure that an operation on a device has ended with. Failures and cancellations stay as they are.
  ///
  /// - Parameter subject: the device or the step, for the message.
  static func of(_ error: any Error, _ subject: String, _ peripheral: Peripheral? = nil) -> any Error {
    switch error {
    case is Failure, is CancellationError, is OutputFailure: return error
    case is TimeLimitExceeded: return Failure("\(subject): time limit reached", status: ExitStatus.timeLimit)
    case let error as CBATTError:
      let code = String(error.errorCode, radix: 16, uppercase: true)
      return Failure(
        "\(subject): refused: \(error.localizedDescription.endless) (ATT error 0x\(code.count < 2 ? "0" : "")\(code))",
        status: ExitStatus.refused)
    case let error as CBError: return failure(of: error, subject, peripheral)
    case let error as LinkRequestError: return Failure("\(subject): \(error)".endless, status: ExitStatus.refused)
    default: return Failure("\(subject): \(error)")
    }
  }

  private static func failure(of error: CBError, _ subject: String, _ peripheral: Peripheral?) -> Failure {
    switch error.code {
    case .peerRemovedPairingInformation, .encryptionTimedOut, .tooManyLEPairedDevices, .uuidNotAllowed:
      return Failure("\(subject): refused: \(error.localizedDescription.endless)", status: ExitStatus.refused)
    case .connectionTimeout, .peripheralDisconnected, .notConnected, .connectionFailed, .operationCancelled,
      .connectionLimitReached, .unknownDevice:
      let reason = peripheral?.lastDisconnection?.reason.map { " (reason \($0))" } ?? ""
      return Failure(
        "\(subject): link lost: \(error.localizedDescription.endless)\(reason)", status: ExitStatus.linkLost)
    default:
      // Reasons of the controller without a code of Apple's API have the code `unknown`, whose text tells nothing.
      let end = peripheral?.lastDisconnection
      guard let reason = error.linkReason ?? (end?.error == nil ? nil : end?.reason) else {
        return Failure("\(subject): \(error.localizedDescription.endless)")
      }
      return Failure("\(subject): link lost: \(SpecificationNames.title(of: reason))", status: ExitStatus.linkLost)
    }
  }
}

extension String {
  /// The text without a full stop at its end, for a part of a line.
  var endless: String { hasSuffix(".") ? String(dropLast()) : self }
}
