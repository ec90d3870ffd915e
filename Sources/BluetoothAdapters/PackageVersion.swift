/// The version of this package, which its programs show with `--version`. The first heading of CHANGELOG.md has it, too.
package enum PackageVersion {
  /// A version of Semantic Versioning, with `-dev` before the release.
  package static let text = "0.1.0-dev"
}
