import http from 'node:http';

export interface HttpResponse {
  status: number;
  headers: http.IncomingHttpHeaders;
  /** Parsed JSON, or null when there was no body. */
  // biome-ignore lint/suspicious/noExplicitAny: tests compare whole values; a schema here would hide differences
  body: any;
  text: string;
}

export interface CallOptions {
  key?: string | undefined;
  /** Body to send as JSON. */
  body?: unknown;
  /** Body to send unchanged, instead of `body`. */
  raw?: string | Buffer | undefined;
  headers?: http.OutgoingHttpHeaders;
}

/** An HTTP client that can be closed, so that no test leaves a socket behind. */
export class HttpClient {
  readonly #agent: http.Agent;

  constructor(
    readonly url: string,
    sockets = 64,
  ) {
    this.#agent = new http.Agent({ keepAlive: true, maxSockets: sockets });
  }

  call(method: string, path: string, { key, body, raw, headers = {} }: CallOptions = {}): Promise<HttpResponse> {
    const bytes = raw ?? JSON.stringify(body);
    const all: http.OutgoingHttpHeaders = {
      ...(key === undefined ? {} : { 'x-api-key': key }),
      ...(bytes === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(bytes) }),
      ...headers,
    };
    for (const name of Object.keys(all)) if (all[name] === undefined) delete all[name];
    return new Promise((resolve, reject) => {
      const request = http.request(this.url + path, { method, headers: all, agent: this.#agent }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const isJson = response.headers['content-type']?.startsWith('application/json') && text !== '';
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            body: isJson ? JSON.parse(text) : null,
          });
        });
      });
      request.on('error', reject);
      request.end(bytes);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
