import { expect, it } from '@jest/globals';
import { createJobRequest, operationRequest } from '@yardmaster/protocol';
import {
  createJob,
  getOperation,
  nextPartition,
  PARTITION_TAGS,
  partitionOf,
  startOperation,
  stepOperation,
} from '@yardmaster/store';
import { fsckUnprepared, storeUnderTest, withConnection } from './store-under-test.js';

// No scheduler runs: each step is made here.

const redis = withConnection();

/** Find another space, in the same partition or in another one. */
function otherSpace(spaceId: string, isSame: boolean): string {
  const found = Array.from({ length: 1_000 }, (_, n) => `space-${n}`).find(
    (other) => other !== spaceId && (partitionOf(other) === partitionOf(spaceId)) === isSame,
  );
  return found as string;
}

it('operations advance one step at a time in turn, by space and within a space', async () => {
  const { store } = storeUnderTest(redis);
  const busy = 'busy';
  const neighbor = otherSpace(busy, true);
  const distant = otherSpace(busy, false);
  const operations = new Map<string, string>();
  for (const [spaceId, count] of [
    [busy, 3],
    [neighbor, 1],
    [distant, 1],
  ] as const) {
    for (let n = 0; n < 200; n++) await createJob(store, spaceId, createJobRequest.parse({ name: 'work' }), null);
    for (let n = 1; n <= count; n++) {
      const request = operationRequest.parse({
        action: 'kill',
        filter: { status: 'pending', q: `none ${n}` },
        dryRun: true,
      });
      const { operation } = await startOperation(store, spaceId, request, null);
      operations.set(operation.id, `${spaceId} ${n}`);
    }
  }

  const steps: string[] = [];
  for (let partition = await nextPartition(store, PARTITION_TAGS); partition !== null; ) {
    steps.push(operations.get((await stepOperation(store, partition))?.operationId ?? '') ?? 'none');
    partition = await nextPartition(store, PARTITION_TAGS);
  }
  const spaces = steps.slice(0, 9).map((step) => step.split(' ')[0]);
  for (const at of [0, 3, 6]) expect(spaces.slice(at, at + 3).sort()).toEqual([busy, neighbor, distant].sort());
  const ofBusy = steps.filter((step) => step.startsWith(busy));
  expect(ofBusy.slice(0, 6)).toEqual([1, 2, 3, 1, 2, 3].map((n) => `${busy} ${n}`));
  for (const id of operations.keys()) {
    const ended = await getOperation(store, { spaceId: null }, id);
    expect(ended).toMatchObject({ status: 'done', looked: 200 });
  }
  expect(await fsckUnprepared(store)).toEqual([]);
});
