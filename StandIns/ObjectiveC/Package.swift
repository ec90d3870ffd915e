// swift-tools-version: 6.0
import PackageDescription

let package = Package(
  name: "objective-c-stand-in",
  products: [.library(name: "ObjectiveCStandIn", type: .dynamic, targets: ["ObjectiveC"])],
  targets: [.target(name: "ObjectiveC")]
)
