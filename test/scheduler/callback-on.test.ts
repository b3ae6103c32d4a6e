import { expect, it } from '@jest/globals';
import { attemptsOf, readJob } from '../support/callbacks.js';
import { jobIn } from '../support/jobs.js';
import { withReceiver } from '../support/receiver.js';
import { withService } from '../support/service.js';
import { until } from '../support/until.js';

const receiver = withReceiver();
const service = withService();

const ENDS = ['completed', 'dead', 'killed'] as const;
const CHOICES: (readonly (typeof ENDS)[number][] | undefined)[] = [undefined, ['killed'], ['dead', 'killed'], ENDS];
const ROWS = CHOICES.flatMap((callbackOn) =>
  ENDS.map((end) => ({ callbackOn, end, isSent: (callbackOn ?? ['completed', 'dead']).includes(end) })),
);
const RESULTS = { completed: { answer: 42 }, dead: { error: 'broken' }, killed: { reason: 'stop' } };

it.each(ROWS)(
  'callbackOn $callbackOn, $end: sent is $isSent, and so is redelivery',
  async ({ callbackOn, end, isSent }) => {
    const path = `/${callbackOn}/${end}`;
    const fields = { callbackUrl: receiver.script(path), ...(callbackOn && { callbackOn }) };
    const id = await jobIn(service, end, 'cbon-ends', fields);
    if (isSent) {
      await until(async () => attemptsOf(await readJob(service, id)).length === 1);
      const body = JSON.parse(String(receiver.requestsTo(path)[0]?.body));
      expect(body).toMatchObject({ jobId: id, status: end, result: RESULTS[end] });
    }
    const { status, body } = await service.call('POST', `/jobs/${id}/callback/redeliver`);
    expect({ status, code: body.code }).toEqual(isSent ? { status: 200 } : { status: 409, code: 'NO_CALLBACK' });
    if (isSent) await until(() => receiver.requestsTo(path).length === 2);
    else expect(receiver.requestsTo(path)).toEqual([]);
  },
);

it('shows callbackOn only when it is not the default, in one order', async () => {
  const shown = async (callbackOn: string[]) =>
    readJob(service, await jobIn(service, 'scheduled', 'cbon-shown', { callbackOn })) as Promise<{
      callbackOn?: string[];
    }>;
  expect((await shown(['dead', 'completed', 'dead'])).callbackOn).toBeUndefined();
  expect((await shown(['killed', 'completed'])).callbackOn).toEqual(['completed', 'killed']);
});
