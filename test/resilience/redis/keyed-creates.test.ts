import { describe } from '@jest/globals';
import { testBatches } from '../../support/batch-rules.js';
import { during } from '../../support/during.js';
import { testIdempotencyKeys } from '../../support/idempotency-rules.js';
import { startCluster } from '../../support/redis/cluster.js';
import { withService } from '../../support/service.js';
import { testUniqueKeys } from '../../support/unique-rules.js';

const redis = during(startCluster, ({ stop }) => stop());
const service = withService({}, { redis });

describe('an idempotency key on a cluster', () => testIdempotencyKeys(service));
describe('a unique key on a cluster', () => testUniqueKeys(service));
describe('a list of jobs on a cluster', () => testBatches(service));
