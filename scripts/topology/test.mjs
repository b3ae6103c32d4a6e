// npm run test:topology [-- --redis single|tls|sentinel|cluster] [arguments of jest]
import { run, setUp } from '../set-up.mjs';

const args = process.argv.slice(2);
const at = args.indexOf('--redis');
const [, redis = 'single'] = at < 0 ? [] : args.splice(at, 2);
setUp();
run(process.execPath, ['scripts/test.mjs', '--config', 'test/topology/jest.config.mjs', ...args], {
  env: { ...process.env, TEST_TOPOLOGY_REDIS: redis },
});
