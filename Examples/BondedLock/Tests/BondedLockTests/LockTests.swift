import BluetoothLab
import BondedLock
import CoreBluetooth
import Testing

@MainActor struct LockTests {
  let world = World(seed: 1)
  let owner = ScriptedPrompts(.noInputNoOutput)
  let door: Device
  let lock = Lock()

  init() {
    door = world.makeDevice(named: "door", DeviceOptions(), prompts: owner)
    door.run { [lock] in lock.start() }
  }

  private func send(_ command: Lock.Command, with key: Key, on phone: Device) throws -> Key.Outcome {
    var outcome: Key.Outcome?
    phone.run { key.send(command) { outcome = $0 } }
    try world.expect("the command ends") { outcome != nil }
    return try #require(outcome)
  }

  @Test("A phone whose pairing the owner refuses can't unlock the door")
  func refused() throws {
    owner.answer(.no, to: .allowPairing)
    let outcome = try send(.unlock, with: Key(), on: world.makeDevice(named: "stranger", at: Position(x: 2)))
    #expect(outcome == .refused)
    #expect(!lock.isUnlocked)
  }

  @Test("Commands after the first need no prompt")
  func bonded() throws {
    owner.answer(.yes, to: .allowPairing)
    let (key, phone) = (Key(), world.makeDevice(named: "phone", at: Position(x: 2)))
    #expect(try send(.unlock, with: key, on: phone) == .done)
    #expect(lock.isUnlocked)
    #expect(try send(.lock, with: key, on: phone) == .done)
    #expect(!lock.isUnlocked)
    #expect(owner.questions.count == 1)
    #expect(phone.bonds.count == 1)
  }

  @Test("A key works after Bluetooth was off, and after a reset of its controller", arguments: [false, true])
  func powerCycle(isReset: Bool) throws {
    owner.answer(.yes, to: .allowPairing)
    let (key, phone) = (Key(), world.makeDevice(named: "phone", at: Position(x: 2)))
    #expect(try send(.unlock, with: key, on: phone) == .done)
    if isReset { phone.add([.device(.resetController, when: .at(world.now))]) } else { phone.setPower(false) }
    world.run(for: .seconds(3))
    phone.setPower(true)
    #expect(try send(.lock, with: key, on: phone) == .done)
    #expect(!lock.isUnlocked)
    #expect(owner.questions.count == 1)
  }

  @Test("After a reset of the lock, the phone's user must forget the lock")
  func forgottenByTheLock() throws {
    owner.answer(.yes, to: .allowPairing)
    let (key, phone) = (Key(), world.makeDevice(named: "phone", at: Position(x: 2)))
    #expect(try send(.unlock, with: key, on: phone) == .done)
    door.forgetBonds()
    #expect(try send(.lock, with: key, on: phone) == .bondLost)
    #expect(lock.isUnlocked)
    phone.forgetBonds()
    #expect(try send(.lock, with: key, on: phone) == .done)
    #expect(!lock.isUnlocked)
  }

  @Test("A phone that has lost its bond needs the owner's consent, because anyone could claim to be it")
  func forgottenByThePhone() throws {
    owner.answer(.yes, to: .allowPairing, count: 1)
    let (key, phone) = (Key(), world.makeDevice(named: "phone", at: Position(x: 2)))
    #expect(try send(.unlock, with: key, on: phone) == .done)
    phone.forgetBonds()
    #expect(try send(.lock, with: key, on: phone) == .refused)
    #expect(owner.questions.last?.replacesBond == true)
    owner.answer(.yes, to: .allowPairing)
    // Each refusal lengthens the time before the next attempt.
    world.run(for: .seconds(60))
    #expect(try send(.lock, with: key, on: phone) == .done)
  }
}
