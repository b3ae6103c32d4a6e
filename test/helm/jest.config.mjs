// npm run test:helm: the chart, with helm and kubeconform, which are made from Go modules first, and with promtool. Other
// machines may have neither, so the tests are called *.helm.ts and npm test does not see them.
import base from '../../jest.config.mjs';

/** @type {import('jest').Config} */
export default { ...base, rootDir: '../..', testMatch: ['<rootDir>/test/helm/*.helm.ts'] };
