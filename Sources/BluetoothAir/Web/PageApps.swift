/// The apps of a server, for its page. The functions may be called on any thread, and must not block it.
package struct PageApps: Sendable {
  /// The change of an app by the user.
  package enum Action: String, Decodable, Sendable { case background, foreground, suspend, quit, allow, deny }

  /// Calls its argument with the apps, alerts and holders of links, as in the messages of the page.
  package let read: @Sendable (@escaping @Sendable (JSONText) -> Void) -> Void
  /// Changes the app with a name, and calls its last argument with the reason why it could not; nil: it is done.
  package let perform: @Sendable (Action, String, @escaping @Sendable (String?) -> Void) -> Void

  package init(
    read: @escaping @Sendable (@escaping @Sendable (JSONText) -> Void) -> Void,
    perform: @escaping @Sendable (Action, String, @escaping @Sendable (String?) -> Void) -> Void
  ) {
    (self.read, self.perform) = (read, perform)
  }
}
