import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { goCommand } from '../../scripts/go-command.mjs';
import { ROOT, run } from './commands.js';

interface Step {
  uses?: string;
  run?: string;
  with?: Record<string, unknown>;
}
interface Job {
  needs?: string | string[];
  if?: string;
  environment?: string;
  permissions?: Record<string, string>;
  'timeout-minutes'?: number;
  uses?: string;
  steps?: Step[];
}
interface Workflow {
  permissions: object;
  concurrency: { group: string; 'cancel-in-progress': boolean | string };
  jobs: Record<string, Job>;
}

const FOLDER = join(ROOT, '.github/workflows');
const files = readdirSync(FOLDER);
const textOf = (file: string) => readFileSync(join(FOLDER, file), 'utf8');
const workflowOf = (file: string): Workflow => parse(textOf(file));
const release = workflowOf('release.yml').jobs;
const stepsOf = (job: Job | undefined) => job?.steps ?? [];

it('has workflows that actionlint accepts', () => {
  // Not with shellcheck and pyflakes, which a machine may have or not.
  expect(run(goCommand('actionlint'), ['-shellcheck=', '-pyflakes='])).toEqual({ status: 0, output: '' });
});

describe.each(files)('workflow %s', (file) => {
  const { permissions, concurrency, jobs } = workflowOf(file);

  it('gives no permission to all of its jobs, and to each job those that it names', () => {
    expect(permissions).toEqual({});
    const open = Object.entries(jobs).filter(([, job]) => job.permissions === undefined);
    expect(open.map(([name]) => name)).toEqual([]);
  });

  it('limits the time of each job, and runs once for each ref', () => {
    const unlimited = Object.entries(jobs).filter(([, job]) => !job.uses && job['timeout-minutes'] === undefined);
    expect(unlimited.map(([name]) => name)).toEqual([]);
    expect(concurrency.group).toContain('github.ref');
  });

  it('keeps no token in its checkouts', () => {
    const checkouts = Object.values(jobs)
      .flatMap(stepsOf)
      .filter(({ uses }) => uses?.startsWith('actions/checkout@'));
    for (const { with: inputs } of checkouts) expect(inputs).toMatchObject({ 'persist-credentials': false });
  });

  it('runs only scripts that exist, and no expression in a command line', () => {
    const commands = Object.values(jobs)
      .flatMap(stepsOf)
      .flatMap((step) => step.run ?? []);
    const scripts = commands.flatMap((command) => command.match(/\bscripts\/[\w/-]+\.mjs|\.ci\/\w+/g) ?? []);
    expect(scripts.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    expect(commands.filter((command) => command.includes('${{'))).toEqual([]);
  });
});

it('pins each action to a commit, with its version beside it, and one version of each', () => {
  const texts = [...files.map(textOf), readFileSync(join(ROOT, '.github/actions/set-up/action.yml'), 'utf8')];
  const lines = texts.flatMap((text) => text.match(/(?<=\buses: )[^.\s].*$/gm) ?? []);
  expect(lines.filter((line) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([]);
  const names = new Set(lines.map((line) => line.split('@')[0]));
  expect(new Set(lines).size).toBe(names.size);
});

describe('release workflow', () => {
  const publishing = Object.entries(release).filter(([name]) => name.startsWith('publish-'));
  const needsOf = (name: string): string[] => [release[name]?.needs ?? []].flat();
  const allBefore = (name: string): string[] => needsOf(name).flatMap((each) => [each, ...allBefore(each)]);

  it('publishes only for a tag, in an environment that can ask for approval', () => {
    for (const [, job] of publishing) {
      expect(job).toMatchObject({ if: "github.event_name == 'push'", environment: 'release' });
    }
  });

  it('publishes nothing before everything is built, tested and rehearsed', () => {
    for (const [name] of publishing) {
      expect(allBefore(name)).toEqual(expect.arrayContaining(['version', 'test', 'packages', 'image', 'rehearse']));
    }
    expect(allBefore('publish-github')).toEqual(
      expect.arrayContaining(publishing.map(([name]) => name).filter((name) => name !== 'publish-github')),
    );
  });

  it('lets no job write, except those that publish, and those only what they must', () => {
    const writes = Object.entries(release).map(([name, { permissions = {} }]) => [
      name,
      Object.keys(permissions).filter((each) => permissions[each] === 'write'),
    ]);
    expect(Object.fromEntries(writes.filter(([, all]) => (all as string[]).length > 0))).toEqual({
      'publish-oci': ['packages', 'id-token'],
      'publish-npm': ['id-token'],
      'publish-python': ['id-token'],
      'publish-github': ['contents', 'id-token'],
    });
  });

  it('publishes every part of publish.mjs, and the Python SDK', () => {
    const commands = publishing.flatMap(([, job]) => stepsOf(job).flatMap((step) => step.run ?? step.uses ?? []));
    const parts = commands.flatMap((command) => /publish\.mjs (\w+) out/.exec(command)?.[1] ?? []);
    const code = readFileSync(join(ROOT, 'scripts/release/publish.mjs'), 'utf8');
    const known = [...(/PARTS = \{([^}]+)\}/.exec(code)?.[1] ?? '').matchAll(/(\w+):/g)].map(([, part]) => part);
    expect(parts).toEqual(known);
    // One for PyPI, and one for another registry.
    expect(commands.filter((command) => command.startsWith('pypa/'))).toHaveLength(2);
  });
});
