import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { installed } from '../support/installed.js';

// biome-ignore lint/suspicious/noExplicitAny: the tests know the responses of the DevTools protocol
type Json = any;

interface Waiting {
  resolve: (result: Json) => void;
  reject: (error: Error) => void;
}

export interface Page {
  /** Evaluate an expression in the page; its value, or that of its promise, must be JSON. */
  evaluate(expression: string): Promise<Json>;
  /** Call any method of the DevTools protocol. */
  send(method: string, params?: object): Promise<Json>;
  /** Uncaught exceptions of the page. */
  exceptions: string[];
  /** Set the listener of an event of the DevTools protocol, whose domain must be enabled. */
  on(event: string, listener: (params: Json) => void): void;
  close(): Promise<void>;
}

/**
 * Headless Chromium, driven over a pipe by the DevTools protocol: JSON with a zero byte after each message. When the test
 * process ends, the pipe closes and Chromium exits.
 */
export class Chromium {
  readonly #child;
  readonly #profile: string;
  readonly #to: Writable;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners = new Map<string, (params: Json) => void>();
  #lastId = 0;

  private constructor(binary: string, profile: string) {
    this.#profile = profile;
    const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', '--remote-debugging-pipe'];
    this.#child = spawn(binary, [...flags, `--user-data-dir=${profile}`, 'about:blank'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
      env: { ...process.env, HOME: profile },
    });
    const [, , , to, from] = this.#child.stdio;
    this.#to = to as Writable;
    this.#to.on('error', () => undefined); // It has ended, which `exit` reports.
    this.#read(from as Readable);
    this.#child.on('exit', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('Chromium has ended'));
      this.#waiting.clear();
    });
  }

  static async start(): Promise<Chromium> {
    const binary = installed('chromium', 'chromium');
    const chromium = new Chromium(binary, await mkdtemp(join(tmpdir(), 'yardmaster-chromium-')));
    await chromium.#send('Browser.getVersion').catch(async (error) => {
      await chromium.stop();
      throw error;
    });
    return chromium;
  }

  /**
   * Open a page in its own tab.
   *
   * @param before a script that runs before any of the page's
   */
  async open(url: string, before = ''): Promise<Page> {
    const { targetId } = await this.#send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await this.#send('Target.attachToTarget', { targetId, flatten: true });
    const send = (method: string, params = {}) => this.#send(method, params, sessionId);
    const on = (event: string, listener: (params: Json) => void) => {
      this.#listeners.set(`${sessionId} ${event}`, listener);
    };
    const page: Page = {
      exceptions: [],
      send,
      async evaluate(expression) {
        const options = { returnByValue: true, awaitPromise: true };
        const { result, exceptionDetails } = await send('Runtime.evaluate', { expression, ...options });
        if (exceptionDetails) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`);
        return result.value;
      },
      on,
      close: () => this.#send('Target.closeTarget', { targetId }),
    };
    on('Runtime.exceptionThrown', ({ exceptionDetails }) =>
      page.exceptions.push(exceptionDetails.exception?.description ?? ''),
    );
    await send('Runtime.enable');
    await send('Page.enable');
    await send('Page.addScriptToEvaluateOnNewDocument', { source: before });
    await send('Page.navigate', { url });
    return page;
  }

  async stop(): Promise<void> {
    const { exitCode, signalCode } = this.#child;
    if (exitCode === null && signalCode === null) {
      const exited = once(this.#child, 'exit');
      this.#send('Browser.close').catch(() => undefined); // It may end before it responds.
      await exited;
    }
    await rm(this.#profile, { recursive: true, force: true, maxRetries: 10 });
  }

  #send(method: string, params: object = {}, sessionId?: string): Promise<Json> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#to.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  }

  #read(from: Readable): void {
    let text = '';
    from.setEncoding('utf8').on('data', (chunk: string) => {
      const parts = (text + chunk).split('\0');
      text = parts.pop() as string;
      for (const part of parts) this.#receive(JSON.parse(part));
    });
  }

  #receive({ id, result, error, method, params, sessionId }: Json): void {
    if (method !== undefined) this.#listeners.get(`${sessionId} ${method}`)?.(params);
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error) waiting?.reject(new Error(error.message));
    else waiting?.resolve(result);
  }
}
