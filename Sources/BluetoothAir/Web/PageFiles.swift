import CBluetoothAirPage
import NIOCore

/// The files of the page, which are part of the program.
enum PageFiles {
  /// A file, and its media type.
  struct File: Sendable {
    let octets: ByteBuffer
    let type: String
  }

  /// The files by name.
  static let all: [String: File] = {
    var files: [String: File] = [:]
    var index = 0
    while let name = air_page_file(index).name {
      let file = air_page_file(index)
      let text = String(cString: name)
      let octets = UnsafeBufferPointer(start: file.octets, count: file.count)
      files[text] = File(octets: ByteBuffer(bytes: octets), type: type(of: text))
      index += 1
    }
    return files
  }()

  private static func type(of name: String) -> String {
    switch name.split(separator: ".").last {
    case "html": "text/html; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "js": "text/javascript; charset=utf-8"
    case "json": "application/json"
    case "svg": "image/svg+xml"
    case "png": "image/png"
    default: "application/octet-stream"
    }
  }
}
