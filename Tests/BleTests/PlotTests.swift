import BluetoothDissection
import Foundation
import Testing

@testable import ble

/// The pictures of captures.
@Suite struct PlotTests {
  /// Returns the picture of a capture with these numbers of connections and advertisers, with a packet of each.
  private static func picture(connections: Int, advertisers: Int) -> String {
    let interface = CaptureInterface(index: 0, name: "air", link: .linkLayerWithHeader)
    func octets(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) } }
    // ATT_READ_REQ of the handle 3 from a central; ADV_NONCONN_IND without data.
    let read: [UInt8] = [0x02, 7, 3, 0, 4, 0, 0x0A, 3, 0]
    var sent: [(address: UInt32, channel: UInt8, flags: UInt16, pdu: [UInt8])] = []
    for number in 0..<connections { sent.append((0x5065_0000 + UInt32(number), 12, 0x0D01, read)) }
    for number in 0..<advertisers { sent.append((0x8E89_BED6, 0, 0x0C01, [0x42, 6, UInt8(number), 0, 0, 0, 0, 0xC0])) }
    var dissector = Dissector()
    var plot = CapturePlot()
    for (number, one) in sent.enumerated() {
      // The pseudo-header of LINKTYPE_BLUETOOTH_LE_LL_WITH_PHDR, and the packet with any CRC: it counts as checked.
      var content: [UInt8] = [one.channel, 0, 0, 0] + octets(one.address)
      content += [UInt8(one.flags & 0xFF), UInt8(one.flags >> 8)]
      content += octets(one.address) + one.pdu
      content += [0, 0, 0]
      var packet = CapturedPacket(
        number: number + 1, time: Int64(number) * 1_000_000, interface: interface, octets: content,
        originalLength: content.count)
      packet.comments = ["a → b -50 dBm"]
      plot.add(dissector.describe(packet), .received)
    }
    return plot.svg("picture")
  }

  @Test("Connections without a pen of their own have one pen in common, and notes tell how many have no curve")
  func others() {
    let picture = Self.picture(connections: 40, advertisers: 2)
    #expect(picture.contains(">34 other connections</text>"))
    #expect(picture.components(separatedBy: ">not shown: 34 other connections</text>").count == 3)
    // Their symbols among the packets, and the one in the legend.
    let pen = SVGPicture.Pen.others
    #expect(picture.components(separatedBy: "stroke=\"\(pen.colour)\"").count == 3)
    for number in 0..<12 { #expect(SVGPicture.Pen(number).symbol != pen.symbol) }
  }

  @Test("A note tells how many advertisers have no curve of their signal strength")
  func otherAdvertisers() {
    let picture = Self.picture(connections: 7, advertisers: 40)
    // The note on the signal strength names both; advertisers have no throughput.
    #expect(picture.components(separatedBy: ">not shown: 1 other connection, 34 other advertisers</text>").count == 2)
    #expect(picture.components(separatedBy: ">not shown: 1 other connection</text>").count == 2)
    #expect(Self.picture(connections: 2, advertisers: 7).contains(">not shown: 1 other advertiser</text>"))
  }

  @Test("A picture in which each connection has a pen tells of no others")
  func none() {
    let picture = Self.picture(connections: 6, advertisers: 2)
    #expect(!picture.contains("other connection"))
    #expect(!picture.contains("not shown"))
    #expect(!picture.contains(SVGPicture.Pen.others.colour))
  }
}
