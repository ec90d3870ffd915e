import BluetoothAir
import BluetoothLab

/// A page on this machine that shows a world in a browser, and lets a hand change it.
public final class WorldPage: Sendable {
  /// The address of the page. It contains a token of 128 random bits, without which the server answers nothing.
  public let url: String
  private let page: AirPage

  fileprivate init(_ page: AirPage) {
    self.page = page
    url = page.url
  }

  /// Lets the viewers of the page run a world in virtual time, on this thread: for a time, until a device has a link or
  /// has none, or with a speed. Returns when a viewer lets the program go on, or after `close`. Does nothing for a world
  /// in real time, which runs by itself.
  @available(*, noasync, message: "it blocks the thread")
  public func run() { page.runWorld() }

  /// Ends the connections of all viewers, and stops to serve. Must not be called in a callback of the world.
  @available(*, noasync, message: "it blocks the thread")
  public func close() { page.close("the program has closed the page") }

  /// An address can't be used.
  public struct Failure: Error, CustomStringConvertible {
    /// The address and the reason, in one line.
    public let description: String
  }
}

extension World {
  /// Serves a page that shows this world in a browser: its map, its packets, its devices with their attributes, its
  /// faults and its time.
  ///
  /// A world in virtual time stands still while nobody runs it. A test that stops at a line and shows its world:
  ///
  /// ```swift
  /// let page = try world.serve()
  /// print("look at \(page.url)")
  /// page.run()
  /// ```
  ///
  /// The server listens on the loopback only, and as long as the page is not closed.
  ///
  /// - Parameter port: the port; 0: the system chooses one, which `WorldPage.url` has.
  /// - Throws: `WorldPage.Failure` if the port can't be used.
  public func serve(on port: Int = 0) throws(WorldPage.Failure) -> WorldPage {
    var options = PageOptions()
    (options.port, options.program) = (port, "world")
    do { return WorldPage(try AirPage(of: self, options)) } catch {
      throw WorldPage.Failure(description: "\(error)")
    }
  }
}
