import { once } from 'node:events';
import type * as Jest from '@jest/globals';
import { type ClientOptions, WebSocket } from 'ws';
import { until } from './until.js';

// Not imported: scripts that run without Jest load this module.
const { afterAll, afterEach } = globalThis as unknown as Partial<typeof Jest>;

/** Sockets that a test has left open. */
const open = new Set<WebSocket>();
afterAll?.(() => {
  for (const ws of open) ws.terminate();
});

// biome-ignore lint/suspicious/noExplicitAny: tests compare whole messages; a schema here would hide differences
type Message = any;

/** A WebSocket client of a stream, which keeps all messages. */
export class StreamClient {
  readonly messages: Message[] = [];
  /** Code and reason of the close; null while it is open. */
  closed: { code: number; reason: string } | null = null;

  private constructor(readonly ws: WebSocket) {
    open.add(ws);
    // Messages are text frames, so a binary one equals no message that a test expects.
    ws.on('message', (data, isBinary) => this.messages.push(isBinary ? { data } : JSON.parse(data.toString())));
    ws.on('close', (code, reason) => {
      open.delete(ws);
      this.closed = { code, reason: reason.toString() };
    });
    ws.on('error', () => undefined); // Shown by `closed`.
  }

  /**
   * Connect and wait for the init.
   *
   * @param path below `/api/v1/realtime`, e.g. `/spaces/demo?token=…`
   * @throws when it is refused; see `refusalOf`
   */
  static async open(url: string, path: string): Promise<StreamClient> {
    const client = StreamClient.connect(url, path);
    await client.opened();
    return client;
  }

  /** Wait for the init. @throws when the stream is refused */
  async opened(): Promise<void> {
    await until(() => this.messages.length > 0 || this.closed !== null);
    if (this.messages.length === 0) throw new Error(`no stream: ${JSON.stringify(this.closed)}`);
  }

  /** Connect without waiting. */
  static connect(url: string, path: string): StreamClient {
    // Not in the types: how long the client waits for a server that does not close. Its default is 30 s.
    const options = { closeTimeout: 500 } as ClientOptions;
    return new StreamClient(new WebSocket(`${url.replace('http', 'ws')}/api/v1/realtime${path}`, options));
  }

  /** Types of the messages so far. */
  types(): string[] {
    return this.messages.map(({ type }) => type);
  }

  /** Data of the messages of a type so far. */
  dataOf(type: string): Message[] {
    return this.messages.filter((message) => message.type === type).map(({ data }) => data);
  }

  /** Wait for a message of a type, and return it. */
  async next(type: string): Promise<Message> {
    await until(() => this.types().includes(type));
    return this.messages.find((message) => message.type === type);
  }

  /** Wait until the server closes it. */
  async end(): Promise<{ code: number; reason: string }> {
    await until(() => this.closed !== null);
    return this.closed as { code: number; reason: string };
  }

  /** Close it and wait until it is gone. */
  async close(): Promise<void> {
    if (this.closed !== null) return;
    const gone = once(this.ws, 'close');
    this.ws.close();
    await gone;
  }
}

/**
 * Open streams of a service in the tests of the file, or of the `describe` block; each ends after its test. Call it where
 * the tests are declared.
 *
 * @returns `StreamClient.open` for this service, or for another URL
 */
export function withStreams(service: { readonly url: string }) {
  const clients: StreamClient[] = [];
  afterEach?.(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
  });
  return async (path: string, url = service.url): Promise<StreamClient> => {
    const client = StreamClient.connect(url, path);
    clients.push(client);
    await client.opened();
    return client;
  };
}
