/** After this time a connection counts as successful, and its next break starts the back-off again. */
const LASTED_MS = 10_000;

/** How a connection ended, or why there was none. */
export interface End {
  /** Close code; 0 when there was no connection. */
  code: number;
  /** Whether it brought a message, so that it was not refused. */
  hasMessages: boolean;
  /** What `url` threw. */
  error?: unknown;
}

export interface Connection<Message> {
  /** Returns the URL of the next connection. */
  url: () => Promise<URL>;
  onMessage: (message: Message) => void;
  /** Returns whether no other connection follows. */
  isOver: (end: End) => boolean | Promise<boolean>;
  /** Called before each wait for another connection. */
  onBreak: () => void;
}

/**
 * Keep a WebSocket open: connect again after every break, with another URL.
 *
 * WebSockets rather than server-sent events, because a browser opens only about six of the latter to a host.
 *
 * @returns a function that ends it
 */
export function keepConnected<Message>({ url, onMessage, isOver, onBreak }: Connection<Message>): () => void {
  let socket: WebSocket | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;
  let attempts = 0;

  const onEnd = async (end: End) => {
    if (isStopped || (await isOver(end)) || isStopped) return;
    onBreak();
    // A random time, so that pages that were disconnected together do not connect again together.
    timer = setTimeout(connect, Math.random() * Math.min(30_000, 500 * 2 ** attempts++));
  };

  async function connect(): Promise<void> {
    try {
      const target = await url();
      if (!isStopped) open(target);
    } catch (error) {
      onEnd({ code: 0, hasMessages: false, error });
    }
  }

  function open(target: URL): void {
    let openedAt = Number.POSITIVE_INFINITY;
    socket = new WebSocket(String(target).replace('http', 'ws'));
    socket.onmessage = ({ data }) => {
      openedAt = Math.min(openedAt, performance.now());
      onMessage(JSON.parse(data));
    };
    socket.onclose = ({ code }) => {
      if (performance.now() - openedAt > LASTED_MS) attempts = 0;
      onEnd({ code, hasMessages: Number.isFinite(openedAt) });
    };
  }

  connect();
  return () => {
    isStopped = true;
    clearTimeout(timer);
    socket?.close();
  };
}
