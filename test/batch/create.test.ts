import { describe } from '@jest/globals';
import { testBatches } from '../support/batch-rules.js';
import { withService } from '../support/service.js';

// The resilience suite runs the same tests on a cluster.

const service = withService();

describe('a list of jobs', () => testBatches(service));
