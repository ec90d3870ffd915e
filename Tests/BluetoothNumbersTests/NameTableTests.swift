import BluetoothNumbers
import TestVectors
import Testing

@Suite struct NameTableTests {
  @Test(
    "The table gives a company's name for its code",
    arguments: [
      (0x0000, "Ericsson AB"), (0x0001, "Nokia Mobile Phones"), (0x004C, "Apple, Inc."),
      (0x0380, "LLC \"MEGA-F service\""), (0x10AE, "Raycon Inc."),
    ] as [(UInt16, String)])
  func companies(code: UInt16, name: String) {
    #expect(AssignedNumbers.companyName(code) == name)
  }

  @Test("The list of companies has the names that their codes have, in the order of the codes")
  func listOfCompanies() {
    let companies = AssignedNumbers.companies
    #expect(companies.count > 4_000 && companies.map(\.code) == Set(companies.map(\.code)).sorted())
    for (code, name) in companies where code % 97 == 0 { #expect(AssignedNumbers.companyName(code) == name) }
    #expect(companies.contains { $0.code == 0x004C && $0.name == "Apple, Inc." })
  }

  @Test("Names at the boundaries between text blocks are found", arguments: [49, 50, 398, 400, 4249, 4250] as [UInt16])
  func blocks(code: UInt16) {
    #expect(AssignedNumbers.companyName(code)?.isEmpty == false)
  }

  @Test("The table knows every company of the advertising vectors; 0xFFFF is unassigned")
  func companyVectors() throws {
    let rows = try #require(try TestVectors.load("advertising")["company_examples"] as? [[String: Any]])
    #expect(rows.count == 9)
    for row in rows {
      let code = UInt16(try #require(row["code"] as? Int))
      #expect(AssignedNumbers.companyName(code) == (code == 0xFFFF ? nil : row["name"] as? String))
    }
  }

  @Test("4,008 company codes have names, without surrounding blanks, and other codes have none")
  func allCompanies() {
    let names = (0...0x1FFF).compactMap(AssignedNumbers.companyName)
    #expect(names.count == 4008)
    #expect(names.allSatisfy { !$0.isEmpty && $0.first != " " && $0.last != " " && !$0.contains("\n") })
    #expect(AssignedNumbers.companyName(0x0066) == nil)
    #expect(AssignedNumbers.companyName(0x10AF) == nil)
    #expect(AssignedNumbers.companyName(0xFFFF) == nil)
  }
}
