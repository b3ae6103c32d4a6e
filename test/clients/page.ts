import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

/** The page of docs/progress-page.md, as a reader pastes it. */
const documented = /^```html\n([\s\S]+?)^```$/m.exec(
  readFileSync(fileURLToPath(new URL('../../docs/progress-page.md', import.meta.url)), 'utf8'),
)?.[1] as string;

const EXAMPLE = 'ws://127.0.0.1:8080/api/v1/realtime/JOB_ID';

export interface PageServer {
  /** Address of the page that watches a stream, e.g. `ws://127.0.0.1:1234/api/v1/realtime/…`. */
  pageOf(stream: string): string;
  stop(): Promise<void>;
}

/** Serve the page from a different origin than the streams. */
export async function servePage(): Promise<PageServer> {
  if (documented.split(EXAMPLE).length !== 2)
    throw new Error(`the page in docs/progress-page.md must contain exactly once: ${EXAMPLE}`);
  const server = createServer((req, res) => {
    const stream = new URL(req.url as string, 'http://page').searchParams.get('stream');
    res.setHeader('content-type', 'text/html; charset=utf-8');
    res.end(stream === null ? '' : documented.replace(EXAMPLE, stream));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    pageOf: (stream) =>
      `http://127.0.0.1:${(server.address() as AddressInfo).port}/?stream=${encodeURIComponent(stream)}`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
