// Test the examples of the SDKs for Python and Go, which need these languages. Their names are *.sdk.ts, which npm test
// does not match; npm run test:long -- sdk runs each beside the tests of its SDK.
import base from '../../jest.config.mjs';

/** @type {import('jest').Config} */
export default { ...base, rootDir: '../..', testMatch: ['<rootDir>/test/examples/*.sdk.ts'] };
