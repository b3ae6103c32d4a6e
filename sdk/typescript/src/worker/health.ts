import { createServer, type Server } from 'node:http';

/** Polls may be without an answer for this long. */
const SILENT_MS = 60_000;

/** Serves `/healthz`: 200, or 503 when no poll was answered for 60 s. Without a free slot there is no poll to answer. */
export class Health {
  #askedAt: number | null = null;
  #server: Server | null = null;

  /** A poll has begun, or is repeated. */
  asked(): void {
    this.#askedAt ??= performance.now();
  }

  answered(): void {
    this.#askedAt = null;
  }

  get isGood(): boolean {
    return this.#askedAt === null || performance.now() - this.#askedAt < SILENT_MS;
  }

  /** @throws the error of the port */
  async serve(port: number): Promise<void> {
    const server = createServer((request, response) => {
      const status = request.url?.split('?')[0] !== '/healthz' ? 404 : this.isGood ? 200 : 503;
      const text = { 200: 'ok', 404: 'not found', 503: 'no poll was answered for 60 s' }[status];
      response.writeHead(status, { 'content-type': 'text/plain' }).end(`${text}\n`);
    });
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, resolve);
    });
  }

  close(): void {
    this.#server?.close();
    this.#server?.closeAllConnections();
  }
}
