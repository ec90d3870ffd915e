import Foundation
import TestSupport
import Testing

/// Hosts that are shell scripts: they write HCI commands to the air, and print the events.
@Suite("Hosts on the air of a lockstep")
struct LockstepAirTests {
  /// Resets the controller every 100 ms, and prints the time of each answer.
  private static let host = """
    exec 3<>/dev/tcp/127.0.0.1/6402
    for i in 1 2 3; do
      printf '\\x01\\x03\\x0c\\x00' >&3
      head -c 7 <&3 | od -An -tx1
      date +%s.%N
      sleep 0.1
    done
    """

  @Test("A command is answered at the time at which the host wrote it")
  func commandTime() async throws {
    let ending = try await LockstepRun.run(["bash", "-c", Self.host])
    let answer = " 04 0e 04 01 03 0c 00\n"
    let times = ["1767225600.000000000", "1767225600.100000000", "1767225600.200000000"]
    #expect(ending.output == times.map { answer + $0 + "\n" }.joined())
    #expect(ending.status == 0, "\(ending.errors)")
  }

  @Test("ble serve and ble inspect are two programs, whose capture is the same in each run")
  func ownPrograms() async throws {
    let folder = try LockstepRun.makeFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let world = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/../../Examples/Worlds/gym.yaml"
    let ble = try Program.url("ble").path
    var captures: [Data] = []
    for number in 1...2 {
      let path = folder.appendingPathComponent("\(number).pcapng").path
      let ending = try await LockstepRun.run(
        [ble, "serve", world, "--device", "strap-cyclist"], ["sh", "-c", "sleep 1; exec \(ble) inspect Cyclist"],
        options: ["--until", "last", "--capture", path], environment: ["COREBLUETOOTH_PROMPTS": "accept"])
      #expect(ending.output.contains("├─ Body Sensor Location (2A38)  read  Chest"), "\(ending.errors)")
      #expect(ending.status == 0)
      captures.append(try Data(contentsOf: URL(fileURLWithPath: path)))
    }
    #expect(captures[0] == captures[1])
  }

  @Test("Two runs with three hosts, and a world that advertises, have the same capture, octet for octet")
  func sameCapture() async throws {
    let folder = try LockstepRun.makeFolder()
    defer { try? FileManager.default.removeItem(at: folder) }
    var captures: [Data] = []
    for number in 1...2 {
      let path = folder.appendingPathComponent("\(number).pcapng").path
      let script = ["bash", "-c", Self.host]
      let ending = try await LockstepRun.run(
        script, script, script, options: ["--world", "gym", "--seed", "7", "--capture", path])
      #expect(ending.status == 0, "\(ending.errors)")
      captures.append(try Data(contentsOf: URL(fileURLWithPath: path)))
    }
    #expect(captures[0].count > 1_000)
    #expect(captures[0] == captures[1])
  }
}
