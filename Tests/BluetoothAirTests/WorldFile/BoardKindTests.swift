import BluetoothLab
import BluetoothProfiles
import TestSupport
import Testing

@testable import BluetoothAir

/// The kinds `key-fob`, `finder-tag` and `pin-board`.
@Suite("World files: buttons, tags and boards")
struct BoardKindTests {
  @Test("Buttons, tags and boards have the properties of the file")
  func properties() throws {
    let file = try WorldFile(
      text: """
        devices:
          - {name: keys, accessory: {kind: key-fob, buttonInterval: 30, buttonAlert: mild}}
          - {name: plain keys, accessory: key-fob}
          - {name: wallet, accessory: {kind: finder-tag, light: flashing, batteryLevel: 7}, transmitPower: -8}
          - {name: bag, accessory: {kind: finder-tag, transmitPowerLevel: 3}}
          - name: board
            accessory:
              kind: pin-board
              highPins: [0, 7]
              lowPins: [6]
              millivolts: [1300, 650, 1]
              presses: [{at: 5}, {at: 8.5, pin: 5, duration: 1}]
        """)
    func accessory<A: Accessory>(_ index: Int, _ type: A.Type) throws -> A {
      try #require(file.members[index].accessory as? A)
    }
    let keys = try accessory(0, KeyFob.self)
    #expect(keys.buttonInterval == .seconds(30) && keys.buttonAlert == .mildAlert)
    let plain = try accessory(1, KeyFob.self)
    #expect(plain.buttonInterval == nil && plain.buttonAlert == .highAlert)
    let wallet = try accessory(2, FinderTag.self)
    #expect(wallet.name == "wallet" && wallet.light == .flashing && wallet.batteryLevel == 7)
    #expect(wallet.transmitPower == -8)
    #expect(try accessory(3, FinderTag.self).transmitPower == 3)
    let board = try accessory(4, PinBoard.self)
    #expect(board.inputLevels == PinBoard.Pins(.pio0, .pio7))
    #expect(PinBoard.AnalogPin.allCases.map(board.millivolts) == [1_300, 650, 1])
    #expect(
      board.scheduledPresses == [
        PinBoard.Press(at: .seconds(5)), PinBoard.Press(.pio5, at: .seconds(8.5), for: .seconds(1)),
      ])
  }

  @Test("A pin of a board with a high and a low level from outside is reported")
  func contradiction() {
    let text = """
      devices:
        - {name: board, accessory: {kind: pin-board, highPins: [1, 2], lowPins: [2, 3]}}
      """
    #expect(complaints(text).map { $0.contains("lowPins: a pin can't be in highPins, too") } == [true])
  }
}
