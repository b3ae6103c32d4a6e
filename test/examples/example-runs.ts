import { mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { endAll, type ProcessRun, runCommand } from '../cli/yardmaster.js';
import { ADMIN_KEY, type TestService, withService } from '../support/service.js';
import { until } from '../support/until.js';

/** Return the path of a file of the examples. */
export const pathOf = (path: string) => fileURLToPath(new URL(`../../examples/${path}`, import.meta.url));

/** What a program has printed, and its exit code. */
export interface ProgramEnd {
  code: number | null;
  out: string;
  err: string;
}

/** A service for the programs of an example, and a folder for their files. */
export class ExampleRuns {
  readonly service: TestService = withService();
  dir = '';

  constructor() {
    beforeAll(async () => {
      this.dir = await mkdtemp(join(tmpdir(), 'yardmaster-examples-'));
    });
    afterEach(endAll);
    afterAll(() => rm(this.dir, { recursive: true, force: true }));
  }

  /** Start a program in a space of its own. */
  start(command: string, args: string[], space: string, more: Record<string, string> = {}): ProcessRun {
    const env = { YARDMASTER_URL: this.service.url, YARDMASTER_API_KEY: ADMIN_KEY, YARDMASTER_SPACE: space };
    return runCommand(command, args, { HOME: homedir(), ...env, ...more });
  }

  /** Return the jobs of a space with their histories, the newest first. */
  async jobsOf(space: string) {
    const { body } = await this.service.call('GET', `/spaces/${space}/jobs`);
    const jobs = body.map(async ({ id }: { id: string }) => (await this.service.call('GET', `/jobs/${id}`)).body);
    return Promise.all(jobs);
  }

  /** Wait until a job of the space is running and has progress. */
  async untilRunning(space: string): Promise<void> {
    await until(async () =>
      (await this.jobsOf(space)).some(({ status, progress }) => status === 'running' && progress),
    );
  }

  /** Wait for the first progress report of the only job of a space, and kill the job. */
  async killRunning(space: string): Promise<void> {
    await this.untilRunning(space);
    const [{ id }] = await this.jobsOf(space);
    await this.service.call('POST', `/jobs/${id}/kill`, { body: { reason: 'enough' } });
  }
}

/** Press Ctrl-C: the signal goes to all processes of the program. */
export const interrupt = (run: ProcessRun) => process.kill(-(run.child.pid as number), 'SIGINT');

export async function endOf(run: ProcessRun): Promise<ProgramEnd> {
  const code = await run.exit();
  return { code, out: run.out(), err: run.err() };
}
