import BluetoothLab
import CoreBluetooth
import FileTransfer

let world = World(seed: 1)
let desktop = world.makeDevice(named: "desktop")
let phone = world.makeDevice(named: "phone", at: Position(x: 2))

let receiver = FileReceiver()
let sender = FileSender(Data(repeating: 7, count: 200_000))
var isReceived = false
var isSent = false

var quarters = 0
receiver.onProgress = { received, total in
  while received * 4 / total > quarters {
    quarters += 1
    print(String(format: "%.2f s: %d %%", world.now / .seconds(1), quarters * 25))
  }
}
receiver.onFile = { result in
  if case .success(let file) = result { print("received \(file.count) octets") } else { print(result) }
  isReceived = true
}
sender.onEnd = { result in
  if case .success = result { print("sent") } else { print(result) }
  isSent = true
}

// On an iPhone and a Mac, these two lines would be two apps.
desktop.run { receiver.start() }
phone.run { sender.start() }
world.run(until: { isReceived && isSent })
