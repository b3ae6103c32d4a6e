// HTTP clients that need little CPU: HTTP/1.1 over persistent connections, one request at a time on each. They require a
// Content-Length, which all responses of Yardmaster have.
import net from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');

/** Format a request as a client library would send it. */
export function requestText({ url, key, method = 'POST', path, body = '' }) {
  const type = body === '' ? '' : 'content-type: application/json\r\n';
  const head = `${method} /api/v1${path} HTTP/1.1\r\nhost: ${url.host}\r\nuser-agent: bench\r\naccept: */*\r\nx-api-key: ${key}\r\n`;
  return `${head}${type}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** A connection, and the response that it is waiting for. */
export class Connection {
  #socket;
  #received = [];
  #bytes = 0;
  #needed = 0; // Bytes of the response; 0 before its head has arrived.
  #response = null;

  static async open(url) {
    const connection = new Connection();
    connection.#socket = net.connect({ host: url.hostname, port: Number(url.port), noDelay: true });
    await new Promise((resolve, reject) => connection.#socket.once('connect', resolve).once('error', reject));
    connection.#socket.on('data', (chunk) => connection.#onData(chunk));
    connection.#socket.on('close', () => connection.#response?.reject(new Error('the server closed the connection')));
    return connection;
  }

  get isOpen() {
    return !this.#socket.destroyed;
  }

  /** Send a request. @returns status and text of the response */
  send(text) {
    return new Promise((resolve, reject) => {
      if (!this.isOpen) reject(new Error('the server has closed the connection'));
      this.#response = { resolve, reject };
      this.#socket.write(text, 'utf8');
    });
  }

  /** Send a request that must succeed. @returns the text of the response */
  async must(request) {
    const { status, text } = await this.send(request);
    if (status >= 300) throw new Error(`${request.split('\r\n')[0]}: ${status} ${text}`);
    return text;
  }

  close() {
    this.#socket.destroy();
  }

  #onData(chunk) {
    this.#received.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes < this.#needed) return; // A large response arrives in hundreds of parts.
    const all = this.#received.length === 1 ? chunk : Buffer.concat(this.#received);
    this.#received = [all];
    const headBytes = all.indexOf(HEAD_END) + HEAD_END.length;
    if (headBytes < HEAD_END.length) return;
    const head = all.latin1Slice(0, headBytes);
    this.#needed = headBytes + Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
    if (all.length < this.#needed) return;
    this.#received = [];
    this.#bytes = 0;
    this.#needed = 0;
    // A server can also send a response when it closes an idle connection.
    this.#response?.resolve({ status: Number(head.slice(9, 12)), text: all.utf8Slice(headBytes) });
  }
}

/**
 * Create a client for many calls to an API.
 *
 * @param connections maximum number of connections, which are used in rotation, so that the API closes none as idle
 * @returns `call(method, path, body)` with a path below /api/v1, which resolves with any status and the parsed body; `close`
 */
export function createClient({ url, key, connections }) {
  const place = new URL(url);
  const idle = [];
  const waiting = [];
  let opened = 0;
  const take = () => {
    if (idle.length > 0) return idle.shift();
    if (opened === connections) return new Promise((resolve) => waiting.push(resolve));
    opened++;
    return Connection.open(place);
  };
  const give = (connection) => {
    if (waiting.length > 0) waiting.shift()(connection);
    else idle.push(connection);
  };
  return {
    async call(method, path, body) {
      const request = requestText({ url: place, key, method, path, body: body && JSON.stringify(body) });
      const connection = await take();
      const { status, text } = await connection.send(request);
      give(connection);
      return { status, body: JSON.parse(text) };
    },
    close() {
      for (const connection of idle) connection.close();
    },
  };
}
