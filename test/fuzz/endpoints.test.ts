import { expect, it } from '@jest/globals';
import { ROUTES } from '@yardmaster/api';
import fc from 'fast-check';
import { expectedOf } from './expected.js';
import { anyRequests, bytesOf, nameOf } from './request.js';

const drawn = (seed: number, numRuns: number) => fc.sample(anyRequests, { seed, numRuns }).flat();

it('draws requests for every endpoint, some of which are accepted unless what is stored forbids it', () => {
  const accepted = drawn(7, 2_000).filter((request) => (expectedOf(request).outcomes?.[0]?.status ?? 400) < 300);
  expect([...new Set(accepted.map(({ route }) => nameOf(route)))].sort()).toEqual(ROUTES.map(nameOf).sort());
});

it('draws the same fuzz requests for the same seed', () => {
  const bytes = (seed: number) => drawn(seed, 100).map((request) => bytesOf(request, {}).toString('latin1'));
  expect(bytes(7)).toEqual(bytes(7));
  expect(bytes(8)).not.toEqual(bytes(7));
});
