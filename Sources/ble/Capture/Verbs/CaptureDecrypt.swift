import ArgumentParser
import BluetoothAir
import BluetoothDissection
import BluetoothWire

extension CaptureCommand {
  struct Decrypt: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Writes a capture in which packets of encrypted links are in plain text.",
      discussion: """
        The capture must have LL_ENC_REQ and LL_ENC_RSP of each link, as packets on the air with a pseudo-header \
        (LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR) or of the nRF Sniffer. Each key is tried for each link. Packets of the \
        sniffer are written with the pseudo-header, and packets of other kinds stay as they are.
        """
    )
    .examples(
      "ble capture decrypt air.pcapng plain.pcapng --keys air.pcapng.keys.json",
      "ble capture decrypt air.pcapng plain.pcapng --ltk 000102030405060708090A0B0C0D0E0F")

    @Argument(
      help: ArgumentHelp("The capture; - is the standard input.", valueName: "file"), completion: .file())
    var file: String
    @Argument(
      help: ArgumentHelp("The written pcapng file; - is the standard output.", valueName: "output"), completion: .file()
    )
    var path: String
    @OptionGroup var keys: DecryptionKeys
    @OptionGroup var output: OutputOptions

    func validate() throws { try output.requireFile(path) }

    func run() throws {
      if file != "-", OutputFile.isSame(file, path) {
        throw Failure("\(path.printable) is the capture that is read; choose another name", status: ExitStatus.usage)
      }
      let keys = try keys.read()
      let (counts, copy, input) = try Interrupt.endsProgram {
        let input = try CaptureInput(path: file)
        // The first element tells that the file is a capture, before another file is replaced.
        var element = try input.next()
        let copy = try CaptureOutput(path: path, format: .pcapng)
        if copy.isRegular { input.showProgress() }
        var decryptor = CaptureDecryptor(keys: keys)
        var notes = CaptureNotes()
        while let current = element {
          switch current {
          case .packet(let packet): try copy.add(decryptor.decrypt(packet))
          case .unread(let kind): notes.add(kind)
          case .interface, .dropped: break
          }
          element = try input.next()
        }
        // A copy without a decrypted packet would pass for a result.
        if decryptor.counts.decrypted > 0 { try copy.finish() }
        for line in notes.lines { complain("note: \(line)") }
        return (decryptor.counts, copy, input)
      }
      do { try report(counts, of: copy) } catch let failure as Failure { throw input.atEnd(failure) }
      try input.checkEnd()
    }

    /// Tells the result.
    ///
    /// - Throws: `Failure` if a session stays encrypted.
    private func report(_ counts: CaptureDecryptor.Counts, of copy: CaptureOutput) throws {
      guard counts.plain == 0 || counts.decrypted > 0 else {
        throw Failure("the capture shows encrypted links in plain text already", status: ExitStatus.notFound)
      }
      guard counts.sessions > 0 else {
        throw Failure(
          "no encrypted link whose LL_ENC_REQ and LL_ENC_RSP were captured on the air", status: ExitStatus.notFound)
      }
      let sessions = counts.sessions == 1 ? "1 encrypted session" : "\(counts.sessions) encrypted sessions"
      guard counts.proven > 0 else {
        throw Failure(
          "none of the keys is that of \(counts.sessions == 1 ? "" : "one of ")\(sessions)",
          status: ExitStatus.notFound)
      }
      if counts.failed > 0 { complain("warning: \(counts.failed) packets with a wrong MIC stay encrypted") }
      if output.json {
        var record = copy.record("captureDecryption", of: file, total: copy.count)
        record.add("decrypted", counts.decrypted)
        record.add("failed", counts.failed)
        record.add("sessions", counts.sessions)
        record.add("sessionsWithKey", counts.proven)
        try put(record.line + "\n")
      } else {
        complain("\(counts.decrypted) packets of \(counts.proven) of \(sessions) decrypted")
      }
      guard counts.proven == counts.sessions else {
        throw Failure("the other sessions have other keys, and stay encrypted", status: ExitStatus.notFound)
      }
    }
  }
}
