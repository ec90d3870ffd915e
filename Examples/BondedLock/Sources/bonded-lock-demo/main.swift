import BluetoothLab
import BondedLock

// The lock has no keys and no display; its owner agrees to every pairing. The phone's user agrees, too.
let owner = ScriptedPrompts(.noInputNoOutput, otherwise: .yes)
let user = ScriptedPrompts(.keyboardDisplay, otherwise: .yes)
let world = World(seed: 1)
let door = world.makeDevice(named: "door", DeviceOptions(), prompts: owner)
let phone = world.makeDevice(named: "phone", DeviceOptions(position: Position(x: 2)), prompts: user)

let lock = Lock()
let key = Key()
door.run { lock.start() }

/// Sends a command and prints its outcome, and the prompts that the phone's user saw.
@MainActor func send(_ command: Lock.Command, _ text: String) {
  let before = user.questions.count
  var outcome: Key.Outcome?
  phone.run { key.send(command) { outcome = $0 } }
  world.run(until: { outcome != nil })
  let prompts = user.questions.dropFirst(before).map { "\($0.kind)" }
  print(
    "\(text): \(outcome.map { "\($0)" } ?? "no answer"), the door is \(lock.isUnlocked ? "unlocked" : "locked"),",
    prompts.isEmpty ? "no prompt" : "prompt: \(prompts.joined(separator: ", "))")
}

send(.unlock, "the first command")
send(.lock, "with the bond")

door.forgetBonds()
send(.unlock, "after a reset of the lock")

if let identifier = key.lockIdentifier { phone.forgetBond(identifier) }
send(.unlock, "after Forget This Device on the phone")
