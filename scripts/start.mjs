// npm start: install and build, then run the standalone in this process, so that it receives signals. The CLI and the SDK of the
// examples are also compiled, for use in another terminal.
import { setUp } from './set-up.mjs';

setUp('apps/standalone', 'apps/cli', 'sdk/typescript');
await import('../apps/standalone/dist/main.js');
