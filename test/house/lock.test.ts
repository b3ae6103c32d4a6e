import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';

const read = (path: string) => JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'));

it('package-lock.json locks a single version of ipaddr.js, at the top level of node_modules', () => {
  const pinned: string = read('apps/scheduler/package.json').dependencies['ipaddr.js'];
  expect(pinned).toMatch(/^\d+\.\d+\.\d+$/);
  const { packages } = read('package-lock.json');
  expect(packages['node_modules/ipaddr.js'].version).toBe(pinned);
  const nested = Object.keys(packages).filter((path) => /^(apps|packages)\/.+\/ipaddr\.js$/.test(path));
  expect(nested).toEqual([]);
});
