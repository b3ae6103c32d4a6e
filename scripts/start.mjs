// npm start: set up what is missing, then run the standalone in this very process, so that signals reach it.
import { setUp } from './set-up.mjs';

setUp('apps/standalone');
await import('../apps/standalone/dist/main.js');
