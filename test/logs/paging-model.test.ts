import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createApi } from '@yardmaster/api';
import { startService, type TestService } from '../support/service.js';
import { answerOf, type Kept, queryOf, randomBatch, randomQuestion } from './model.js';
import { randomOf } from './random.js';
import { append, jobWithLogs } from './reading.js';

// More than one page of the largest limit, and few enough that many are dropped on the way.
const KEPT = 700;

let service: TestService;
beforeAll(async () => {
  service = await startService({ LOGS_PER_JOB: `${KEPT}` }, { app: createApi });
});
afterAll(() => service.stop());

// A seed that is new each time finds what nobody thought of; the title tells it, to see a failure again.
it.each([1, 2, 3, Date.now()])('answers as an array would, whatever is appended and asked: seed %i', async (seed) => {
  const random = randomOf(seed);
  const jobId = await jobWithLogs(service, []);
  let kept: Kept[] = [];
  for (let round = 0; round < 40; round++) {
    const batch = randomBatch(random);
    const { fromSeq } = await append(service, jobId, batch);
    kept = [...kept, ...batch.map((entry, i) => ({ ...entry, seq: fromSeq + i }))].slice(-KEPT);

    for (let question = 0; question < 12; question++) {
      const asked = randomQuestion(random, kept.at(-1)?.seq as number);
      const query = queryOf(asked, random);
      const { body } = await service.call('GET', `/jobs/${jobId}/logs?${query}`);
      const page = body.logs?.map(({ seq, level, message }: Kept) => ({ seq, level, message }));
      expect({ query, page, cursor: body.cursor }).toEqual({ query, ...answerOf(kept, asked) });
    }
  }
});
