import Foundation
import TestSupport
import Testing

@Suite("Python in a lockstep", .enabled(if: hasPython))
struct LockstepPythonTests {
  private static func run(_ program: String) async throws -> String {
    let ending = try await LockstepRun.run(["python3", "-c", program])
    #expect(ending.status == 0, "\(ending.errors)")
    return ending.output
  }

  @Test("time.sleep takes an hour of virtual time")
  func sleep() async throws {
    let output = try await Self.run("import time; t = time.time(); time.sleep(3600); print(time.time() - t)")
    #expect(output == "3600.0\n")
  }

  @Test("asyncio sleeps, time limits, streams and child processes follow the time")
  func asyncio() async throws {
    let output = try await Self.run(
      """
      import asyncio, time
      start = time.monotonic()
      def tell(*what): print(*what, round(time.monotonic() - start, 6))
      async def echo(reader, writer):
          line = await reader.readline(); await asyncio.sleep(0.5); writer.write(line); writer.close()
      async def main():
          await asyncio.gather(asyncio.sleep(1.5), asyncio.sleep(60)); tell('gather')
          try: await asyncio.wait_for(asyncio.sleep(100), 2.25)
          except asyncio.TimeoutError: tell('timeout')
          await asyncio.start_server(echo, '127.0.0.1', 7777)
          reader, writer = await asyncio.open_connection('127.0.0.1', 7777)
          writer.write(b'hello\\n'); tell(await reader.readline())
          child = await asyncio.create_subprocess_exec('sh', '-c', 'sleep 5; echo hi', stdout=-1)
          tell(await child.communicate())
          await asyncio.to_thread(time.sleep, 7); tell('thread')
      asyncio.run(main())
      """)
    #expect(
      output == """
        gather 60.0
        timeout 62.25
        b'hello\\n' 62.75
        (b'hi\\n', None) 67.75
        thread 74.75

        """)
  }

  @Test("Threads, queues and locks follow the time, in the same order in each run")
  func threads() async throws {
    let program = """
      import queue, random, threading, time, os
      start = time.monotonic()
      def tell(*what): print(*what, round(time.monotonic() - start, 6))
      items = queue.Queue()
      def work(name):
          for _ in range(3): time.sleep(random.random()); items.put(name)
      for name in 'abc': threading.Thread(target=work, args=(name,)).start()
      for _ in range(9): tell(items.get())
      try: items.get(timeout=0.25)
      except queue.Empty: tell('empty')
      tell(threading.Event().wait(10), os.urandom(4).hex(), hash('text'), sorted(map(id, [object()])))
      """
    let output = try await Self.run(program)
    #expect(output.split(separator: "\n").count == 11)
    #expect(output == (try await Self.run(program)))
  }
}

/// True if a program python3 is installed.
private let hasPython = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
  FileManager.default.isExecutableFile(atPath: "\($0)/python3")
}
