import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { goCommand } from '../../scripts/go-command.mjs';

interface Job {
  needs?: string | string[];
  if?: string;
  environment?: string;
  permissions?: Record<string, string>;
  'timeout-minutes'?: number;
  uses?: string;
  steps?: { uses?: string; run?: string; if?: string; with?: Record<string, unknown> }[];
}

const root = fileURLToPath(new URL('../../', import.meta.url));
const texts = readdirSync(`${root}.github/workflows`).map((file) =>
  readFileSync(`${root}.github/workflows/${file}`, 'utf8'),
);
const workflows: { name: string; permissions: object; jobs: Record<string, Job> }[] = texts.map((text) => parse(text));

it('actionlint accepts the workflows', () => {
  // Not with shellcheck and pyflakes, which a machine may have or not.
  execFileSync(goCommand('actionlint'), ['-shellcheck=', '-pyflakes='], { cwd: root });
});

it('pins each action to a commit with its version in a comment, and uses only one version of each', () => {
  const lines = texts.flatMap((text) => text.match(/(?<=\buses: )[^.\s].*$/gm) ?? []);
  expect(lines.filter((line) => !/^[\w-]+(\/[\w-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([]);
  expect(new Set(lines).size).toBe(new Set(lines.map((line) => line.split('@')[0])).size);
});

it.each(workflows)('limits the permissions and the duration of the jobs in workflow $name', ({ permissions, jobs }) => {
  expect(permissions).toEqual({});
  for (const [name, job] of Object.entries(jobs)) {
    const checkouts = job.steps?.filter(({ uses }) => uses?.startsWith('actions/checkout@')) ?? [];
    expect({
      name,
      hasPermissions: job.permissions !== undefined,
      isLimited: job.uses !== undefined || job['timeout-minutes'] !== undefined,
      keepsToken: checkouts.some((step) => step.with?.['persist-credentials'] !== false),
      hasExpressionInCommand: job.steps?.some(({ run }) => run?.includes('${{')) ?? false,
    }).toEqual({ name, hasPermissions: true, isLimited: true, keepsToken: false, hasExpressionInCommand: false });
  }
});

describe('release workflow', () => {
  const jobs = Object.entries(workflows.find(({ name }) => name === 'Release')?.jobs ?? {});
  const needsOf = (name: string): string[] =>
    [Object.fromEntries(jobs)[name]?.needs ?? []].flat().flatMap((each) => [each, ...needsOf(each)]);

  it('the release workflow lets each job write only what it publishes', () => {
    const writes = jobs.map(([name, { permissions = {} }]) => [
      name,
      Object.keys(permissions).filter((each) => permissions[each] === 'write'),
    ]);
    expect(Object.fromEntries(writes)).toEqual({
      test: [],
      packages: [],
      image: ['packages', 'id-token'],
      chart: ['packages', 'id-token'],
      npm: ['id-token'],
      python: ['id-token'],
      github: ['contents', 'id-token'],
    });
  });

  it('the release workflow publishes only for a tag, with approval, and after all tests and packages', () => {
    for (const [name, job] of jobs.filter(([, { permissions }]) => permissions?.['id-token'] === 'write')) {
      expect(needsOf(name)).toEqual(expect.arrayContaining(['test', 'packages']));
      if (name === 'image') continue; // It also builds the image of a rehearsal.
      expect(job).toMatchObject({ if: "github.ref_type == 'tag'", environment: 'release' });
    }
  });

  it('the release workflow pushes and signs no image in a rehearsal', () => {
    const { environment, steps = [] } = Object.fromEntries(jobs).image as Job;
    expect(environment).toContain("github.ref_type == 'tag' && 'release'");
    const publishing = steps.filter(({ uses, run }) => /build-push|login|cosign/.test(`${uses} ${run}`));
    expect(publishing).toHaveLength(4);
    for (const step of publishing) expect(step.with?.push ?? step.if).toContain("github.ref_type == 'tag'");
  });
});
