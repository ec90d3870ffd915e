import TestVectors
import Testing

@testable import BluetoothCrypto

@Suite("Resolvable private addresses")
struct IdentityResolvingKeyTests {
  @Test("The hash agrees with the reference vectors", arguments: try Row.all("ah"))
  func hash(row: Row) throws {
    let key = try #require(IdentityResolvingKey(row.block("irk")))
    let (prand, hash) = (try row.number("prand"), try row.number("hash"))
    #expect(key.hash(UInt32(prand)) == UInt32(hash))
    let isResolvable = prand >> 22 == 0b01
    #expect(key.resolves(prand << 24 | hash) == isResolvable)
    #expect(!key.resolves(prand << 24 | hash ^ 1))
  }

  @Test("Each address of the advertising vectors resolves if and only if the vector says so")
  func advertisingVectors() throws {
    let rows = try #require(try TestVectors.load("advertising")["rpa"] as? [[String: Any]])
    #expect(rows.count == 8)
    for row in rows {
      let digits = try #require(row["irk"] as? String)
      let octets = try #require([UInt8](hexadecimal: digits))
      let block = try #require(Block(octets))
      let key = try #require(IdentityResolvingKey(block))
      let text = try #require(row["address"] as? String)
      let address = try #require(UInt64(text.filter(\.isHexDigit), radix: 16))
      #expect(key.resolves(address) == row["resolves"] as? Bool, "\(row["id"] ?? "")")
    }
  }

  @Test("A key of zeros is not an identity resolving key")
  func zeros() { #expect(IdentityResolvingKey(.zero) == nil) }

  @Test("New addresses are resolvable and distinct, and only their own key resolves them")
  func addresses() throws {
    let key = try #require(IdentityResolvingKey(Block(high: 1, low: 2)))
    let other = try #require(IdentityResolvingKey(Block(high: 1, low: 3)))
    var generator = SystemRandomNumberGenerator()
    let addresses = (0..<200).map { _ in key.newAddress(using: &generator) }
    #expect(Set(addresses).count == 200)
    for address in addresses {
      #expect(address >> 46 == 0b01)
      #expect(key.resolves(address) && !other.resolves(address))
      #expect(Toolbox.resolves(address, irk: Block(high: 1, low: 2)))
    }
  }
}
