/// The settings of an adapter that a server shares among the programs of other processes.
package struct ServingOptions: Sendable {
  package var shares = AppShares()
  /// True if the user must give permission before an app may use the adapter. Sessions that belong to no app need none.
  package var asksForApps = false
  /// Returns the prompts of the adapter, given those that it would have otherwise; nil: it has the latter.
  package var prompts: (@Sendable (any Prompts) -> any Prompts)?

  package init() {}
}
