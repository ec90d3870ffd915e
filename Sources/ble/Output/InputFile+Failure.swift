import BluetoothTransport

extension InputFile {
  /// Returns the content of a file that the command line names; `-`: of the standard input.
  ///
  /// - Parameter limit: the maximum length in octets.
  /// - Throws: `Failure` with the reason and exit status 65 if it can't be read.
  static func content(of path: String, limit: Int) throws -> [UInt8] {
    do throws(InputFile.Failure) { return try octets(of: path, limit: limit, .given) } catch {
      throw ble.Failure(error.description, status: ExitStatus.ambiguous)
    }
  }
}
