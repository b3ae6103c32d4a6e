import { createServer, type Server } from 'node:http';

/** How long a poll may go unanswered. */
const SILENT_MS = 60_000;

/** Serves `/healthz`: 200, or 503 if no poll was answered for 60 s. A worker without a free slot doesn't poll. */
export class Health {
  #askedAt: number | null = null;
  #server: Server | null = null;

  /** Note the start or the retry of a poll. */
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
