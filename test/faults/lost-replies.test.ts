import { expect, it } from '@jest/globals';
import { ROUTES } from '@yardmaster/api';
import { LOST_CHANGES } from './lost-replies/changes.js';
import { LOST_DUTIES, LOST_SCRAPES } from './lost-replies/duties.js';
import { LOST_KEY_READS } from './lost-replies/key-reads.js';
import { LOST_KEY_CALLS } from './lost-replies/keys.js';
import type { LostReply } from './lost-replies/lost-reply.js';
import { LOST_READS } from './lost-replies/reads.js';
import { runsOfFolder, runsOfRoutes, runsOfVerb, scriptFiles, scriptsIn } from './lost-replies/sources.js';
import { LOST_STREAMS } from './lost-replies/streams.js';

// Every reply that anybody waits for has a row in the tables of fault F12. What there is to wait for is not written here a
// second time but read from the sources: the routes, the verbs that they and the processes call, the .lua files.

/** `ack of ackJob`. */
type Pair = string;

const pairsOf = (endpoint: string, runs: Iterable<string>): Pair[] => [...runs].map((run) => `${run} of ${endpoint}`);
const sorted = (pairs: Iterable<Pair>) => [...new Set(pairs)].sort();

/** Whoever shows a key that a process does not know waits for these first. */
const KEY_READ = runsOfVerb('keyRing.find');

const rowsOf = (rows: readonly LostReply[]): Pair[] =>
  rows.flatMap(({ endpoint, runs, beside = runs }) => pairsOf(endpoint, [runs, beside]));

const CALL_ROWS = [...LOST_CHANGES, ...LOST_READS, ...LOST_KEY_CALLS];

/**
 * Only `yardmaster fsck` runs these: an operator's command, in whose midst nobody but the operator waits, and which may be
 * broken off and begun anew at any reply. F12 starts none.
 */
const OF_FSCK = ['check_entries', 'check_jobs', 'check_names', 'check_orphan', 'check_spaces', 'count_names'];

it('loses each reply that an endpoint of the API waits for, and knows of no other', () => {
  const runs = runsOfRoutes();
  expect([...runs.keys()]).toEqual(ROUTES.map(({ operation }) => operation));
  expect(sorted(rowsOf(CALL_ROWS))).toEqual(sorted([...runs].flatMap((route) => pairsOf(...route))));
});

it('loses each reply by which an endpoint of the API is told of a key', () => {
  const waited = ROUTES.flatMap(({ operation }) => pairsOf(operation, KEY_READ));
  expect(sorted(rowsOf(LOST_KEY_READS))).toEqual(sorted(waited));
});

it('loses each reply that a gateway waits for', () => {
  // How channels are subscribed is no verb of the store.
  const waited = [...runsOfFolder('apps/gateway/src'), ...KEY_READ, 'subscribe'];
  const lost = LOST_STREAMS.flatMap(({ runs, beside = runs }) => [runs, beside]);
  expect(sorted(lost)).toEqual(sorted(waited));
});

it('loses each reply that a scheduler waits for', () => {
  const lost = [...LOST_DUTIES.map(({ runs }) => runs), ...LOST_SCRAPES];
  expect(sorted(lost)).toEqual(sorted([...runsOfFolder('apps/scheduler/src'), 'bullmq']));
});

it('leaves out no script but those of fsck', () => {
  const lost = [...CALL_ROWS, ...LOST_STREAMS, ...LOST_DUTIES].map(({ runs }) => runs);
  const scripts = scriptFiles();
  expect(scripts.filter((script) => !lost.includes(script)).sort()).toEqual(OF_FSCK);
  const ofFsck = scriptsIn('packages/store/src/fsck');
  expect(OF_FSCK.filter((script) => !ofFsck.has(script))).toEqual([]);
});
