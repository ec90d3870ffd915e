import BluetoothAir
import BluetoothLab
import BluetoothProfiles
import BluetoothTransport
import Foundation

/// An air with one accessory. Hosts join at a TCP port, and the lines of the standard input are what the accessory's user
/// does. It runs until the input ends.
struct AccessoryAir {
  private let server: AirServer
  private let perform: @Sendable ([Substring]) -> Void

  /// Creates an air with an accessory of this kind; nil if there is no such kind.
  init?(_ kind: String) {
    server = AirServer()
    let world = server.world
    switch kind {
    case "keyboard":
      let keyboard = world.add(Keyboard(name: "accessory"), named: "accessory")
      perform = { words in
        keyboard.act { keyboard, context in
          switch words.first {
          case "type": keyboard.type(words.dropFirst().joined(separator: " "), in: &context)
          default: say("mode: \(keyboard.mode), leds: \(keyboard.leds), suspended: \(keyboard.isSuspended)")
          }
        }
      }
    case "mouse":
      let mouse = world.add(Mouse(name: "accessory"), named: "accessory")
      perform = { words in
        mouse.act { mouse, context in
          let numbers = words.dropFirst().compactMap { Int($0) } + [0, 0, 0]
          switch words.first {
          case "move": mouse.move(x: numbers[0], y: numbers[1], wheel: numbers[2], in: &context)
          case "click": mouse.click(in: &context)
          default: say("mode: \(mouse.mode), suspended: \(mouse.isSuspended)")
          }
        }
      }
    case "key-fob":
      let fob = world.add(KeyFob(name: "accessory"), named: "accessory")
      perform = { words in
        fob.act { fob, context in
          switch words.first {
          case "press": fob.pressButton(in: &context)
          default: say("alert: \(fob.alert), on link loss: \(fob.linkLossAlert)")
          }
        }
      }
    case "telephone":
      let telephone = world.add(Telephone(name: "accessory"), named: "accessory")
      perform = { words in
        telephone.act { telephone, context in
          let number = words.dropFirst().first.flatMap { UInt8($0) } ?? 0
          switch words.first {
          case "alert":
            let text = words.dropFirst(2).joined(separator: " ")
            telephone.alert(AlertCategory(rawValue: number), text: text, in: &context)
          case "unread": telephone.setUnread(number, of: .email, in: &context)
          case "ring": telephone.alertStatus.insert(.ringer)
          default: say("ringer: \(telephone.ringer), status: \(telephone.alertStatus)")
          }
        }
      }
    case "phone":
      let phone = Phone(in: world)
      perform = { phone.perform($0) }
    default: return nil
    }
  }

  /// Prints where hosts join, and performs the lines of the input.
  func run() throws {
    let specifier = try server.listen(at: TransportSpecifier("tcp:127.0.0.1:0"))
    say("hosts join at \(specifier)")
    while let line = readLine() { perform(line.split(separator: " ")) }
    try server.stop()
  }
}
