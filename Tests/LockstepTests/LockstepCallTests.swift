import Foundation
import TestSupport
import Testing

/// Documentation/Lockstep.md lists these calls.
@Suite("Calls that follow the time of a lockstep")
struct LockstepCallTests {
  /// A call of Tests/LockstepHost, its result, and the time that it takes in nanoseconds.
  struct Call: CustomTestStringConvertible, Sendable {
    let group: String
    let name: String
    let result: String
    let time: String

    var testDescription: String { "\(group): \(name)" }
  }

  /// The rows of `Tests/LockstepHost/calls.tsv`.
  static let calls: [Call] = {
    let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/../LockstepHost/calls.tsv"
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").dropFirst().map { row in
      let fields = row.split(separator: "\t").map(String.init)
      return Call(group: fields[0], name: fields[1], result: fields[2], time: fields[3])
    }
  }()

  @Test("A call takes exactly its virtual time", arguments: calls)
  func call(_ call: Call) async throws {
    let ending = try await LockstepRun.run([LockstepRun.host(), call.name])
    #expect(ending.output == "\(call.name) \(call.result) \(call.time)\n")
    #expect(ending.status == 0, "\(ending.errors)")
  }

  @Test("The library replaces each call in the table of the page, and each group of calls has a row")
  func page() throws {
    let text = try String(
      contentsOfFile: URL(fileURLWithPath: #filePath).deletingLastPathComponent().path
        + "/../../Documentation/Lockstep.md", encoding: .utf8)
    let start = try #require(text.range(of: "| what | calls | test |"))
    let table = text[start.upperBound...].components(separatedBy: "\n\n")[0]
    let library = try #require(dlopen(Program.url("libble-lockstep.so", isProgram: false).path, RTLD_NOW | RTLD_LOCAL))
    var calls = 0
    for row in table.split(separator: "\n").dropFirst() {
      let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      let parts = cells[1].split(separator: "`", omittingEmptySubsequences: false)
      for name in stride(from: 1, to: parts.count, by: 2).map({ parts[$0] })
      where name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }) && name.contains(where: \.isLowercase) {
        // A function that the library lacks is that of the C library here.
        let function = dlsym(library, String(name))
        #expect(function != nil && function != dlsym(nil, String(name)), "\(name)")
        calls += 1
      }
    }
    #expect(calls > 100)
    for group in Set(Self.calls.map(\.group)) { #expect(table.contains("`\(group)`"), "\(group)") }
  }

  @Test("Random numbers, and the numbers of processes, are those of the seed")
  func randomness() async throws {
    let calls = [try LockstepRun.host(), "getrandom", "urandom", "getpid"]
    let first = try await LockstepRun.run(calls, options: ["--seed", "1"])
    let again = try await LockstepRun.run(calls, options: ["--seed", "1"])
    let other = try await LockstepRun.run(calls, options: ["--seed", "2"])
    #expect(first.output == again.output)
    #expect(first.output != other.output)
    #expect(first.output.contains("getpid 5000001 0"))
  }
}
