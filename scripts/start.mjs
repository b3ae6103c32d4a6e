// npm start: set up what is missing, then run the standalone in this very process, so that signals reach it. The command
// `yardmaster` is compiled along with it, to be at hand in the next terminal.
import { setUp } from './set-up.mjs';

setUp('apps/standalone', 'apps/cli');
await import('../apps/standalone/dist/main.js');
