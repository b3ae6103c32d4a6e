import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { VARIABLES } from '@yardmaster/runtime';
import { Webhook } from 'standardwebhooks';
import { freePort } from '../support/free-port.js';
import { jobIn } from '../support/jobs.js';
import { startService } from '../support/service.js';
import { until } from '../support/until.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const docs = readFileSync(`${root}docs/callbacks.md`, 'utf8');
const blockOf = (language: string) => new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(docs)?.[1] as string;
const SECRET = /`(whsec_\S+)`\)/.exec(docs)?.[1] as string;

describe('docs/callbacks.md', () => {
  it('shows a request that is signed as it says', () => {
    const [head, body = ''] = blockOf('http').trimEnd().split('\n\n');
    const header = (name: string) => new RegExp(`^${name}: (.+)$`, 'm').exec(head as string)?.[1] as string;
    const at = new Date(Number(header('webhook-timestamp')) * 1000);
    expect(header('webhook-signature')).toBe(new Webhook(SECRET).sign(header('webhook-id'), at, body));
    expect(header('content-length')).toBe(String(Buffer.byteLength(body)));
    expect(header('webhook-id')).toBe(`msg_${JSON.parse(body).jobId}`);
  });

  it('shows the delays of the retries as they are', () => {
    const units = { s: 1, min: 60, h: 3_600 };
    const cells = /^\| after \|(.+)\|$/m.exec(docs)?.[1]?.split('|') ?? [];
    const seconds = cells.map((cell) => {
      const [amount, unit] = cell.trim().split(' ');
      return Number(amount) * units[unit as keyof typeof units];
    });
    expect(seconds.join()).toBe(VARIABLES.CALLBACK_RETRY_DELAYS.default);
  });

  it('shows a receiver that verifies what we send', async () => {
    const service = await startService({ CALLBACK_SIGNING_SECRET: SECRET });
    const PORT = String(await freePort());
    const receiver = spawn(process.execPath, ['--input-type=module', '-e', blockOf('js')], {
      cwd: root,
      env: { PORT, CALLBACK_SIGNING_SECRET: SECRET },
    });
    let output = '';
    for (const stream of [receiver.stdout, receiver.stderr]) stream.on('data', (chunk) => (output += chunk));
    try {
      const callbackUrl = `http://127.0.0.1:${PORT}/`;
      await until(() =>
        fetch(callbackUrl, { method: 'POST', body: '{}' }).then(
          ({ status }) => status === 401,
          () => false,
        ),
      );
      const id = await jobIn(service, 'completed', 'docs', { callbackUrl });
      const lastEvent = async () => (await service.call('GET', `/jobs/${id}`)).body.events.at(-1);
      await until(async () => (await lastEvent()).type === 'callback_sent');
      expect((await lastEvent()).data).toEqual({ url: callbackUrl, statusCode: 204, attempt: 1, willRetry: false });
      expect(output).toBe(`${id} is completed: {"answer":42}\n`);
    } finally {
      receiver.kill();
      await service.stop();
    }
  });
});
