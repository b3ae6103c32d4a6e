import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Route } from '@yardmaster/api';
import { ERRORS } from '@yardmaster/protocol';
import { startService, type TestService } from '../support/service.js';
import { Caller, titled } from './openapi-calls.js';

let service: TestService;
let caller: Caller;
beforeAll(async () => {
  service = await startService();
  caller = await Caller.of(service);
});
afterAll(() => service.stop());

const folder = fileURLToPath(new URL('../../packages/store/src/', import.meta.url));
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.generated.ts'))
  .map((file) => readFileSync(folder + file, 'utf8'));

/** What each verb of the store says that it throws, by its name. */
const thrownBy = new Map(
  sources.flatMap((text) =>
    [...text.matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s+(?:export )?(?:async )?(?:function )?(\w+)\(/g)].map(
      ([, comment = '', verb = '']) => [verb, codesIn(comment)] as const,
    ),
  ),
);

function codesIn(comment: string): string[] {
  const [, thrown = ''] = /@throws([\s\S]*?)(?=\* @|$)/.exec(comment) ?? [];
  return [...thrown.matchAll(/\b[A-Z]+(?:_[A-Z]+)*\b/g)].map(([word]) => word).filter((word) => word in ERRORS);
}

/** The verb that a row calls. */
const verbOf = (route: Route) =>
  [...thrownBy.keys()].find((verb) => new RegExp(`\\b${verb}\\)?\\(`).test(String(route.run)));

it.each(titled)('$title documents what its verb says that it throws', ({ route }) => {
  const thrown = thrownBy.get(verbOf(route) as string) as string[];
  expect(thrown).toContain('UNAVAILABLE');
  // The one verb that says of a code when it is not thrown.
  const expected = thrown.filter((code) => !(route.operation === 'keepJobAlive' && code === 'STORAGE_FULL'));
  const documented = caller.kindsOf(route).map((kind) => kind.split(' ')[2]);
  expect(documented).toEqual(expect.arrayContaining(expected));
});
