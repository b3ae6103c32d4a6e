// A client that costs little beside what it measures: HTTP/1.1 over sockets that stay open, one request at a time on each.
import net from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');

/** The text of a request, as a client library would send it. */
export function requestText({ url, key, path, body = '' }) {
  const type = body === '' ? '' : 'content-type: application/json\r\n';
  const head = `POST ${path} HTTP/1.1\r\nhost: ${url.host}\r\nuser-agent: bench\r\naccept: */*\r\nx-api-key: ${key}\r\n`;
  return `${head}${type}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** One connection, and the answer that it waits for. */
export class HttpClient {
  #socket;
  #received = null;
  #answered = null;

  static async connect(url) {
    const client = new HttpClient();
    client.#socket = net.connect({ host: url.hostname, port: Number(url.port), noDelay: true });
    await new Promise((resolve, reject) => client.#socket.once('connect', resolve).once('error', reject));
    client.#socket.on('data', (chunk) => client.#onData(chunk));
    client.#socket.on('close', () => client.#answered?.reject(new Error('the server closed the connection')));
    return client;
  }

  /** Send a request; the body of its answer, as text. Anything but 2xx ends the measurement. */
  send(text) {
    return new Promise((resolve, reject) => {
      if (this.#socket.destroyed) reject(new Error('the server has closed the connection'));
      this.#answered = { resolve, reject };
      this.#socket.write(text, 'latin1');
    });
  }

  close() {
    this.#socket.destroy();
  }

  #onData(chunk) {
    const all = this.#received === null ? chunk : Buffer.concat([this.#received, chunk]);
    const headBytes = all.indexOf(HEAD_END) + HEAD_END.length;
    const head = headBytes >= HEAD_END.length ? all.latin1Slice(0, headBytes) : null;
    const length = head && Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
    if (head === null || all.length < headBytes + length) {
      this.#received = all;
      return;
    }
    this.#received = null;
    const { resolve, reject } = this.#answered;
    const body = all.utf8Slice(headBytes);
    if (head[9] === '2') resolve(body);
    else reject(new Error(`${head.split('\r\n')[0]}: ${body}`));
  }
}
