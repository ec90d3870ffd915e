/// The position of a link in the host's table of links. It is valid until a link is added or removed.
struct LinkIndex: Hashable {
  let position: Int
}
