// The connection to the server: events come as messages, and each command has an answer.

const RETRY = 2000;

export class Connection {
  #socket = null;
  #number = 0;
  #waiting = new Map();
  #reason = "";

  /** `receive(message)` gets each message but answers; `status(text, isLive)` tells about the connection. */
  constructor(receive, status) {
    this.receive = receive;
    this.status = status;
  }

  open() {
    const address = new URL("events", location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    address.search = "";
    address.hash = "";
    this.#socket = new WebSocket(address);
    this.#socket.onmessage = ({ data }) => this.#take(data);
    this.#socket.onclose = () => this.#closed();
  }

  #take(data) {
    let message;
    try {
      message = JSON.parse(data);
    } catch {
      return;
    }
    if (message.type === "answer") {
      this.#answer(message);
      return;
    }
    if (message.type === "hello") {
      this.#reason = "";
      this.status("Live", true);
    }
    if (message.type === "bye") this.#reason = message.reason;
    this.receive(message);
  }

  #answer(message) {
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (!waiting) return;
    if (message.error) waiting.fail(new Error(message.error));
    else waiting.succeed(message);
  }

  #closed() {
    for (const { fail } of this.#waiting.values()) fail(new Error("the connection to the air has ended"));
    this.#waiting.clear();
    this.status(this.#reason ? `Ended: ${this.#reason}` : "Not connected; trying again", false);
    setTimeout(() => this.open(), RETRY);
  }

  /** Sends `{request: …}`, `{ask: …}` or `{app: …}`. The promise fails with the reason of the server. */
  send(message) {
    return new Promise((succeed, fail) => {
      if (this.#socket?.readyState !== WebSocket.OPEN) {
        fail(new Error("not connected to the air"));
        return;
      }
      const id = (this.#number += 1);
      this.#waiting.set(id, { succeed, fail });
      this.#socket.send(JSON.stringify({ id, ...message }));
    });
  }
}
