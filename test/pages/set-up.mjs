// Build what `npm start` builds and what programs import, so that pages do not build side by side.

import { pythonCommands } from '../../scripts/python.mjs';
import { setUp as build, root } from '../../scripts/set-up.mjs';
import '../../scripts/typescript.mjs';

export default async function setUp() {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
  const { killListedOnExit } = await import('../support/kill-on-exit.ts');
  process.env.TEST_PROCESSES ??= killListedOnExit();
  pythonCommands(`${root}.cache/sdk/python/`, `${root}scripts/sdk/requirements.txt`);
  build('apps/standalone', 'apps/cli', 'sdk/typescript', 'apps/api', 'apps/gateway', 'apps/scheduler');
}
