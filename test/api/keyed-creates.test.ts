import { describe } from '@jest/globals';
import { testIdempotencyKeys } from '../support/idempotency-rules.js';
import { withService } from '../support/service.js';
import { testUniqueKeys } from '../support/unique-rules.js';

// The resilience suite runs the same tests on a cluster.

const service = withService();

describe('an idempotency key', () => testIdempotencyKeys(service));
describe('a unique key', () => testUniqueKeys(service));
