// Shows the latest message of the server.
const url = new URL("events", location.href);
url.protocol = url.protocol.replace("http", "ws");
const socket = new WebSocket(url);
socket.onmessage = (event) => {
  document.getElementById("state").textContent = event.data;
};
