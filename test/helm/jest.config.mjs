// npm run test:long -- helm: test the chart with helm and kubeconform, which are built from Go modules first, and with promtool.
// A machine may have neither, so the tests have the names *.helm.ts, which npm test does not match.
import base from '../../jest.config.mjs';

/** @type {import('jest').Config} */
export default { ...base, rootDir: '../..', testMatch: ['<rootDir>/test/helm/*.helm.ts'] };
