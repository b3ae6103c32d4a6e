import { until } from './until.js';

// biome-ignore lint/suspicious/noExplicitAny: tests compare whole messages; a schema here would hide differences
type Message = any;

/** An event of an event stream. */
export interface ServerSentEvent {
  /** Field `id:`; null without one. */
  id: string | null;
  /** Field `event:`. */
  name: string;
  data: Message;
}

/** A client of an event stream that keeps all events and, unlike an EventSource, does not reconnect. */
export class EventStreamClient {
  readonly events: ServerSentEvent[] = [];
  comments = 0;
  /** Whether the response has ended, and whether its connection broke. */
  ended: 'whole' | 'broken' | null = null;
  readonly #controller = new AbortController();
  #response: Response | undefined;

  /**
   * Send the request and wait for the first event, or for the end of a response without events.
   *
   * @param path below `/api/v1/realtime`
   */
  static async open(url: string, path: string, headers: Record<string, string> = {}): Promise<EventStreamClient> {
    const client = new EventStreamClient();
    client.#response = await fetch(`${url}/api/v1/realtime${path}`, {
      headers: { accept: 'text/event-stream', ...headers },
      signal: client.#controller.signal,
    });
    void client.#read();
    await until(() => client.events.length > 0 || client.ended !== null);
    return client;
  }

  get response(): Response {
    return this.#response as Response;
  }

  /** Messages of the events without a name. */
  get messages(): Message[] {
    return this.events.filter(({ name }) => name === 'message').map(({ data }) => data);
  }

  types(): string[] {
    return this.messages.map(({ type }) => type);
  }

  /** Number that an EventSource would send as `Last-Event-ID`. */
  get lastId(): string | null {
    return this.events.findLast(({ id }) => id !== null)?.id ?? null;
  }

  async end(): Promise<'whole' | 'broken'> {
    await until(() => this.ended !== null);
    return this.ended as 'whole' | 'broken';
  }

  close(): void {
    this.#controller.abort();
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder();
    let rest = '';
    try {
      for await (const chunk of this.response.body ?? []) {
        const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
        rest = blocks.pop() as string;
        for (const block of blocks) this.#take(block);
      }
      this.ended = 'whole';
    } catch {
      this.ended = 'broken';
    }
  }

  #take(block: string): void {
    const fields = block.split('\n').map((line) => /^(\w*): ?(.*)$/.exec(line) ?? [line, line, '']);
    const textOf = (name: string) => fields.find(([, field]) => field === name)?.[2];
    if (block.startsWith(':')) this.comments++;
    const data = textOf('data');
    if (data === undefined) return;
    this.events.push({ id: textOf('id') ?? null, name: textOf('event') ?? 'message', data: JSON.parse(data) });
  }
}
